// The work-efficient scan in global memory: sums up a binary tree, prefixes down it, one launch a depth.
//
// Blelloch, "Prefix sums and their applications" (1990): about 2 n additions. The tree lies in place over the array, so
// its leaves are as many as the next power of two; those past n hold zeros. A node is where its subtree ends, and only
// nodes whose subtree begins below n need a thread: ceil(n / (2 reach)) of them, in both directions.
//
// The nodes of one launch share no element. Both kernels take them in grid-stride loops and are right on any
// one-dimensional grid. Counts and sums are 32-bit, and sums wrap; indices are 64-bit.

using u32 = unsigned int;
using u64 = unsigned long long;

__device__ __forceinline__ u64 first_index() {
    return static_cast<u64>(blockIdx.x) * blockDim.x + threadIdx.x;
}

__device__ __forceinline__ u64 grid_stride() {
    return static_cast<u64>(gridDim.x) * blockDim.x;
}

// Of node `i`, whose halves hold `reach` leaves each: the end of its left half.
__device__ __forceinline__ u64 left_end(u64 i, u32 reach) {
    return (2 * i + 1) * reach - 1;
}

// Each node gets the sum of its halves. Launched with reach 1, 2, 4, … up to half the leaves.
extern "C" __global__ void up_sweep(u32* tree, u32 reach, u32 nodes) {
    for (u64 i = first_index(); i < nodes; i += grid_stride()) {
        const u64 left = left_end(i, reach);
        tree[left + reach] += tree[left];
    }
}

// Each node hands its prefix to its left half, and that plus the left half's sum to its right half. Launched with reach
// from half the leaves down to 1, after the last leaf, the root, has been set to 0.
extern "C" __global__ void down_sweep(u32* tree, u32 reach, u32 nodes) {
    for (u64 i = first_index(); i < nodes; i += grid_stride()) {
        const u64 left = left_end(i, reach);
        const u32 sum = tree[left];
        const u32 prefix = tree[left + reach];
        tree[left] = prefix;
        tree[left + reach] = prefix + sum;
    }
}
