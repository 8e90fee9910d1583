// One pass of a radix sort by split: the keys whose bit is clear, then those whose bit is set, both in the order they
// had. A scan of the marks, by any kernel, lies between the two. Sorted after one pass a bit, the lowest first.
//
// Blelloch, "Prefix sums and their applications" (1990). Both kernels are right on any one-dimensional grid. Lengths
// are 32-bit, indices 64-bit.

using u32 = unsigned int;
using u64 = unsigned long long;

__device__ __forceinline__ u64 first_index() {
    return static_cast<u64>(blockIdx.x) * blockDim.x + threadIdx.x;
}

__device__ __forceinline__ u64 grid_stride() {
    return static_cast<u64>(gridDim.x) * blockDim.x;
}

// mark[i] = 1 where the bit of keys[i] is clear, else 0. `bit` counts from the lowest and is below 32.
extern "C" __global__ void mark_bit_clear(const u32* keys, int* mark, u32 bit, u32 n) {
    for (u64 i = first_index(); i < n; i += grid_stride()) {
        mark[i] = (keys[i] >> bit & 1) == 0;
    }
}

// Keys to their places: `rank[i]` is the number of clear keys before i, `total` the number of all of them, read here
// so that the host need not know it. `in` and `out` must not overlap.
extern "C" __global__ void scatter_split(const u32* in, const int* rank, const int* total, u32* out, u32 bit, u32 n) {
    const u64 clear = static_cast<u32>(*total);
    for (u64 i = first_index(); i < n; i += grid_stride()) {
        const u32 key = in[i];
        const u64 before = static_cast<u32>(rank[i]);
        out[(key >> bit & 1) == 0 ? before : clear + (i - before)] = key;
    }
}
