// Elementwise kernels that are wrong in one known way each, for control gates.

using u32 = unsigned int;
using u64 = unsigned long long;

__device__ __forceinline__ u64 first_index() {
    return static_cast<u64>(blockIdx.x) * blockDim.x + threadIdx.x;
}

__device__ __forceinline__ u64 grid_stride() {
    return static_cast<u64>(gridDim.x) * blockDim.x;
}

// a * x + y with the 12 low bits of each product's significand cut off, as if it had passed through a shorter type.
extern "C" __global__ void saxpy_coarse(float a, const float* x, const float* y, float* out, u32 n) {
    for (u64 i = first_index(); i < n; i += grid_stride()) {
        const float product = __fmul_rn(a, x[i]);
        out[i] = __fadd_rn(__int_as_float(__float_as_int(product) & ~0xfff), y[i]);
    }
}

// Lives as long as the loaded module, so no poison resets it.
__device__ u32 launch_parity;

// A right copy, except that every second launch of the loaded module adds 1 to the first element.
extern "C" __global__ void copy_with_memory(const int* in, int* out, u32 n) {
    for (u64 i = first_index(); i < n; i += grid_stride()) {
        out[i] = in[i] + (i == 0 ? static_cast<int>(atomicXor(&launch_parity, 1u)) : 0);
    }
}
