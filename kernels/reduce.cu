// Reductions: each thread folds what its grid-stride loop meets, a warp its threads' values by shuffles, a block its
// warps'. Every block leaves one value, so the same kernel on one block finishes the job; or each adds to one total.
//
// Blocks of whole warps; right on any one-dimensional grid of them. Lengths are 32-bit, indices 64-bit.

using u32 = unsigned int;
using u64 = unsigned long long;

enum : u32 { LANES = 32, WARPS_MAX = 32 };

// Wraps around, as the device's addition does; in C++ only unsigned numbers may.
struct Sum {
    static __device__ __forceinline__ int identity() { return 0; }
    static __device__ __forceinline__ int fold(int a, int b) {
        return static_cast<int>(static_cast<u32>(a) + static_cast<u32>(b));
    }
};

struct Min {
    static __device__ __forceinline__ int identity() { return 0x7fffffff; }
    static __device__ __forceinline__ int fold(int a, int b) { return a < b ? a : b; }
};

struct Max {
    static __device__ __forceinline__ int identity() { return -0x7fffffff - 1; }
    static __device__ __forceinline__ int fold(int a, int b) { return a > b ? a : b; }
};

struct FloatSum {
    static __device__ __forceinline__ float identity() { return 0.0f; }
    static __device__ __forceinline__ float fold(float a, float b) { return a + b; }
};

// The first lane gets the fold of the warp's values; the other lanes get nothing of meaning.
template <typename Op, typename T>
__device__ __forceinline__ T fold_warp(T value) {
    for (u32 reach = LANES / 2; reach > 0; reach /= 2) {
        value = Op::fold(value, __shfl_down_sync(0xffffffff, value, reach));
    }
    return value;
}

// The block's first thread gets the fold of all that the block's threads met.
template <typename Op, typename T>
__device__ __forceinline__ T fold_block(const T* in, u32 n) {
    __shared__ T warps[WARPS_MAX];
    const u64 stride = static_cast<u64>(gridDim.x) * blockDim.x;
    T value = Op::identity();
    for (u64 i = static_cast<u64>(blockIdx.x) * blockDim.x + threadIdx.x; i < n; i += stride) {
        value = Op::fold(value, in[i]);
    }

    value = fold_warp<Op>(value);
    const u32 lane = threadIdx.x % LANES;
    const u32 warp = threadIdx.x / LANES;
    if (lane == 0) {
        warps[warp] = value;
    }
    __syncthreads();
    if (warp == 0) {
        value = fold_warp<Op>(lane < blockDim.x / LANES ? warps[lane] : Op::identity());
    }
    return value;
}

// out[block] = the fold of the block's share; the identity where that is empty.
template <typename Op, typename T>
__device__ __forceinline__ void reduce(const T* in, T* out, u32 n) {
    const T value = fold_block<Op>(in, n);
    if (threadIdx.x == 0) {
        out[blockIdx.x] = value;
    }
}

extern "C" __global__ void reduce_sum(const int* in, int* out, u32 n) {
    reduce<Sum>(in, out, n);
}

extern "C" __global__ void reduce_min(const int* in, int* out, u32 n) {
    reduce<Min>(in, out, n);
}

extern "C" __global__ void reduce_max(const int* in, int* out, u32 n) {
    reduce<Max>(in, out, n);
}

// The order of the additions is the grid's, so another grid may round otherwise; the same grid gives the same bits.
extern "C" __global__ void reduce_sum_f32(const float* in, float* out, u32 n) {
    reduce<FloatSum>(in, out, n);
}

// Every block's sum added to `total`, which must be 0 before. Integers wrap, so the order does not show.
extern "C" __global__ void reduce_sum_atomic(const int* in, int* total, u32 n) {
    const int value = fold_block<Sum>(in, n);
    if (threadIdx.x == 0) {
        atomicAdd(total, value);
    }
}
