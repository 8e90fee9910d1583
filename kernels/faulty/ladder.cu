// Scans and a radix sort's split that are wrong in one known way each, for control gates. Their right twins are in
// ../naive.cu, ../efficient.cu, ../shared_scan.cu and ../radix_split.cu.

using u32 = unsigned int;
using u64 = unsigned long long;

// An enumerator, since NVRTC keeps a `constexpr` variable as a word of device memory.
enum : u32 { TILE = 1024 };

__device__ __forceinline__ u64 first_index() {
    return static_cast<u64>(blockIdx.x) * blockDim.x + threadIdx.x;
}

__device__ __forceinline__ u64 grid_stride() {
    return static_cast<u64>(gridDim.x) * blockDim.x;
}

// In place, where two buffers are needed: an element may meet what this very pass has made of its left neighbour. A
// thread that walks from the front always does, so this is launched as one.
extern "C" __global__ void scan_pass_in_place(int* values, u32 reach, u32 n) {
    for (u64 i = first_index(); i < n; i += grid_stride()) {
        if (i >= reach) {
            values[i] += values[i - reach];
        }
    }
}

// The left half gets the node's prefix, the right half the prefix alone: the left half's sum is lost on the way.
extern "C" __global__ void down_sweep_losing_sum(int* tree, u32 reach, u32 nodes) {
    for (u64 i = first_index(); i < nodes; i += grid_stride()) {
        const u64 left = (2 * i + 1) * reach - 1;
        tree[left] = tree[left + reach];
    }
}

// The second tile gets no carry: `> 1` for `> 0`.
extern "C" __global__ void add_carries_but_second(int* values, const int* carry, u32 n) {
    for (u64 i = first_index(); i < n; i += grid_stride()) {
        const u64 tile = i / TILE;
        if (tile > 1) {
            values[i] += carry[tile];
        }
    }
}

// The keys whose bit is set, from the far end: each is in its half, but the half is in reverse, so that the next pass
// meets keys that the last one had put in order and are no longer.
extern "C" __global__ void scatter_split_unstable(const u32* in, const int* rank, u32* out, u32 bit, u32 n) {
    for (u64 i = first_index(); i < n; i += grid_stride()) {
        const u32 key = in[i];
        const u64 before = static_cast<u32>(rank[i]);
        const u64 set_before = i - before;
        out[(key >> bit & 1) == 0 ? before : n - 1 - set_before] = key;
    }
}
