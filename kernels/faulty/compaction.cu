// Compactions and partitions that are wrong in one known way each, for control gates. Their right twins are in
// ../compaction.cu.

using u32 = unsigned int;
using u64 = unsigned long long;

__device__ __forceinline__ u64 first_index() {
    return static_cast<u64>(blockIdx.x) * blockDim.x + threadIdx.x;
}

__device__ __forceinline__ u64 grid_stride() {
    return static_cast<u64>(gridDim.x) * blockDim.x;
}

// The last element of the input is never looked at: `< n - 1` for `< n`.
extern "C" __global__ void scatter_dropping_tail(const int* in, const int* rank, int* out, u32 n) {
    for (u64 i = first_index(); i + 1 < n; i += grid_stride()) {
        const int value = in[i];
        if (value != 0) {
            out[rank[i]] = value;
        }
    }
}

// Right up to the last survivor; then the last slot of `out` as well, which no survivor reaches where not all survive.
extern "C" __global__ void scatter_into_rest(const int* in, const int* rank, int* out, u32 n) {
    for (u64 i = first_index(); i < n; i += grid_stride()) {
        const int value = in[i];
        if (value != 0) {
            out[rank[i]] = value;
        }
        if (i == 0) {
            out[n - 1] = 0;
        }
    }
}

// The first odd element stands one slot early, and the last even one in the slot this frees: every element is there,
// each exactly once, and the boundary is where it should be.
extern "C" __global__ void scatter_partition_odd_early(const int* in, const int* rank, const int* total, int* out,
                                                       u32 n) {
    const u64 evens = static_cast<u32>(*total);
    for (u64 i = first_index(); i < n; i += grid_stride()) {
        const int value = in[i];
        const u64 before = static_cast<u32>(rank[i]);
        u64 at = (value & 1) == 0 ? before : evens + (i - before);
        if (evens > 0 && evens < n) {
            if (at == evens) {
                at = evens - 1;
            } else if (at + 1 == evens) {
                at = evens;
            }
        }
        out[at] = value;
    }
}

// Read, add, write in place of the atomic: the lanes of a warp read the same count, so they take the same slot and
// all but one of them are lost, on every schedule. `volatile` keeps the compiler from holding the count in a register.
extern "C" __global__ void compact_lost_update(const int* in, int* out, volatile int* count, u32 n) {
    for (u64 i = first_index(); i < n; i += grid_stride()) {
        const int value = in[i];
        if (value != 0) {
            const int at = *count;
            *count = at + 1;
            out[at] = value;
        }
    }
}
