// Histograms of 256 bins, privatised: each block counts in its own shared memory and adds its bins to the total at the
// end. `bins` must be 0 before. Right on any one-dimensional grid. Lengths are 32-bit, indices 64-bit.

using u32 = unsigned int;
using u64 = unsigned long long;

enum : u32 { BINS = 256 };

template <typename T>
__device__ __forceinline__ void histogram(const T* in, int* bins, u32 n) {
    __shared__ int block_bins[BINS];
    for (u32 bin = threadIdx.x; bin < BINS; bin += blockDim.x) {
        block_bins[bin] = 0;
    }
    __syncthreads();

    const u64 stride = static_cast<u64>(gridDim.x) * blockDim.x;
    for (u64 i = static_cast<u64>(blockIdx.x) * blockDim.x + threadIdx.x; i < n; i += stride) {
        atomicAdd(&block_bins[in[i] % BINS], 1);
    }
    __syncthreads();

    for (u32 bin = threadIdx.x; bin < BINS; bin += blockDim.x) {
        const int count = block_bins[bin];
        if (count != 0) {
            atomicAdd(&bins[bin], count);
        }
    }
}

extern "C" __global__ void histogram_bytes(const unsigned char* in, int* bins, u32 n) {
    histogram(in, bins, n);
}

// Of each key's low byte.
extern "C" __global__ void histogram_low_bytes(const u32* keys, int* bins, u32 n) {
    histogram(keys, bins, n);
}
