// Single-pass kernels with one fault each that shows in every run. They have the least that shows it: a warp a tile.
//
// compact_without_base:  as compact_nonzero of lookback.cu, but each tile writes from the start of the output: the sum
//                        of the tiles before it is lost
// sort_pass_unstable:    as sort_pass of onesweep.cu, but keys of one digit in a warp's step rank from its last lane to
//                        its first: the pass loses the order of the passes before it

using u32 = unsigned int;
using u64 = unsigned long long;

enum : u32 { WARP = 32, DIGITS = 256, ALL_LANES = 0xffffffff };

// Launched with one block of 32 threads a tile of 32 elements; `state[0]` counts tiles taken, state[1 + t] is one more
// than the survivors of tile t and of all before it; all are zero before the launch.
extern "C" __global__ void __launch_bounds__(WARP) compact_without_base(const u32* in, u32* out, u32* count,
                                                                        u32* state, u32 n) {
    const u32 lane = threadIdx.x;
    u32 tile = 0;
    if (lane == 0) {
        tile = atomicAdd(state, 1u);
    }
    tile = __shfl_sync(ALL_LANES, tile, 0);
    const u64 i = static_cast<u64>(tile) * WARP + lane;
    const u32 value = i < n ? in[i] : 0;
    const u32 kept = __ballot_sync(ALL_LANES, value != 0);
    u32 up_to = 0;
    if (lane == 0) {
        volatile u32* sums = state + 1;
        u32 before = 1;
        while (tile > 0 && (before = sums[tile - 1]) == 0) {
        }
        up_to = before + __popc(kept);
        sums[tile] = up_to;
        if (tile == gridDim.x - 1) {
            *count = up_to - 1;
        }
    }
    if (value != 0) {
        out[__popc(kept & ((1u << lane) - 1))] = value;  // `before - 1` is missing
    }
}

// Launched with one block of 32 threads; stable but for the fault. One warp goes through the keys twice: it counts them
// by digit, then places them.
extern "C" __global__ void __launch_bounds__(WARP) sort_pass_unstable(const u32* in, u32* out, u32 shift, u32 n) {
    __shared__ u32 next[DIGITS];
    const u32 lane = threadIdx.x;
    for (u32 d = lane; d < DIGITS; d += WARP) {
        next[d] = 0;
    }
    __syncwarp();
    for (u64 i = lane; i < n; i += WARP) {
        atomicAdd(&next[in[i] >> shift & (DIGITS - 1)], 1u);
    }
    __syncwarp();
    if (lane == 0) {
        u32 before = 0;
        for (u32 d = 0; d < DIGITS; ++d) {
            const u32 count = next[d];
            next[d] = before;
            before += count;
        }
    }
    __syncwarp();
    for (u64 start = 0; start < n; start += WARP) {
        const u64 i = start + lane;
        const u32 active = __ballot_sync(ALL_LANES, i < n);
        if (i < n) {
            const u32 key = in[i];
            const u32 d = key >> shift & (DIGITS - 1);
            const u32 peers = __match_any_sync(active, d);
            const u32 higher_lanes = ~((2u << lane) - 1);
            const u32 rank = __popc(peers & higher_lanes);  // those of lower lanes come first in a stable pass
            const u32 base = next[d];
            __syncwarp(active);
            out[base + rank] = key;
            if (rank == 0) {
                next[d] = base + __popc(peers);
            }
        }
        __syncwarp();
    }
}
