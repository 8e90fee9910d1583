// Single-pass compaction, partition and scans: one read and one write of the data, one launch.
//
// Merrill and Garland, "Single-pass Parallel Prefix Scan with Decoupled Look-back" (2016). A block takes the next tile
// from a counter, so a tile's predecessors have all been started and no order of blocks can starve it. It publishes
// the tile's own sum, then looks back over its predecessors' descriptors for the sum of everything before it, and
// publishes that with its own. `state[0]` is the counter and `state[1 + t]` the descriptor of tile t; all are zero
// before the launch. The grid is the number of tiles; there must be at least one.
//
// A descriptor is one word, status and value together: whoever sees the status has the value, and no fence is needed.
//
// The block is any multiple of 32 threads up to 1024. A warp owns consecutive rows of 128 elements, a lane four
// neighbours of each row, so that all loads are 16 bytes wide and all of a tile's are in flight at once. Inputs (and
// the scans' output) are 16-byte aligned. Lengths and sums are 32-bit and wrap; elements are signed or unsigned alike;
// indices are 64-bit.

using u32 = unsigned int;
using u64 = unsigned long long;

enum : u32 { WARP = 32, MAX_WARPS = 32, ROW = 128, ALL_LANES = 0xffffffff };

// Rows a warp holds in registers: the most that fit in 64 registers a thread.
enum : u32 { SELECT_ROWS = 8, SCAN_ROWS = 10 };

// A descriptor's upper word; 0 is not yet published. OWN: the tile's own sum. UP_TO: that of all tiles up to it.
enum : u32 { OWN = 1, UP_TO = 2 };

__device__ __forceinline__ u64 descriptor(u32 status, u32 value) {
    return static_cast<u64>(status) << 32 | value;
}

__device__ __forceinline__ u64 load_descriptor(const u64* at) {
    u64 word;
    asm volatile("ld.relaxed.gpu.global.u64 %0, [%1];" : "=l"(word) : "l"(at) : "memory");
    return word;
}

__device__ __forceinline__ void publish(u64* at, u32 status, u32 value) {
    asm volatile("st.relaxed.gpu.global.u64 [%0], %1;" ::"l"(at), "l"(descriptor(status, value)) : "memory");
}

__device__ __forceinline__ u32 inclusive_sum(u32 value, u32 lane) {
#pragma unroll
    for (u32 reach = 1; reach < WARP; reach *= 2) {
        const u32 left = __shfl_up_sync(ALL_LANES, value, reach);
        value += lane >= reach ? left : 0;
    }
    return value;
}

__device__ __forceinline__ u32 warp_sum(u32 value) {
#pragma unroll
    for (u32 mask = WARP / 2; mask > 0; mask /= 2) {
        value += __shfl_xor_sync(ALL_LANES, value, mask);
    }
    return value;
}

// The sum of all tiles before `tile` (not 0), by a whole warp: lane l reads the descriptor l + 1 tiles back, then 32
// more, until one of them has everything up to it. Lanes that would read before tile 0 count as such.
__device__ __forceinline__ u32 look_back(const u64* tiles, u32 tile, u32 lane) {
    u32 sum = 0;
    for (long long at = static_cast<long long>(tile) - 1 - lane;; at -= WARP) {
        u64 word = descriptor(UP_TO, 0);
        u32 complete;
        u32 nearest;  // lanes up to the first with everything
        u32 missing;
        do {
            if (at >= 0) {
                word = load_descriptor(tiles + at);
            }
            const u32 status = word >> 32;
            complete = __ballot_sync(ALL_LANES, status == UP_TO);
            missing = __ballot_sync(ALL_LANES, status == 0);
            nearest = complete ^ (complete - 1);
        } while ((missing & nearest) != 0);
        sum += nearest >> lane & 1 ? static_cast<u32>(word) : 0;
        if (complete != 0) {
            return warp_sum(sum);
        }
    }
}

// The tile this block works on, the same for all its threads.
__device__ __forceinline__ u32 next_tile(u64* state) {
    __shared__ u32 tile;
    if (threadIdx.x == 0) {
        tile = atomicAdd(reinterpret_cast<u32*>(state), 1u);
    }
    __syncthreads();
    return tile;
}

// This lane's elements, row by row: those of its warp's rows from `in` on, where `in` is the lane's first and `left`
// elements are left from there. What is not there reads as `absent`.
template <u32 ROWS>
__device__ __forceinline__ void load_rows(const u32* in, long long left, u32 absent, u32 (&values)[4 * ROWS]) {
    if (left >= static_cast<long long>(ROWS * ROW)) {
#pragma unroll
        for (u32 row = 0; row < ROWS; ++row) {
            const uint4 four = __ldcs(reinterpret_cast<const uint4*>(in + row * ROW));
            values[4 * row] = four.x;
            values[4 * row + 1] = four.y;
            values[4 * row + 2] = four.z;
            values[4 * row + 3] = four.w;
        }
    } else {
#pragma unroll
        for (u32 k = 0; k < 4 * ROWS; ++k) {
            const u32 i = k / 4 * ROW + k % 4;
            values[k] = i < left ? in[i] : absent;
        }
    }
}

// Has the tile `ahead` tiles on (none if 0) brought to the L2 cache, whichever block will take it: memory is busy while
// this block looks back.
__device__ __forceinline__ void prefetch_tile(const u32* in, u64 tile_start, u32 tile_len, u32 ahead, u32 n) {
    enum : u32 { LINE = 128 / sizeof(u32) };
    const u64 start = tile_start + static_cast<u64>(ahead) * tile_len;
    for (u32 i = threadIdx.x * LINE; i < tile_len && ahead != 0; i += blockDim.x * LINE) {
        if (start + i < n) {
            asm volatile("prefetch.global.L2 [%0];" ::"l"(in + start + i));
        }
    }
}

// Stores what `load_rows` loads, each plus `offset`.
template <u32 ROWS>
__device__ __forceinline__ void store_rows(u32* out, long long left, const u32 (&values)[4 * ROWS], u32 offset) {
    if (left >= static_cast<long long>(ROWS * ROW)) {
#pragma unroll
        for (u32 row = 0; row < ROWS; ++row) {
            const uint4 four = make_uint4(values[4 * row] + offset, values[4 * row + 1] + offset,
                                        values[4 * row + 2] + offset, values[4 * row + 3] + offset);
            __stcs(reinterpret_cast<uint4*>(out + row * ROW), four);
        }
    } else {
#pragma unroll
        for (u32 k = 0; k < 4 * ROWS; ++k) {
            const u32 i = k / 4 * ROW + k % 4;
            if (i < left) {
                out[i] = values[k] + offset;
            }
        }
    }
}

struct Odd {
    enum : u32 { REJECTED = 0 };
    __device__ static bool keep(u32 value) { return (value & 1) != 0; }
};

struct Even {
    enum : u32 { REJECTED = 1 };
    __device__ static bool keep(u32 value) { return (value & 1) == 0; }
};

struct Nonzero {
    enum : u32 { REJECTED = 0 };
    __device__ static bool keep(u32 value) { return value != 0; }
};

// Writes `len` staged elements to `to[0..len]`. Threads start up to seven elements early, so that from the second
// round on a warp writes whole 32-byte sectors.
__device__ __forceinline__ void write_out(u32* to, const u32* staged, u32 len) {
    const int early = static_cast<int>(reinterpret_cast<u64>(to) / sizeof(u32) % 8);
    for (int i = static_cast<int>(threadIdx.x) - early; i < static_cast<int>(len); i += blockDim.x) {
        if (i >= 0) {
            __stcs(to + i, staged[i]);
        }
    }
}

// Which of a lane's elements are kept, and how many of the warp's kept ones lie before each of its rows' four.
struct Kept {
    u32 flags;                     // bit k: values[k]
    u32 before[SELECT_ROWS / 4];   // kept ones of each row before this lane's four, a byte a row
    u32 in_row[SELECT_ROWS / 4];   // kept ones of each row of the warp, a byte a row
    u32 in_warp;
};

// A lane keeps at most 4 of a row and a warp 128: four rows' counts share a word, and one warp scan ranks them.
template <typename Predicate>
__device__ __forceinline__ Kept rank_kept(const u32 (&values)[4 * SELECT_ROWS], u32 lane) {
    Kept kept = {};
#pragma unroll
    for (u32 group = 0; group < SELECT_ROWS / 4; ++group) {
        u32 counts = 0;
#pragma unroll
        for (u32 k = 0; k < 16; ++k) {
            const bool is_kept = Predicate::keep(values[16 * group + k]);
            kept.flags |= is_kept ? 1u << (16 * group + k) : 0;
            counts += is_kept ? 1u << 8 * (k / 4) : 0;
        }
        const u32 up_to = inclusive_sum(counts, lane);
        kept.before[group] = up_to - counts;
        kept.in_row[group] = __shfl_sync(ALL_LANES, up_to, WARP - 1);
#pragma unroll
        for (u32 row = 0; row < 4; ++row) {
            kept.in_warp += kept.in_row[group] >> 8 * row & 0xff;
        }
    }
    return kept;
}

// Puts those of this lane's elements in order whose place in the tile's order, kept ones first and the others behind
// them, lies in `start..start + stage_len`. `before_warp` kept ones lie before the warp's, `tile_kept` are the tile's,
// `first` is the lane's first element, from the tile's start.
template <bool PARTITION>
__device__ __forceinline__ void stage_round(const u32 (&values)[4 * SELECT_ROWS], const Kept& kept, u32 before_warp,
                                            u32 tile_kept, u32 first, u32 start, u32 stage_len, u32* stage) {
    u32 before_row = before_warp - start;
#pragma unroll
    for (u32 row = 0; row < SELECT_ROWS; ++row) {
        u32 kept_slot = before_row + (kept.before[row / 4] >> 8 * (row % 4) & 0xff);
        u32 rest_slot = tile_kept + first + row * ROW - kept_slot - 2 * start;
#pragma unroll
        for (u32 j = 0; j < 4; ++j) {
            const u32 is_kept = kept.flags >> (4 * row + j) & 1;
            const u32 slot = PARTITION && !is_kept ? rest_slot : kept_slot;
            if (slot < stage_len && (PARTITION || is_kept)) {
                stage[slot] = values[4 * row + j];
            }
            kept_slot += is_kept;
            rest_slot += 1 - is_kept;
        }
        before_row += kept.in_row[row / 4] >> 8 * (row % 4) & 0xff;
    }
}

// Kept elements to `kept_out` in order and, if PARTITION, the others to `rest_out` in order; the kept ones' number to
// `count`. The tile is put in order in shared memory, `stage_len` elements (at least one) at a time, which are the
// launch's dynamic shared memory: in one round where they hold the tile.
template <typename Predicate, bool PARTITION>
__device__ __forceinline__ void select(const u32* in, u32* kept_out, u32* rest_out, u32* count, u64* state,
                                       u32 stage_len, u32 ahead, u32 n) {
    extern __shared__ u32 stage[];
    __shared__ u32 warp_kept[MAX_WARPS];
    __shared__ u32 kept_before_tile;
    const u32 lane = threadIdx.x % WARP;
    const u32 warp = threadIdx.x / WARP;
    const u32 tile_len = blockDim.x * (4 * SELECT_ROWS);
    const u32 tile = next_tile(state);
    const u64 tile_start = static_cast<u64>(tile) * tile_len;
    const u32 first = warp * (ROW * SELECT_ROWS) + lane * 4;

    // Past the end of the input are elements that are not kept, behind all others.
    u32 values[4 * SELECT_ROWS];
    const long long left = static_cast<long long>(n) - static_cast<long long>(tile_start + first);
    load_rows<SELECT_ROWS>(in + tile_start + first, left, Predicate::REJECTED, values);
    prefetch_tile(in, tile_start, tile_len, ahead, n);

    const Kept kept = rank_kept<Predicate>(values, lane);
    if (lane == 0) {
        warp_kept[warp] = kept.in_warp;
    }
    __syncthreads();
    const u32 kept_here = lane < blockDim.x / WARP ? warp_kept[lane] : 0;
    const u32 kept_up_to = inclusive_sum(kept_here, lane);
    const u32 tile_kept = __shfl_sync(ALL_LANES, kept_up_to, WARP - 1);
    const u32 before_warp = __shfl_sync(ALL_LANES, kept_up_to - kept_here, warp);
    u64* tiles = state + 1;
    if (threadIdx.x == 0) {
        publish(tiles + tile, tile == 0 ? UP_TO : OWN, tile_kept);
    }

    const u32 len = PARTITION ? static_cast<u32>(min(static_cast<u64>(tile_len), n - tile_start)) : tile_kept;
    for (u32 start = 0; start == 0 || start < len; start += stage_len) {
        if (start != 0) {
            __syncthreads();  // the last round has been written out
        }
        stage_round<PARTITION>(values, kept, before_warp, tile_kept, first, start, stage_len, stage);
        if (start == 0 && warp == 0) {
            const u32 base = tile == 0 ? 0 : look_back(tiles, tile, lane);
            if (lane == 0) {
                publish(tiles + tile, UP_TO, base + tile_kept);
                kept_before_tile = base;
                if (tile == gridDim.x - 1) {
                    *count = base + tile_kept;
                }
            }
        }
        __syncthreads();
        const u64 base = kept_before_tile;
        const u32 end = min(start + stage_len, len);
        const u32 split = max(start, min(end, tile_kept));
        write_out(kept_out + base + start, stage, split - start);
        if (PARTITION && split < end) {
            write_out(rest_out + (tile_start - base) + (split - tile_kept), stage + (split - start), end - split);
        }
    }
}

extern "C" __global__ void __launch_bounds__(1024) compact_odd(const u32* in, u32* out, u32* count, u64* state,
                                                               u32 stage_len, u32 ahead, u32 n) {
    select<Odd, false>(in, out, nullptr, count, state, stage_len, ahead, n);
}

extern "C" __global__ void __launch_bounds__(1024) compact_nonzero(const u32* in, u32* out, u32* count, u64* state,
                                                                   u32 stage_len, u32 ahead, u32 n) {
    select<Nonzero, false>(in, out, nullptr, count, state, stage_len, ahead, n);
}

// Stable: even elements to `evens`, odd ones to `odds`, both in input order. Two outputs, since where the first odd
// element belongs behind the last even one is known only when the last tile has been read.
extern "C" __global__ void __launch_bounds__(1024) partition_even(const u32* in, u32* evens, u32* odds, u32* count,
                                                                  u64* state, u32 stage_len, u32 ahead, u32 n) {
    select<Even, true>(in, evens, odds, count, state, stage_len, ahead, n);
}

// The tile's elements stay in registers from the load to the store.
template <bool INCLUSIVE>
__device__ __forceinline__ void scan(const u32* in, u32* out, u64* state, u32 ahead, u32 n) {
    __shared__ u32 warp_sums[MAX_WARPS];
    __shared__ u32 before_warp[MAX_WARPS];
    const u32 lane = threadIdx.x % WARP;
    const u32 warp = threadIdx.x / WARP;
    const u32 tile_len = blockDim.x * (4 * SCAN_ROWS);
    const u32 tile = next_tile(state);
    const u64 tile_start = static_cast<u64>(tile) * tile_len;
    const u64 first = tile_start + warp * (ROW * SCAN_ROWS) + lane * 4;

    u32 values[4 * SCAN_ROWS];
    const long long left = static_cast<long long>(n) - static_cast<long long>(first);
    load_rows<SCAN_ROWS>(in + first, left, 0, values);
    prefetch_tile(in, tile_start, tile_len, ahead, n);

    // In place: each element becomes the sum of its warp's elements before it (and itself).
    u32 total = 0;
#pragma unroll
    for (u32 row = 0; row < SCAN_ROWS; ++row) {
        u32* four = values + 4 * row;
        four[1] += four[0];
        four[2] += four[1];
        four[3] += four[2];
        const u32 sum = four[3];
        const u32 up_to = inclusive_sum(sum, lane);
        const u32 before = total + up_to - sum;
        if (!INCLUSIVE) {
            four[3] = four[2];
            four[2] = four[1];
            four[1] = four[0];
            four[0] = 0;
        }
#pragma unroll
        for (u32 j = 0; j < 4; ++j) {
            four[j] += before;
        }
        total += __shfl_sync(ALL_LANES, up_to, WARP - 1);
    }

    if (lane == 0) {
        warp_sums[warp] = total;
    }
    __syncthreads();
    if (warp == 0) {
        u64* tiles = state + 1;
        const u32 sum = lane < blockDim.x / WARP ? warp_sums[lane] : 0;
        const u32 up_to = inclusive_sum(sum, lane);
        const u32 tile_sum = __shfl_sync(ALL_LANES, up_to, WARP - 1);
        if (lane == 0) {
            publish(tiles + tile, tile == 0 ? UP_TO : OWN, tile_sum);
        }
        const u32 base = tile == 0 ? 0 : look_back(tiles, tile, lane);
        if (lane == 0) {
            publish(tiles + tile, UP_TO, base + tile_sum);
        }
        before_warp[lane] = base + up_to - sum;
    }
    __syncthreads();

    store_rows<SCAN_ROWS>(out + first, left, values, before_warp[warp]);
}

extern "C" __global__ void __launch_bounds__(1024) scan_exclusive(const u32* in, u32* out, u64* state,
                                                                  u32 ahead, u32 n) {
    scan<false>(in, out, state, ahead, n);
}

extern "C" __global__ void __launch_bounds__(1024) scan_inclusive(const u32* in, u32* out, u64* state,
                                                                  u32 ahead, u32 n) {
    scan<true>(in, out, state, ahead, n);
}
