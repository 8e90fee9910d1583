// CUB's warp-wide primitives in blocks of two warps: out[i] from in[i], an element a thread or four.
#include <cub/cub.cuh>

constexpr int THREADS = 64;

struct Larger {
    __device__ int operator()(int a, int b) const { return a > b ? a : b; }
};

template <int LANES>
__device__ void scan(const int* in, int* out) {
    using Scan = cub::WarpScan<int, LANES>;
    __shared__ typename Scan::TempStorage shared[THREADS / LANES];
    int at = blockIdx.x * THREADS + threadIdx.x, sum, largest;
    Scan(shared[threadIdx.x / LANES]).ExclusiveSum(in[at], sum);
    __syncwarp();
    Scan(shared[threadIdx.x / LANES]).InclusiveScan(in[at], largest, Larger{});
    out[at] = sum ^ largest;
}

extern "C" __global__ void warp_scan_32(const int* in, int* out) { scan<32>(in, out); }
extern "C" __global__ void warp_scan_8(const int* in, int* out) { scan<8>(in, out); }

/// Lane 0 of each logical warp stores; the others store 0.
template <int LANES>
__device__ void reduce(const int* in, int* out) {
    using Reduce = cub::WarpReduce<int, LANES>;
    __shared__ typename Reduce::TempStorage shared[THREADS / LANES];
    int at = blockIdx.x * THREADS + threadIdx.x;
    int sum = Reduce(shared[threadIdx.x / LANES]).Sum(in[at]);
    __syncwarp();
    int largest = Reduce(shared[threadIdx.x / LANES]).Reduce(in[at], Larger{});
    out[at] = threadIdx.x % LANES == 0 ? sum ^ largest : 0;
}

extern "C" __global__ void warp_reduce_32(const int* in, int* out) { reduce<32>(in, out); }
extern "C" __global__ void warp_reduce_16(const int* in, int* out) { reduce<16>(in, out); }
extern "C" __global__ void warp_reduce_5(const int* in, int* out) {
    // No power of two goes through shared memory.
    using Reduce = cub::WarpReduce<int, 5>;
    __shared__ typename Reduce::TempStorage shared[2];
    int at = blockIdx.x * THREADS + threadIdx.x, lane = threadIdx.x % 32;
    out[at] = 0;
    if (lane < 5) {
        int sum = Reduce(shared[threadIdx.x / 32]).Sum(in[at]);
        if (lane == 0) out[at] = sum;
    }
}

/// Runs of equal elements modulo 8 summed up at their heads.
extern "C" __global__ void warp_segmented_sum(const int* in, int* out) {
    using Reduce = cub::WarpReduce<int>;
    __shared__ typename Reduce::TempStorage shared[THREADS / 32];
    int at = blockIdx.x * THREADS + threadIdx.x, lane = threadIdx.x % 32;
    int head = lane == 0 || (in[at] & 1) != (in[at - 1] & 1);
    int sum = Reduce(shared[threadIdx.x / 32]).HeadSegmentedSum(in[at], head);
    out[at] = head ? sum : 0;
}

constexpr int ITEMS = 4;

/// Four elements a thread, blocked to striped over 16 lanes.
extern "C" __global__ void warp_exchange(const int* in, int* out) {
    using Exchange = cub::WarpExchange<int, ITEMS, 16>;
    __shared__ typename Exchange::TempStorage shared[THREADS / 16];
    int first = (blockIdx.x * THREADS + threadIdx.x) * ITEMS, items[ITEMS];
    for (int k = 0; k < ITEMS; k++) items[k] = in[first + k];
    Exchange(shared[threadIdx.x / 16]).BlockedToStriped(items, items);
    for (int k = 0; k < ITEMS; k++) out[first + k] = items[k];
}

struct Less {
    __device__ bool operator()(int a, int b) const { return a < b; }
};

/// Sorts the 128 elements of each warp.
extern "C" __global__ void warp_merge_sort(const int* in, int* out) {
    using Sort = cub::WarpMergeSort<int, ITEMS>;
    __shared__ typename Sort::TempStorage shared[THREADS / 32];
    int first = (blockIdx.x * THREADS + threadIdx.x) * ITEMS, items[ITEMS];
    for (int k = 0; k < ITEMS; k++) items[k] = in[first + k];
    Sort(shared[threadIdx.x / 32]).Sort(items, Less{});
    for (int k = 0; k < ITEMS; k++) out[first + k] = items[k];
}
