// One element in, one element out: what checks on floats, order and permutations are shown to pass on.
// Grid-stride throughout, as in compaction.cu.

using u32 = unsigned int;
using u64 = unsigned long long;

__device__ __forceinline__ u64 first_index() {
    return static_cast<u64>(blockIdx.x) * blockDim.x + threadIdx.x;
}

__device__ __forceinline__ u64 grid_stride() {
    return static_cast<u64>(gridDim.x) * blockDim.x;
}

// out[i] = i
extern "C" __global__ void iota(int* out, u32 n) {
    for (u64 i = first_index(); i < n; i += grid_stride()) {
        out[i] = static_cast<int>(i);
    }
}

// out[n - 1 - i] = in[i]
extern "C" __global__ void reverse(const int* in, int* out, u32 n) {
    for (u64 i = first_index(); i < n; i += grid_stride()) {
        out[n - 1 - i] = in[i];
    }
}

// out[i] = a * x[i] + y[i], rounded once.
extern "C" __global__ void saxpy(float a, const float* x, const float* y, float* out, u32 n) {
    for (u64 i = first_index(); i < n; i += grid_stride()) {
        out[i] = __fmaf_rn(a, x[i], y[i]);
    }
}

// out[i] = a * x[i] + y[i], rounded after the product and again after the sum.
extern "C" __global__ void saxpy_two_roundings(float a, const float* x, const float* y, float* out, u32 n) {
    for (u64 i = first_index(); i < n; i += grid_stride()) {
        out[i] = __fadd_rn(__fmul_rn(a, x[i]), y[i]);
    }
}
