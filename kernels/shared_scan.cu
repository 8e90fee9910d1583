// The work-efficient scan of a tile in shared memory, with padding against bank conflicts and without; and the carries
// that join the tiles. Longer arrays are scanned recursively: the tiles' totals are an array to scan.
//
// Harris, Sengupta and Owens, "Parallel prefix sum (scan) with CUDA", GPU Gems 3 (2007), chapter 39. Lengths and
// sums are 32-bit, and sums wrap; indices are 64-bit.

using u32 = unsigned int;
using u64 = unsigned long long;

// Enumerators, since NVRTC keeps a `constexpr` variable as a word of device memory.
enum : u32 { TILE = 1024, THREADS = TILE / 2, BANKS = 32 };

// Where element `i` of a tile lies. At depth d of the tree the threads of a warp touch elements 2^(d+1) apart, which
// without padding meet in ever fewer of the 32 banks; one word left free after each 32 spreads them again.
template <bool PADDED>
__device__ __forceinline__ u32 place(u32 i) {
    return PADDED ? i + i / BANKS : i;
}

// Exclusive sum of each tile of 1024 elements, a block of 512 threads a tile; `sums[tile]` gets the tile's total. A
// last tile may be partial: what lies past `n` counts as 0 and is not written.
template <bool PADDED>
__device__ __forceinline__ void scan_tile(const u32* in, u32* out, u32* sums, u32 n) {
    __shared__ u32 tree[TILE + (PADDED ? TILE / BANKS : 0)];
    const u32 thread = threadIdx.x;
    const u64 first = static_cast<u64>(blockIdx.x) * TILE + thread;
    const u64 second = first + THREADS;

    tree[place<PADDED>(thread)] = first < n ? in[first] : 0;
    tree[place<PADDED>(thread + THREADS)] = second < n ? in[second] : 0;

    u32 reach = 1;
    for (u32 nodes = THREADS; nodes > 0; nodes /= 2) {
        __syncthreads();
        if (thread < nodes) {
            const u32 left = (2 * thread + 1) * reach - 1;
            tree[place<PADDED>(left + reach)] += tree[place<PADDED>(left)];
        }
        reach *= 2;
    }

    // The root was this thread's own last sum.
    if (thread == 0) {
        sums[blockIdx.x] = tree[place<PADDED>(TILE - 1)];
        tree[place<PADDED>(TILE - 1)] = 0;
    }

    for (u32 nodes = 1; nodes <= THREADS; nodes *= 2) {
        reach /= 2;
        __syncthreads();
        if (thread < nodes) {
            const u32 left = (2 * thread + 1) * reach - 1;
            const u32 sum = tree[place<PADDED>(left)];
            const u32 prefix = tree[place<PADDED>(left + reach)];
            tree[place<PADDED>(left)] = prefix;
            tree[place<PADDED>(left + reach)] = prefix + sum;
        }
    }
    __syncthreads();

    if (first < n) {
        out[first] = tree[place<PADDED>(thread)];
    }
    if (second < n) {
        out[second] = tree[place<PADDED>(thread + THREADS)];
    }
}

// `out` may be `in`. Exactly 512 threads a block.
extern "C" __global__ void __launch_bounds__(THREADS) scan_tiles_padded(const u32* in, u32* out, u32* sums, u32 n) {
    scan_tile<true>(in, out, sums, n);
}

// `out` may be `in`. Exactly 512 threads a block.
extern "C" __global__ void __launch_bounds__(THREADS) scan_tiles_unpadded(const u32* in, u32* out, u32* sums, u32 n) {
    scan_tile<false>(in, out, sums, n);
}

// Adds to each element the carry of its tile of 1024. Right on any one-dimensional grid.
extern "C" __global__ void add_carries(u32* values, const u32* carry, u32 n) {
    const u64 stride = static_cast<u64>(gridDim.x) * blockDim.x;
    for (u64 i = static_cast<u64>(blockIdx.x) * blockDim.x + threadIdx.x; i < n; i += stride) {
        values[i] += carry[i / TILE];
    }
}
