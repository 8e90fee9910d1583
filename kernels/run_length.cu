// Run-length encoding: mark where runs begin, scan the marks (by any kernel: `rank[i]` is the number of heads before
// i), write each run's value and first index to its place, then its length.
//
// Every kernel is right on any one-dimensional grid. Lengths are 32-bit, indices 64-bit.

using u32 = unsigned int;
using u64 = unsigned long long;

__device__ __forceinline__ u64 first_index() {
    return static_cast<u64>(blockIdx.x) * blockDim.x + threadIdx.x;
}

__device__ __forceinline__ u64 grid_stride() {
    return static_cast<u64>(gridDim.x) * blockDim.x;
}

__device__ __forceinline__ bool is_head(const int* in, u64 i) {
    return i == 0 || in[i] != in[i - 1];
}

// head[i] = 1 where a run begins, else 0.
extern "C" __global__ void mark_heads(const int* in, int* head, u32 n) {
    for (u64 i = first_index(); i < n; i += grid_stride()) {
        head[i] = is_head(in, i);
    }
}

// Of each run, its value and where it begins. What lies behind the last run is left alone.
extern "C" __global__ void scatter_runs(const int* in, const int* rank, int* values, u32* starts, u32 n) {
    for (u64 i = first_index(); i < n; i += grid_stride()) {
        if (is_head(in, i)) {
            values[rank[i]] = in[i];
            starts[rank[i]] = static_cast<u32>(i);
        }
    }
}

// A run ends where the next begins, the last one at n. `runs` is read here so that the host need not know it.
extern "C" __global__ void measure_runs(const u32* starts, const int* runs, u32* lengths, u32 n) {
    const u64 count = static_cast<u32>(*runs);
    for (u64 run = first_index(); run < count; run += grid_stride()) {
        lengths[run] = (run + 1 < count ? starts[run + 1] : n) - starts[run];
    }
}
