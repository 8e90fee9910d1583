// Look-back with one fault each, both of which most runs on a card hide.
//
// scan_unfenced:     as lookback_wide.cu, but no fence between a tile's sum and its status: a block may see the status
//                    and read a sum that is not there yet: a race
// scan_block_order:  as lookback_wide.cu, but the tile is the block's index: where a later block runs before an earlier
//                    one has a place, it waits for ever

using u32 = unsigned int;
using u64 = unsigned long long;

enum : u32 { WARP = 32, MAX_WARPS = 32, ITEMS = 8, ALL_LANES = 0xffffffff };

// A tile's status; 0 is not yet published.
enum : u64 { OWN = 1, UP_TO = 2 };

__device__ __forceinline__ u64 inclusive_sum(u64 value, u32 lane) {
#pragma unroll
    for (u32 reach = 1; reach < WARP; reach *= 2) {
        const u64 left = __shfl_up_sync(ALL_LANES, value, reach);
        value += lane >= reach ? left : 0;
    }
    return value;
}

template <bool FENCED>
__device__ __forceinline__ void publish(u64* tile, u64 status, u64 sum) {
    tile[status] = sum;
    if (FENCED) {
        __threadfence();
    }
    *static_cast<volatile u64*>(tile) = status;
}

template <bool FENCED>
__device__ __forceinline__ u64 look_back(u64* tiles, u32 tile, u32 lane) {
    u64 sum = 0;
    for (long long at = static_cast<long long>(tile) - 1 - lane;; at -= WARP) {
        u64 status;
        u32 complete;
        u32 nearest;  // lanes up to the first with everything
        do {
            status = at >= 0 ? *static_cast<volatile u64*>(tiles + 3 * at) : static_cast<u64>(UP_TO);
            complete = __ballot_sync(ALL_LANES, status == UP_TO);
            nearest = complete ^ (complete - 1);
        } while ((__ballot_sync(ALL_LANES, status == 0) & nearest) != 0);
        if (FENCED) {
            __threadfence();
        }
        u64 part = nearest >> lane & 1 && at >= 0 ? tiles[3 * at + status] : 0;
        part = inclusive_sum(part, lane);
        sum += __shfl_sync(ALL_LANES, part, WARP - 1);
        if (complete != 0) {
            return sum;
        }
    }
}

template <bool FENCED, bool COUNTED>
__device__ __forceinline__ void scan(const u64* in, u64* out, u64* state, u32 n) {
    __shared__ u64 warp_sums[MAX_WARPS];
    __shared__ u64 before_warp[MAX_WARPS];
    __shared__ u32 taken;
    const u32 lane = threadIdx.x % WARP;
    const u32 warp = threadIdx.x / WARP;
    const u32 warps = blockDim.x / WARP;
    if (threadIdx.x == 0) {
        taken = COUNTED ? atomicAdd(reinterpret_cast<u32*>(state), 1u) : blockIdx.x;
    }
    __syncthreads();
    const u32 tile = taken;
    const u64 first = (static_cast<u64>(tile) * blockDim.x + warp * WARP) * ITEMS + lane;

    // A warp has consecutive elements, in rows of 32; each becomes the sum of its warp's before it.
    u64 values[ITEMS];
    u64 total = 0;
#pragma unroll
    for (u32 row = 0; row < ITEMS; ++row) {
        const u64 i = first + row * WARP;
        values[row] = i < n ? in[i] : 0;
        const u64 up_to = inclusive_sum(values[row], lane);
        values[row] = total + up_to - values[row];
        total += __shfl_sync(ALL_LANES, up_to, WARP - 1);
    }
    if (lane == 0) {
        warp_sums[warp] = total;
    }
    __syncthreads();
    if (warp == 0) {
        u64* tiles = state + 1;
        const u64 sum = lane < warps ? warp_sums[lane] : 0;
        const u64 up_to = inclusive_sum(sum, lane);
        const u64 tile_sum = __shfl_sync(ALL_LANES, up_to, WARP - 1);
        if (lane == 0) {
            publish<FENCED>(tiles + 3 * static_cast<u64>(tile), tile == 0 ? UP_TO : OWN, tile_sum);
        }
        u64 base = 0;
        if (tile != 0) {
            base = look_back<FENCED>(tiles, tile, lane);
            if (lane == 0) {
                publish<FENCED>(tiles + 3 * static_cast<u64>(tile), UP_TO, base + tile_sum);
            }
        }
        before_warp[lane] = base + up_to - sum;
    }
    __syncthreads();
    const u64 before = before_warp[warp];
#pragma unroll
    for (u32 row = 0; row < ITEMS; ++row) {
        const u64 i = first + row * WARP;
        if (i < n) {
            out[i] = values[row] + before;
        }
    }
}

extern "C" __global__ void __launch_bounds__(1024) scan_unfenced(const u64* in, u64* out, u64* state, u32 n) {
    scan<false, true>(in, out, state, n);
}

extern "C" __global__ void __launch_bounds__(1024) scan_block_order(const u64* in, u64* out, u64* state, u32 n) {
    scan<true, false>(in, out, state, n);
}
