// Radix sort of 32-bit keys, least significant digit first, eight bits a pass: one read of the keys for all passes'
// histograms, then one read and one write of the keys a pass.
//
// Adinets and Merrill, "Onesweep: A Faster Least Significant Digit Radix Sort for GPUs" (2022). Each pass is a stable
// partition by digit in one launch: a block takes the next tile from a counter, ranks its keys, publishes its number
// of keys of each digit and looks back for each digit's number in the tiles before (see lookback.cu).

using u32 = unsigned int;
using u64 = unsigned long long;

enum : u32 { WARP = 32, DIGITS = 256, DIGIT_BITS = 8, PASSES = 4, ALL_LANES = 0xffffffff };

// The launch shape of `sort_pass`: a tile is 512 x 20 keys. They fill 64 registers a thread and 40 KiB of shared
// memory, so that two blocks share a multiprocessor.
enum : u32 { THREADS = 512, WARPS = THREADS / WARP, KEYS = 20, TILE = THREADS * KEYS };

static_assert(2 * WARPS * DIGITS <= TILE, "counts and holders lie where the tile's keys do later");
static_assert(TILE <= 0xffff, "a place in the tile is half a word");

// A descriptor's status: its two upper bits; 0 is not yet published. OWN: the tile's own keys of the digit. UP_TO:
// those of all tiles up to it. The count has the other 30 bits: at most 2^30 - 1 keys are sorted.
enum : u32 { OWN = 1u << 30, UP_TO = 2u << 30, COUNT = OWN - 1 };

// Descriptors read at once by a look-back; keys in a cache line.
enum : u32 { WINDOW = 4, LINE = 32 };

__device__ __forceinline__ u32 digit(u32 key, u32 shift) {
    return key >> shift & (DIGITS - 1);
}

__device__ __forceinline__ u32 load_descriptor(const u32* at) {
    u32 word;
    asm volatile("ld.relaxed.gpu.global.u32 %0, [%1];" : "=r"(word) : "l"(at) : "memory");
    return word;
}

__device__ __forceinline__ void publish(u32* at, u32 word) {
    asm volatile("st.relaxed.gpu.global.u32 [%0], %1;" ::"l"(at), "r"(word) : "memory");
}

__device__ __forceinline__ u32 inclusive_sum(u32 value, u32 lane) {
#pragma unroll
    for (u32 reach = 1; reach < WARP; reach *= 2) {
        const u32 left = __shfl_up_sync(ALL_LANES, value, reach);
        value += lane >= reach ? left : 0;
    }
    return value;
}

// counts[pass][digit] += the keys whose digit of that pass it is. Any grid of 512 threads a block; `counts` (4 x 256)
// is zero before the launch, `keys` 16-byte aligned.
extern "C" __global__ void __launch_bounds__(512) count_digits(const u32* keys, u32* counts, u32 n) {
    enum : u32 { VECTORS = 4 };
    __shared__ u32 block_counts[PASSES * DIGITS];
    for (u32 i = threadIdx.x; i < PASSES * DIGITS; i += blockDim.x) {
        block_counts[i] = 0;
    }
    __syncthreads();

    auto count = [&](u32 key) {
#pragma unroll
        for (u32 pass = 0; pass < PASSES; ++pass) {
            atomicAdd(&block_counts[pass * DIGITS + digit(key, pass * DIGIT_BITS)], 1u);
        }
    };
    const u64 chunk = static_cast<u64>(blockDim.x) * 4 * VECTORS;
    for (u64 start = blockIdx.x * chunk; start < n; start += gridDim.x * chunk) {
        if (start + chunk <= n) {
            uint4 vectors[VECTORS];
#pragma unroll
            for (u32 v = 0; v < VECTORS; ++v) {
                vectors[v] = __ldcs(reinterpret_cast<const uint4*>(keys + start) + v * blockDim.x + threadIdx.x);
            }
#pragma unroll
            for (u32 v = 0; v < VECTORS; ++v) {
                count(vectors[v].x);
                count(vectors[v].y);
                count(vectors[v].z);
                count(vectors[v].w);
            }
        } else {
            for (u64 i = start + threadIdx.x; i < n; i += blockDim.x) {
                count(keys[i]);
            }
        }
    }
    __syncthreads();
    for (u32 i = threadIdx.x; i < PASSES * DIGITS; i += blockDim.x) {
        if (block_counts[i] != 0) {
            atomicAdd(&counts[i], block_counts[i]);
        }
    }
}

// The sum of `count` over the threads before this one, of the block's first 256, each of which has a digit. All threads
// of the block take part; `sums` is scratch.
__device__ __forceinline__ u32 sum_of_lower_digits(u32 count, u32* sums) {
    const u32 lane = threadIdx.x % WARP;
    const u32 warp = threadIdx.x / WARP;
    const u32 up_to = inclusive_sum(count, lane);
    if (lane == WARP - 1 && warp < DIGITS / WARP) {
        sums[warp] = up_to;
    }
    __syncthreads();
    u32 before = 0;
    for (u32 w = 0; w < warp && w < DIGITS / WARP; ++w) {
        before += sums[w];
    }
    return before + up_to - count;
}

// Each pass' counts to the place of each digit's first key, in place. 4 blocks of 256 threads.
extern "C" __global__ void __launch_bounds__(256) place_digits(u32* counts) {
    __shared__ u32 sums[DIGITS / WARP];
    u32* count = counts + blockIdx.x * DIGITS + threadIdx.x;
    *count = sum_of_lower_digits(*count, sums);
}

// This digit's keys in all tiles before `tile` (not 0). One thread a digit; a warp's reads are side by side.
__device__ __forceinline__ u32 look_back(const u32* descriptors, u32 tile, u32 digit) {
    u32 sum = 0;
    u32 next = tile;  // tiles from here on are in the sum
    while (true) {
        u32 words[WINDOW];
#pragma unroll
        for (u32 w = 0; w < WINDOW; ++w) {
            words[w] = next > w ? load_descriptor(descriptors + static_cast<u64>(next - 1 - w) * DIGITS + digit) : 0;
        }
#pragma unroll
        for (u32 w = 0; w < WINDOW; ++w) {
            if (words[w] == 0) {
                break;  // not published: read again from here
            }
            sum += words[w] & COUNT;
            next -= 1;
            if ((words[w] & UP_TO) != 0) {
                return sum;
            }
        }
    }
}

// Sorts by the digit at `shift`, stably. `places` are the pass' 256 of `place_digits`. `state[0]` counts tiles taken,
// the descriptors follow from state[DIGITS], 256 a tile; all are zero before the launch. A block a tile, 512 threads.
// `ahead`: how many tiles on to bring to the L2 cache, 0 for none.
extern "C" __global__ void __launch_bounds__(THREADS, 2)
sort_pass(const u32* in, u32* out, const u32* places, u32* state, u32 shift, u32 ahead, u32 n) {
    // While keys are ranked: each warp's count of each digit so far, and the lanes that hold the digit in this step.
    // Afterwards: the tile's keys in order.
    __shared__ u32 shared[TILE];
    u32(*counts)[DIGITS] = reinterpret_cast<u32(*)[DIGITS]>(shared);
    u32(*holders)[DIGITS] = reinterpret_cast<u32(*)[DIGITS]>(shared + WARPS * DIGITS);
    __shared__ u32 to_global[DIGITS];  // place in the output less place in the tile
    __shared__ u32 sums[DIGITS / WARP];
    __shared__ u32 taken;
    const u32 lane = threadIdx.x % WARP;
    const u32 warp = threadIdx.x / WARP;

    if (threadIdx.x == 0) {
        taken = atomicAdd(state, 1u);
    }
    for (u32 d = lane; d < DIGITS; d += WARP) {
        counts[warp][d] = 0;
        holders[warp][d] = 0;
    }
    __syncthreads();
    const u32 tile = taken;
    const u64 tile_start = static_cast<u64>(tile) * TILE;
    const u32 len = n - tile_start < TILE ? static_cast<u32>(n - tile_start) : TILE;

    // A warp has consecutive keys, in steps of 32. Those past the end of a last tile count as the highest digit: they
    // rank behind all others, no tile follows that would read their count, and they are not written.
    u32 keys[KEYS];
    const u32 first = warp * (WARP * KEYS) + lane;
#pragma unroll
    for (u32 k = 0; k < KEYS; ++k) {
        const u32 i = first + k * WARP;
        keys[k] = i < len ? __ldcs(in + tile_start + i) : ALL_LANES;
    }

    const u64 next = tile_start + static_cast<u64>(ahead) * TILE;
    for (u32 i = threadIdx.x * LINE; i < TILE && ahead != 0; i += THREADS * LINE) {
        if (next + i < n) {
            asm volatile("prefetch.global.L2 [%0];" ::"l"(in + next + i));
        }
    }

    u32 ranks[KEYS / 2];  // among the warp's keys of the same digit; two a word, so that nothing spills
    const u32 lower_lanes = (1u << lane) - 1;
#pragma unroll
    for (u32 k = 0; k < KEYS; ++k) {
        const u32 d = digit(keys[k], shift);
        atomicOr(&holders[warp][d], 1u << lane);
        __syncwarp();
        const u32 peers = holders[warp][d];
        const u32 counted = counts[warp][d];
        const u32 lower = __popc(peers & lower_lanes);
        const u32 rank = counted + lower;
        ranks[k / 2] = k % 2 == 0 ? rank : ranks[k / 2] | rank << 16;
        __syncwarp();
        if (lower == 0) {
            counts[warp][d] = counted + __popc(peers);
            holders[warp][d] = 0;
        }
        __syncwarp();
    }
    __syncthreads();

    const u32 d = threadIdx.x;
    u32 in_tile = 0;
    if (d < DIGITS) {
#pragma unroll
        for (u32 w = 0; w < WARPS; ++w) {
            in_tile += counts[w][d];
        }
        publish(state + (static_cast<u64>(tile) + 1) * DIGITS + d, (tile == 0 ? UP_TO : OWN) | in_tile);
    }
    const u32 lower_digits = sum_of_lower_digits(in_tile, sums);
    if (d < DIGITS) {
        u32 first_of_warp = lower_digits;
#pragma unroll
        for (u32 w = 0; w < WARPS; ++w) {
            const u32 count = counts[w][d];
            counts[w][d] = first_of_warp;
            first_of_warp += count;
        }
    }
    __syncthreads();
#pragma unroll
    for (u32 k = 0; k < KEYS; ++k) {  // from here on: in the tile
        ranks[k / 2] += counts[warp][digit(keys[k], shift)] << 16 * (k % 2);
    }
    __syncthreads();
#pragma unroll
    for (u32 k = 0; k < KEYS; ++k) {
        shared[ranks[k / 2] >> 16 * (k % 2) & 0xffff] = keys[k];
    }
    if (d < DIGITS) {
        u32 before = 0;
        if (tile != 0) {
            before = look_back(state + DIGITS, tile, d);
            publish(state + (static_cast<u64>(tile) + 1) * DIGITS + d, UP_TO | (before + in_tile));
        }
        to_global[d] = places[d] + before - lower_digits;
    }
    __syncthreads();
    for (u32 i = threadIdx.x; i < len; i += THREADS) {
        const u32 key = shared[i];
        out[to_global[digit(key, shift)] + i] = key;
    }
}
