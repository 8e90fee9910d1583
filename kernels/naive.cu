// The naive scan: log2 n passes over the whole array, each a launch, between two buffers.
//
// Hillis and Steele, "Data parallel algorithms" (1986): n log2 n additions where n - 1 would do. Both kernels walk
// their input in grid-stride loops and are right on any one-dimensional grid. Lengths and
// sums are 32-bit, and sums wrap; indices are 64-bit.

using u32 = unsigned int;
using u64 = unsigned long long;

__device__ __forceinline__ u64 first_index() {
    return static_cast<u64>(blockIdx.x) * blockDim.x + threadIdx.x;
}

__device__ __forceinline__ u64 grid_stride() {
    return static_cast<u64>(gridDim.x) * blockDim.x;
}

// out[i] = in[i] + in[i - reach], and in[i] where nothing lies that far back. After the passes with reach 1, 2, 4, …
// below n, the last `out` is the inclusive sum. `in` and `out` must not overlap.
extern "C" __global__ void scan_pass(const u32* in, u32* out, u32 reach, u32 n) {
    for (u64 i = first_index(); i < n; i += grid_stride()) {
        out[i] = i < reach ? in[i] : in[i] + in[i - reach];
    }
}

// An inclusive scan made exclusive: every element one place on, 0 in the first. `in` and `out` must not overlap.
extern "C" __global__ void shift_right(const u32* in, u32* out, u32 n) {
    for (u64 i = first_index(); i < n; i += grid_stride()) {
        out[i] = i == 0 ? 0 : in[i - 1];
    }
}
