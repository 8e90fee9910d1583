// The smallest violations, applied to a right result: one bit, one element, one exchange. For control gates, which
// choose where. Each launch needs one thread only; further ones do nothing.

using u32 = unsigned int;
using u64 = unsigned long long;

__device__ __forceinline__ bool is_first_thread() {
    return blockIdx.x == 0 && threadIdx.x == 0;
}

extern "C" __global__ void flip_bit(u32* data, u64 at, u32 bit) {
    if (is_first_thread()) {
        data[at] ^= 1u << bit;
    }
}

extern "C" __global__ void set_element(int* data, u64 at, int value) {
    if (is_first_thread()) {
        data[at] = value;
    }
}

extern "C" __global__ void swap_elements(int* data, u64 a, u64 b) {
    if (is_first_thread()) {
        const int kept = data[a];
        data[a] = data[b];
        data[b] = kept;
    }
}
