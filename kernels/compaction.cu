// Stream compaction and even/odd partition by mark, scan and scatter; compaction by one atomic counter; and the copy
// that both are measured against.
//
// Every kernel but `scan_tiles` walks its input in grid-stride loops and is right on any one-dimensional grid, down
// to one thread. Lengths are 32-bit; indices are 64-bit, since `i + stride` may pass 2^32 on a large grid.

using u32 = unsigned int;
using u64 = unsigned long long;

// An enumerator, since NVRTC keeps a `constexpr` variable as a word of device memory.
enum : u32 { TILE = 256 };

__device__ __forceinline__ u64 first_index() {
    return static_cast<u64>(blockIdx.x) * blockDim.x + threadIdx.x;
}

__device__ __forceinline__ u64 grid_stride() {
    return static_cast<u64>(gridDim.x) * blockDim.x;
}

// mark[i] = 1 where in[i] survives (is not 0), else 0.
extern "C" __global__ void mark_nonzero(const int* in, int* mark, u32 n) {
    for (u64 i = first_index(); i < n; i += grid_stride()) {
        mark[i] = in[i] != 0;
    }
}

// mark[i] = 1 where in[i] is even (0 and negative even numbers are), else 0.
extern "C" __global__ void mark_even(const int* in, int* mark, u32 n) {
    for (u64 i = first_index(); i < n; i += grid_stride()) {
        mark[i] = (in[i] & 1) == 0;
    }
}

// Exclusive sum of each tile of 256 elements, a block a tile; `sums[tile]` gets the tile's total. `out` may be `in`.
// A last tile may be partial: the lanes past `n` scan zeros and write nothing. Exactly 256 threads a block.
//
// Hillis and Steele, "Data parallel algorithms" (1986), 8 steps. The two halves of `scan` are read and written in
// turn, so one barrier a step is enough: a step writes the half that nobody reads until the next barrier.
extern "C" __global__ void __launch_bounds__(TILE) scan_tiles(const int* in, int* out, int* sums, u32 n) {
    __shared__ int scan[2][TILE];
    const u32 lane = threadIdx.x;
    const u64 i = static_cast<u64>(blockIdx.x) * TILE + lane;

    u32 from = 0;
    scan[from][lane] = i < n ? in[i] : 0;
    __syncthreads();
    for (u32 reach = 1; reach < TILE; reach *= 2) {
        int sum = scan[from][lane];
        if (lane >= reach) {
            sum += scan[from][lane - reach];
        }
        from ^= 1;
        scan[from][lane] = sum;
        __syncthreads();
    }

    if (i < n) {
        out[i] = lane == 0 ? 0 : scan[from][lane - 1];
    }
    if (lane == TILE - 1) {
        sums[blockIdx.x] = scan[from][lane];
    }
}

// Adds to each element the carry of its tile of 256.
extern "C" __global__ void add_carry(int* values, const int* carry, u32 n) {
    for (u64 i = first_index(); i < n; i += grid_stride()) {
        values[i] += carry[i / TILE];
    }
}

// Survivors to their ranks: out[rank[i]] = in[i]. What lies behind the last survivor is left alone.
extern "C" __global__ void scatter(const int* in, const int* rank, int* out, u32 n) {
    for (u64 i = first_index(); i < n; i += grid_stride()) {
        const int value = in[i];
        if (value != 0) {
            out[rank[i]] = value;
        }
    }
}

// Even elements to their ranks, odd ones behind all even ones, both halves in input order. `rank[i]` is the number of
// even elements before i; `total` is their number, read here so that the host need not know it.
extern "C" __global__ void scatter_partition(const int* in, const int* rank, const int* total, int* out, u32 n) {
    const u64 evens = static_cast<u32>(*total);
    for (u64 i = first_index(); i < n; i += grid_stride()) {
        const int value = in[i];
        const u64 before = static_cast<u32>(rank[i]);
        out[(value & 1) == 0 ? before : evens + (i - before)] = value;
    }
}

extern "C" __global__ void zero_count(int* count) {
    if (first_index() == 0) {
        *count = 0;
    }
}

// Survivors in any order: each takes the next slot from `count`, which ends as their number.
extern "C" __global__ void compact_atomic(const int* in, int* out, int* count, u32 n) {
    for (u64 i = first_index(); i < n; i += grid_stride()) {
        const int value = in[i];
        if (value != 0) {
            out[atomicAdd(count, 1)] = value;
        }
    }
}

// The floor: the same grid and buffers, no predicate.
extern "C" __global__ void copy(const int* in, int* out, u32 n) {
    for (u64 i = first_index(); i < n; i += grid_stride()) {
        out[i] = in[i];
    }
}
