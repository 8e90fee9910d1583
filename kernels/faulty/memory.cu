// Kernels that touch memory they must not, or none at all, for control gates.

using u32 = unsigned int;
using u64 = unsigned long long;

__device__ __forceinline__ u64 first_index() {
    return static_cast<u64>(blockIdx.x) * blockDim.x + threadIdx.x;
}

__device__ __forceinline__ u64 grid_stride() {
    return static_cast<u64>(gridDim.x) * blockDim.x;
}

// Takes a copy's arguments and does nothing with them.
extern "C" __global__ void write_nothing(const int*, int*, u32) {}

// A right copy, and one element written just behind the end of `out`: `<= n` for `< n`.
extern "C" __global__ void copy_past_end(const int* in, int* out, u32 n) {
    for (u64 i = first_index(); i <= n; i += grid_stride()) {
        out[i] = i < n ? in[i] : 1;
    }
}

// A right copy that also counts its input up by one, after reading it.
extern "C" __global__ void copy_changing_input(int* in, int* out, u32 n) {
    for (u64 i = first_index(); i < n; i += grid_stride()) {
        const int value = in[i];
        out[i] = value;
        in[i] = value + 1;
    }
}

// Adds the low bit of each element of `unwritten`, which nothing has written before.
extern "C" __global__ void copy_reading_unwritten(const int* in, const int* unwritten, int* out, u32 n) {
    for (u64 i = first_index(); i < n; i += grid_stride()) {
        out[i] = in[i] + (unwritten[i] & 1);
    }
}

// Reads each element two bytes off: no 4-byte word starts there.
extern "C" __global__ void copy_misaligned(const int* in, int* out, u32 n) {
    const char* bytes = reinterpret_cast<const char*>(in) + 2;
    for (u64 i = first_index(); i + 1 < n; i += grid_stride()) {
        out[i] = *reinterpret_cast<const int*>(bytes + 4 * i);
    }
}
