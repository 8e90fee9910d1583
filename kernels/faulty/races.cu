// Kernels whose results are right on nearly every run, and which are wrong all the same: only a detector shows it.
//
// Each kernel that lacks something stands beside one that has it.
//
// chained*:  a scan of tiles in one launch, each tile waiting for the one before it: without a fence before the flag or
//            after it, with fences that reach their own block only, with a flag that is no strong access
// shifted*:  shared memory read after another warp wrote it, without a barrier
// paired*:   shared memory read after another lane of the warp wrote it, without __syncwarp
// found:     every thread that finds something writes the same word, and the same value
// through*:  elements that other threads of the launch have written, read through the read-only cache
// chosen*:   shared memory that nothing wrote decides a branch, both sides of which do the same

using u32 = unsigned int;
using u64 = unsigned long long;

enum : u32 { BLOCK = 128, WARP = 32 };

__device__ __forceinline__ u32 first_index() { return blockIdx.x * BLOCK + threadIdx.x; }

// In assembly, so that the compiler neither moves nor merges them.
__device__ __forceinline__ u32 load(const u32* at) {
    u32 value;
    asm volatile("ld.global.u32 %0, [%1];" : "=r"(value) : "l"(at) : "memory");
    return value;
}

__device__ __forceinline__ void store(u32* at, u32 value) {
    asm volatile("st.global.u32 [%0], %1;" ::"l"(at), "r"(value) : "memory");
}

// Weak, though it looks past the first cache.
__device__ __forceinline__ u32 load_weak_flag(const u32* at) {
    u32 value;
    asm volatile("ld.global.cg.u32 %0, [%1];" : "=r"(value) : "l"(at) : "memory");
    return value;
}

enum Fence { NONE, IN_BLOCK, ON_DEVICE };

template <Fence fence>
__device__ __forceinline__ void order() {
    if (fence == IN_BLOCK) {
        __threadfence_block();
    } else if (fence == ON_DEVICE) {
        __threadfence();
    }
}

// Exclusive scan, a tile of BLOCK elements a block. `state` starts as zeros: the tile counter, then for each tile a
// flag and the sum up to its end.
template <Fence RELEASE, Fence ACQUIRE, bool STRONG>
__device__ __forceinline__ void scan_chained(const u32* in, u32* out, u32* state, u32 n) {
    __shared__ u32 values[BLOCK];
    __shared__ u32 tile;
    __shared__ u32 before;
    if (threadIdx.x == 0) {
        tile = atomicAdd(state, 1u);
    }
    __syncthreads();
    const u32 i = tile * BLOCK + threadIdx.x;
    values[threadIdx.x] = i < n ? in[i] : 0;
    __syncthreads();
    if (threadIdx.x == 0) {
        u32 total = 0;
        for (u32 at = 0; at < BLOCK; ++at) {
            const u32 value = values[at];
            values[at] = total;
            total += value;
        }
        u32* own = state + 1 + 2 * tile;
        u32 sum = 0;
        if (tile != 0) {
            const u32* flag = own - 2;
            while ((STRONG ? *reinterpret_cast<const volatile u32*>(flag) : load_weak_flag(flag)) == 0) {
            }
            order<ACQUIRE>();
            sum = load(flag + 1);
        }
        before = sum;
        store(own + 1, sum + total);
        order<RELEASE>();
        if (STRONG) {
            *reinterpret_cast<volatile u32*>(own) = 1;
        } else {
            store(own, 1);
        }
    }
    __syncthreads();
    if (i < n) {
        out[i] = before + values[threadIdx.x];
    }
}

#define CHAINED(name, RELEASE, ACQUIRE, STRONG)                                                          \
    extern "C" __global__ void __launch_bounds__(BLOCK) name(const u32* in, u32* out, u32* state, u32 n) { \
        scan_chained<RELEASE, ACQUIRE, STRONG>(in, out, state, n);                                         \
    }

CHAINED(chained, ON_DEVICE, ON_DEVICE, true)
CHAINED(chained_unreleased, NONE, ON_DEVICE, true)
CHAINED(chained_unacquired, ON_DEVICE, NONE, true)
CHAINED(chained_released_in_block, IN_BLOCK, ON_DEVICE, true)
CHAINED(chained_acquired_in_block, ON_DEVICE, IN_BLOCK, true)
CHAINED(chained_weak_flag, ON_DEVICE, ON_DEVICE, false)

// Each thread takes the element of the thread 32 before it, whose warp has most likely run. The length is a multiple of
// BLOCK.
template <bool BARRIER>
__device__ __forceinline__ void shift(const u32* in, u32* out, u32 n) {
    __shared__ u32 values[BLOCK];
    const u32 i = first_index();
    values[threadIdx.x] = i < n ? in[i] : 0;
    if (BARRIER) {
        __syncthreads();
    } else {
        __syncwarp();
    }
    const volatile u32* all = values;
    if (i < n) {
        out[i] = threadIdx.x < WARP ? in[i] : all[threadIdx.x - WARP];
    }
}

extern "C" __global__ void shifted(const u32* in, u32* out, u32 n) { shift<true>(in, out, n); }

extern "C" __global__ void shifted_without_barrier(const u32* in, u32* out, u32 n) { shift<false>(in, out, n); }

// Each thread takes the element of its neighbour, in whose warp it is.
template <bool SYNC>
__device__ __forceinline__ void pair(const u32* in, u32* out, u32 n) {
    __shared__ u32 values[BLOCK];
    const u32 i = first_index();
    values[threadIdx.x] = i < n ? in[i] : 0;
    if (SYNC) {
        __syncwarp();
    } else {
        asm volatile("" ::: "memory");
    }
    if (i < n) {
        out[i] = values[threadIdx.x ^ 1];
    }
}

extern "C" __global__ void paired(const u32* in, u32* out, u32 n) { pair<true>(in, out, n); }

extern "C" __global__ void paired_without_sync(const u32* in, u32* out, u32 n) { pair<false>(in, out, n); }

// found[0] = 1 if any element is odd; it starts as 0.
extern "C" __global__ void found(const u32* in, u32* found, u32 n) {
    const u32 i = first_index();
    if (i < n && in[i] & 1) {
        store(found, 1);
    }
}

// As `paired`, by way of global memory. The barrier is right; the read-only cache is not.
template <bool READ_ONLY>
__device__ __forceinline__ void pass(const u32* in, u32* between, u32* out, u32 n) {
    const u32 i = first_index();
    if (i < n) {
        store(between + i, in[i]);
    }
    __syncthreads();
    if (i < n) {
        out[i] = READ_ONLY ? __ldg(between + (i ^ 1)) : load(between + (i ^ 1));
    }
}

extern "C" __global__ void through(const u32* in, u32* between, u32* out, u32 n) { pass<false>(in, between, out, n); }

extern "C" __global__ void through_read_only(const u32* in, u32* between, u32* out, u32 n) {
    pass<true>(in, between, out, n);
}

// A copy.
template <bool WRITTEN>
__device__ __forceinline__ void choose(const u32* in, u32* out, u32 n) {
    __shared__ u32 flags[BLOCK];
    const u32 i = first_index();
    volatile u32* own = flags + threadIdx.x;
    if (WRITTEN) {
        *own = i;
    }
    if (i >= n) {
        return;
    }
    if (*own == 7) {
        store(out + i, load(in + i));
    } else {
        store(out + i, load(in + i) + 0 * n);
    }
}

extern "C" __global__ void chosen(const u32* in, u32* out, u32 n) { choose<true>(in, out, n); }

extern "C" __global__ void chosen_by_nothing(const u32* in, u32* out, u32 n) { choose<false>(in, out, n); }
