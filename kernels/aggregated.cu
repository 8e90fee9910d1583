// Compaction by one atomic counter, one addition a warp instead of one a survivor.
//
// A warp counts the survivors of its 32 rows of 32 elements by ballots, takes that many slots at once and writes each
// row's survivors side by side. Within a warp's slots the order is the input's; among warps it is undefined. `count`
// is zero before the launch. Lengths are 32-bit; indices are 64-bit.

using u32 = unsigned int;
using u64 = unsigned long long;

enum : u32 { WARP = 32, ROWS = 32, ALL_LANES = 0xffffffff };

// Whole warps, at most 256 threads a block; the grid covers `n` with 32 elements a thread.
extern "C" __global__ void __launch_bounds__(256) compact_aggregated(const int* in, int* out, u32* count, u32 n) {
    const u32 lane = threadIdx.x % WARP;
    const u64 warp = (static_cast<u64>(blockIdx.x) * blockDim.x + threadIdx.x) / WARP;
    const u64 first = warp * (WARP * ROWS) + lane;

    int values[ROWS];
#pragma unroll
    for (u32 row = 0; row < ROWS; ++row) {
        const u64 i = first + row * WARP;
        values[row] = i < n ? __ldcs(in + i) : 0;
    }

    u32 survivors = 0;
#pragma unroll
    for (u32 row = 0; row < ROWS; ++row) {
        survivors += __popc(__ballot_sync(ALL_LANES, values[row] != 0));
    }
    u32 slot = 0;
    if (lane == 0 && survivors != 0) {
        slot = atomicAdd(count, survivors);
    }
    slot = __shfl_sync(ALL_LANES, slot, 0);

    const u32 lower_lanes = (1u << lane) - 1;
#pragma unroll
    for (u32 row = 0; row < ROWS; ++row) {
        const u32 kept = __ballot_sync(ALL_LANES, values[row] != 0);
        if (values[row] != 0) {
            out[static_cast<u64>(slot) + __popc(kept & lower_lanes)] = values[row];
        }
        slot += __popc(kept);
    }
}
