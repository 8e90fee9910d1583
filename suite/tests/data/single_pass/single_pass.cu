// Kernels whose blocks wait for each other, as the simulator's tests run them: scans with decoupled look-back, a radix
// pass, a persistent grid; and warp-aggregated atomics. nvrtc11.ptx and nvcc13.ptx are made of this file for sm_75, by
// NVRTC 11.8 and nvcc 13.0.

typedef unsigned int u32;
typedef unsigned long long u64;

#define FULL 0xffffffffu
#define THREADS 128
#define ITEMS 4
#define TILE (THREADS * ITEMS)

#define AGGREGATE (1ull << 62)
#define INCLUSIVE (2ull << 62)
#define VALUE 0xffffffffull

__device__ __forceinline__ u64 look(const u64 *p)
{
    u64 v;
    asm volatile("ld.relaxed.gpu.global.u64 %0, [%1];" : "=l"(v) : "l"(p) : "memory");
    return v;
}

__device__ __forceinline__ void post(u64 *p, u64 v)
{
    asm volatile("st.relaxed.gpu.global.u64 [%0], %1;" :: "l"(p), "l"(v) : "memory");
}

__device__ __forceinline__ u32 warp_scan(u32 v, u32 lane)
{
    for (u32 d = 1; d < 32; d <<= 1) {
        u32 other = __shfl_up_sync(FULL, v, d);
        v += lane >= d ? other : 0;
    }
    return v;
}

// Inclusive scan over the block; the total to every thread.
__device__ __forceinline__ u32 block_scan(u32 v, u32 *warps, u32 &total)
{
    u32 lane = threadIdx.x % 32, warp = threadIdx.x / 32;
    u32 sum = warp_scan(v, lane);
    if (lane == 31)
        warps[warp] = sum;
    __syncthreads();
    u32 before = 0;
    total = 0;
    for (u32 w = 0; w < THREADS / 32; ++w) {
        before += w < warp ? warps[w] : 0;
        total += warps[w];
    }
    __syncthreads();
    return before + sum;
}

// One warp looks back over 32 predecessors at a time.
__device__ u32 look_back(u64 *state, u32 tile, u32 total)
{
    u32 lane = threadIdx.x % 32;
    if (tile == 0) {
        if (lane == 0)
            post(state, INCLUSIVE | total);
        return 0;
    }
    if (lane == 0)
        post(state + tile, AGGREGATE | total);
    u32 before = 0;
    int end = (int)tile - 1;
    while (true) {
        int at = end - (int)lane;
        u64 seen = INCLUSIVE;
        do {
            if (at >= 0)
                seen = look(state + at);
        } while (__any_sync(FULL, seen >> 62 == 0));
        u32 done = __ballot_sync(FULL, seen >> 62 == 2);
        u32 last = done ? __ffs(done) - 1 : 31;
        u32 sum = lane <= last ? (u32)(seen & VALUE) : 0;
        for (int d = 16; d > 0; d >>= 1)
            sum += __shfl_xor_sync(FULL, sum, d);
        before += sum;
        if (done)
            break;
        end -= 32;
    }
    if (lane == 0)
        post(state + tile, INCLUSIVE | (before + total));
    return before;
}

// Exclusive scan, one pass. `order` takes, for each block, the tile it got.
extern "C" __global__ void scan_lookback(const u32 *in, u32 *out, u64 *state, u32 *counter, u32 *order, int n)
{
    __shared__ u32 warps[THREADS / 32];
    __shared__ u32 tile_shared, before_shared;
    if (threadIdx.x == 0) {
        tile_shared = atomicAdd(counter, 1);
        order[blockIdx.x] = tile_shared;
    }
    __syncthreads();
    u32 tile = tile_shared;
    int base = tile * TILE + threadIdx.x * ITEMS;
    u32 items[ITEMS], sum = 0;
    for (int i = 0; i < ITEMS; ++i) {
        items[i] = base + i < n ? in[base + i] : 0;
        sum += items[i];
    }
    u32 total;
    u32 inclusive = block_scan(sum, warps, total);
    if (threadIdx.x < 32) {
        u32 before = look_back(state, tile, total);
        if (threadIdx.x == 0)
            before_shared = before;
    }
    __syncthreads();
    u32 running = before_shared + inclusive - sum;
    for (int i = 0; i < ITEMS; ++i) {
        if (base + i < n)
            out[base + i] = running;
        running += items[i];
    }
}

struct __align__(16) Descriptor { u32 status, value, check, unused; };

// The same with one thread that looks back through 16-byte descriptors.
extern "C" __global__ void scan_wide(const u32 *in, u32 *out, Descriptor *state, u32 *counter, int n)
{
    __shared__ u32 warps[THREADS / 32];
    __shared__ u32 tile_shared, before_shared;
    if (threadIdx.x == 0)
        tile_shared = atomicAdd(counter, 1);
    __syncthreads();
    u32 tile = tile_shared;
    int at = tile * THREADS + threadIdx.x;
    u32 v = at < n ? in[at] : 0, total;
    u32 inclusive = block_scan(v, warps, total);
    if (threadIdx.x == 0) {
        Descriptor *mine = state + tile;
        asm volatile("st.relaxed.gpu.global.v4.u32 [%0], {%1, %2, %3, %4};"
                     :: "l"(mine), "r"(tile ? 1 : 2), "r"(total), "r"(~total), "r"(0) : "memory");
        u32 before = 0;
        for (int look = (int)tile - 1; look >= 0; --look) {
            u32 status, value, check;
            do {
                asm volatile("{ .reg .u32 rest; ld.relaxed.gpu.global.v4.u32 {%0, %1, %2, rest}, [%3]; }"
                             : "=r"(status), "=r"(value), "=r"(check) : "l"(state + look) : "memory");
                if (status == 0)
                    __nanosleep(20);
            } while (status == 0);
            if (check != ~value)
                __trap();
            before += value;
            if (status == 2)
                break;
        }
        if (tile)
            asm volatile("st.relaxed.gpu.global.v4.u32 [%0], {%1, %2, %3, %4};"
                         :: "l"(mine), "r"(2), "r"(before + total), "r"(~(before + total)), "r"(0) : "memory");
        before_shared = before;
    }
    __syncthreads();
    if (at < n)
        out[at] = before_shared + inclusive - v;
}

// Stable counting-sort pass over 4-bit digits in one block per tile; digits looked back one by one.
extern "C" __global__ void radix_pass(const u32 *in, u32 *out, const u32 *starts, u64 *state, u32 *counter, u32 shift,
                                      int n)
{
    __shared__ u32 counts[THREADS / 32][16];
    __shared__ u32 digit_start[16];
    __shared__ u32 tile_shared;
    u32 lane = threadIdx.x % 32, warp = threadIdx.x / 32;
    if (threadIdx.x == 0)
        tile_shared = atomicAdd(counter, 1);
    for (u32 i = threadIdx.x; i < THREADS / 32 * 16; i += THREADS)
        ((u32 *)counts)[i] = 0;
    __syncthreads();
    u32 tile = tile_shared;
    u32 keys[ITEMS], ranks[ITEMS];
    for (int i = 0; i < ITEMS; ++i) {
        int at = tile * TILE + warp * 32 * ITEMS + i * 32 + lane;
        u32 key = at < n ? in[at] : FULL;
        u32 digit = at < n ? key >> shift & 15 : 16;
        u32 peers = __match_any_sync(FULL, digit);
        u32 leader = __ffs(peers) - 1;
        u32 below = __popc(peers & ((1u << lane) - 1));
        u32 before = 0;
        if (lane == leader && digit < 16)
            before = atomicAdd(&counts[warp][digit], __popc(peers));
        before = __shfl_sync(FULL, before, leader);
        keys[i] = key;
        ranks[i] = before + below;
        __syncwarp();
    }
    __syncthreads();
    if (threadIdx.x < 16) {
        u32 digit = threadIdx.x, total = 0;
        for (u32 w = 0; w < THREADS / 32; ++w) {
            u32 count = counts[w][digit];
            counts[w][digit] = total;
            total += count;
        }
        volatile u64 *column = state + digit;
        column[16 * tile] = (tile ? AGGREGATE : INCLUSIVE) | total;
        u32 before = 0;
        for (int look = (int)tile - 1; look >= 0; --look) {
            u64 seen;
            while ((seen = column[16 * look]) >> 62 == 0)
                ;
            before += (u32)(seen & VALUE);
            if (seen >> 62 == 2)
                break;
        }
        if (tile)
            column[16 * tile] = INCLUSIVE | (before + total);
        digit_start[digit] = starts[digit] + before;
    }
    __syncthreads();
    for (int i = 0; i < ITEMS; ++i) {
        int at = tile * TILE + warp * 32 * ITEMS + i * 32 + lane;
        u32 digit = keys[i] >> shift & 15;
        if (at < n)
            out[digit_start[digit] + counts[warp][digit] + ranks[i]] = keys[i];
    }
}

// Digit counts: shared atomics, aggregated by warp.
extern "C" __global__ void histogram(const u32 *in, u32 *counts, u32 shift, int n)
{
    __shared__ u32 mine[16];
    if (threadIdx.x < 16)
        mine[threadIdx.x] = 0;
    __syncthreads();
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) {
        u32 digit = in[i] >> shift & 15;
        u32 active = __activemask();
        u32 peers = __match_any_sync(active, digit);
        if (threadIdx.x % 32 == __ffs(peers) - 1)
            atomicAdd(&mine[digit], __popc(peers));
    }
    __syncthreads();
    if (threadIdx.x < 16)
        atomicAdd(counts + threadIdx.x, mine[threadIdx.x]);
}

// Resident blocks take tiles until there are none, and wait for each other once at a grid barrier.
extern "C" __global__ void persistent_sum(const u32 *in, u32 *sums, u32 *counter, u32 *barrier, u32 *out, int n)
{
    __shared__ u32 tile_shared;
    __shared__ u32 warps[THREADS / 32];
    u32 sum = 0;
    while (true) {
        if (threadIdx.x == 0)
            tile_shared = atomicAdd(counter, 1);
        __syncthreads();
        int at = tile_shared * THREADS + threadIdx.x;
        if (tile_shared * THREADS >= n)
            break;
        sum += at < n ? in[at] : 0;
        __syncthreads();
    }
    __syncthreads();
    u32 total;
    block_scan(sum, warps, total);
    if (threadIdx.x == 0) {
        sums[blockIdx.x] = total;
        __threadfence();
        atomicAdd(barrier, 1);
        while (atomicAdd(barrier, 0) < gridDim.x)
            ;
        __threadfence();
        u32 all = 0;
        for (u32 b = 0; b < gridDim.x; ++b)
            all += ((volatile u32 *)sums)[b];
        out[blockIdx.x] = all;
    }
}

// Every lane appends its survivors with one atomic for those of its warp that have one.
extern "C" __global__ void aggregated(const u32 *in, u32 *out, u32 *count, int n)
{
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) {
        u32 v = in[i];
        if (v % 3) {
            u32 active = __activemask();
            u32 leader = __ffs(active) - 1, lane = threadIdx.x % 32;
            u32 at = 0;
            if (lane == leader)
                at = atomicAdd(count, __popc(active));
            at = __shfl_sync(active, at, leader) + __popc(active & ((1u << lane) - 1));
            out[at] = v;
        }
    }
}

// Block `b` leaves only when all those after it have.
extern "C" __global__ void last_first(u32 *left, u32 *order)
{
    if (threadIdx.x == 0) {
        u32 seen;
        do
            asm volatile("ld.acquire.gpu.u32 %0, [%1];" : "=r"(seen) : "l"(left) : "memory");
        while (seen != gridDim.x - 1 - blockIdx.x);
        order[seen] = blockIdx.x;
        __threadfence();
        asm volatile("red.release.gpu.global.add.u32 [%0], 1;" :: "l"(left) : "memory");
    }
}
