// CUB's block-wide primitives, each in a kernel of one tile a block: out[i] from in[i] for 512 elements a block.
#include <cub/cub.cuh>

constexpr int THREADS = 128;
constexpr int ITEMS = 4;
constexpr int TILE = THREADS * ITEMS;

using Load = cub::BlockLoad<int, THREADS, ITEMS, cub::BLOCK_LOAD_TRANSPOSE>;
using Store = cub::BlockStore<int, THREADS, ITEMS, cub::BLOCK_STORE_WARP_TRANSPOSE>;

/// Calls `work(items, out of the block)` with the block's tile in a blocked arrangement, and stores `items`.
template <class Work>
__device__ void tile(const int* in, int* out, Work work) {
    __shared__ union {
        typename Load::TempStorage load;
        typename Store::TempStorage store;
    } shared;
    int items[ITEMS];
    Load(shared.load).Load(in + blockIdx.x * TILE, items);
    __syncthreads();
    work(items);
    __syncthreads();
    Store(shared.store).Store(out + blockIdx.x * TILE, items);
}

template <cub::BlockScanAlgorithm ALGORITHM>
__device__ void scan(const int* in, int* out) {
    using Scan = cub::BlockScan<int, THREADS, ALGORITHM>;
    __shared__ typename Scan::TempStorage shared;
    tile(in, out, [&](int (&items)[ITEMS]) { Scan(shared).ExclusiveSum(items, items); });
}

extern "C" __global__ void exclusive_sum_raking(const int* in, int* out) { scan<cub::BLOCK_SCAN_RAKING>(in, out); }
extern "C" __global__ void exclusive_sum_raking_memoize(const int* in, int* out) {
    scan<cub::BLOCK_SCAN_RAKING_MEMOIZE>(in, out);
}
extern "C" __global__ void exclusive_sum_warp_scans(const int* in, int* out) {
    scan<cub::BLOCK_SCAN_WARP_SCANS>(in, out);
}

struct Larger {
    template <class T>
    __device__ T operator()(T a, T b) const { return a > b ? a : b; }
};

extern "C" __global__ void inclusive_max(const int* in, int* out) {
    using Scan = cub::BlockScan<long long, THREADS>;
    __shared__ typename Scan::TempStorage shared;
    tile(in, out, [&](int (&items)[ITEMS]) {
        long long wide[ITEMS];
        for (int k = 0; k < ITEMS; k++) wide[k] = items[k];
        Scan(shared).InclusiveScan(wide, wide, Larger{});
        for (int k = 0; k < ITEMS; k++) items[k] = int(wide[k]);
    });
}

template <cub::BlockReduceAlgorithm ALGORITHM>
__device__ void reduce(const int* in, int* out) {
    using Reduce = cub::BlockReduce<int, THREADS, ALGORITHM>;
    __shared__ typename Reduce::TempStorage shared;
    __shared__ int sum, largest;
    tile(in, out, [&](int (&items)[ITEMS]) {
        int total = Reduce(shared).Sum(items);
        if (threadIdx.x == 0) sum = total;
        __syncthreads();
        int most = Reduce(shared).Reduce(items, Larger{});
        if (threadIdx.x == 0) largest = most;
        __syncthreads();
        for (int k = 0; k < ITEMS; k++) items[k] = k % 2 == 0 ? sum : largest;
    });
}

extern "C" __global__ void reduce_raking(const int* in, int* out) { reduce<cub::BLOCK_REDUCE_RAKING>(in, out); }
extern "C" __global__ void reduce_raking_commutative(const int* in, int* out) {
    reduce<cub::BLOCK_REDUCE_RAKING_COMMUTATIVE_ONLY>(in, out);
}
extern "C" __global__ void reduce_warp_reductions(const int* in, int* out) {
    reduce<cub::BLOCK_REDUCE_WARP_REDUCTIONS>(in, out);
}

extern "C" __global__ void radix_sort(const int* in, int* out) {
    using Sort = cub::BlockRadixSort<int, THREADS, ITEMS>;
    __shared__ typename Sort::TempStorage shared;
    tile(in, out, [&](int (&items)[ITEMS]) { Sort(shared).Sort(items); });
}

/// Positions in descending order of bits 2 to 6 of what stands there.
extern "C" __global__ void radix_sort_pairs(const int* in, int* out) {
    using Sort = cub::BlockRadixSort<unsigned, THREADS, ITEMS, int>;
    __shared__ typename Sort::TempStorage shared;
    tile(in, out, [&](int (&items)[ITEMS]) {
        unsigned keys[ITEMS];
        for (int k = 0; k < ITEMS; k++) {
            keys[k] = unsigned(items[k]);
            items[k] = int(threadIdx.x) * ITEMS + k;
        }
        Sort(shared).SortDescending(keys, items, 2, 7);
    });
}

/// Each element's place in ascending order of its lowest four bits.
extern "C" __global__ void radix_rank(const int* in, int* out) {
    using Rank = cub::BlockRadixRank<THREADS, 4, false>;
    __shared__ typename Rank::TempStorage shared;
    tile(in, out, [&](int (&items)[ITEMS]) {
        unsigned keys[ITEMS];
        for (int k = 0; k < ITEMS; k++) keys[k] = unsigned(items[k]);
        Rank(shared).RankKeys(keys, items, cub::BFEDigitExtractor<unsigned>(0, 4));
    });
}

/// Loads and stores 500 of 512 elements; -7 stands in for the others, which are not stored.
template <cub::BlockLoadAlgorithm LOAD, cub::BlockStoreAlgorithm STORE>
__device__ void guarded(const int* in, int* out) {
    using Loads = cub::BlockLoad<int, THREADS, ITEMS, LOAD>;
    using Stores = cub::BlockStore<int, THREADS, ITEMS, STORE>;
    __shared__ union {
        typename Loads::TempStorage load;
        typename Stores::TempStorage store;
    } shared;
    int items[ITEMS];
    Loads(shared.load).Load(in + blockIdx.x * TILE, items, TILE - 12, -7);
    for (int k = 0; k < ITEMS; k++) items[k] = 2 * items[k] + k;
    __syncthreads();
    Stores(shared.store).Store(out + blockIdx.x * TILE, items, TILE - 12);
}

extern "C" __global__ void load_direct(const int* in, int* out) {
    guarded<cub::BLOCK_LOAD_DIRECT, cub::BLOCK_STORE_DIRECT>(in, out);
}
extern "C" __global__ void load_vectorize(const int* in, int* out) {
    guarded<cub::BLOCK_LOAD_VECTORIZE, cub::BLOCK_STORE_VECTORIZE>(in, out);
}
extern "C" __global__ void load_transpose(const int* in, int* out) {
    guarded<cub::BLOCK_LOAD_TRANSPOSE, cub::BLOCK_STORE_TRANSPOSE>(in, out);
}
extern "C" __global__ void load_warp_transpose(const int* in, int* out) {
    guarded<cub::BLOCK_LOAD_WARP_TRANSPOSE, cub::BLOCK_STORE_WARP_TRANSPOSE>(in, out);
}
extern "C" __global__ void load_warp_transpose_timesliced(const int* in, int* out) {
    guarded<cub::BLOCK_LOAD_WARP_TRANSPOSE_TIMESLICED, cub::BLOCK_STORE_WARP_TRANSPOSE_TIMESLICED>(in, out);
}

extern "C" __global__ void exchange(const int* in, int* out) {
    using Exchange = cub::BlockExchange<int, THREADS, ITEMS>;
    __shared__ typename Exchange::TempStorage shared;
    tile(in, out, [&](int (&items)[ITEMS]) { Exchange(shared).BlockedToStriped(items, items); });
}

/// Reverses the tile.
extern "C" __global__ void exchange_scatter(const int* in, int* out) {
    using Exchange = cub::BlockExchange<int, THREADS, ITEMS>;
    __shared__ typename Exchange::TempStorage shared;
    tile(in, out, [&](int (&items)[ITEMS]) {
        int ranks[ITEMS];
        for (int k = 0; k < ITEMS; k++) ranks[k] = TILE - 1 - int(threadIdx.x) * ITEMS - k;
        Exchange(shared).ScatterToBlocked(items, items, ranks);
    });
}

/// How often the element's lowest six bits occur in the tile.
template <cub::BlockHistogramAlgorithm ALGORITHM>
__device__ void histogram(const int* in, int* out) {
    using Histogram = cub::BlockHistogram<unsigned char, THREADS, ITEMS, 64, ALGORITHM>;
    __shared__ typename Histogram::TempStorage shared;
    __shared__ int counts[64];
    tile(in, out, [&](int (&items)[ITEMS]) {
        unsigned char bins[ITEMS];
        for (int k = 0; k < ITEMS; k++) bins[k] = (unsigned char)(items[k] & 63);
        Histogram(shared).Histogram(bins, counts);
        __syncthreads();
        for (int k = 0; k < ITEMS; k++) items[k] = counts[items[k] & 63];
    });
}

extern "C" __global__ void histogram_atomic(const int* in, int* out) {
    histogram<cub::BLOCK_HISTO_ATOMIC>(in, out);
}
extern "C" __global__ void histogram_sort(const int* in, int* out) { histogram<cub::BLOCK_HISTO_SORT>(in, out); }

struct ByLowByte {
    __device__ bool operator()(int a, int b) const { return (a & 255) < (b & 255); }
};

/// Stable, by the lowest byte.
extern "C" __global__ void merge_sort(const int* in, int* out) {
    using Sort = cub::BlockMergeSort<int, THREADS, ITEMS>;
    __shared__ typename Sort::TempStorage shared;
    tile(in, out, [&](int (&items)[ITEMS]) { Sort(shared).StableSort(items, ByLowByte{}); });
}

struct OtherBits {
    __device__ bool operator()(int a, int b) const { return (a & 3) != (b & 3); }
};

/// 1 where a run of equal lowest two bits begins, plus 2 where one ends.
extern "C" __global__ void discontinuity(const int* in, int* out) {
    using Discontinuity = cub::BlockDiscontinuity<int, THREADS>;
    __shared__ typename Discontinuity::TempStorage shared;
    tile(in, out, [&](int (&items)[ITEMS]) {
        int heads[ITEMS], tails[ITEMS];
        Discontinuity(shared).FlagHeadsAndTails(heads, tails, items, OtherBits{});
        for (int k = 0; k < ITEMS; k++) items[k] = heads[k] + 2 * tails[k];
    });
}

struct Minus {
    __device__ int operator()(int a, int b) const { return a - b; }
};

extern "C" __global__ void adjacent_difference(const int* in, int* out) {
    using Difference = cub::BlockAdjacentDifference<int, THREADS>;
    __shared__ typename Difference::TempStorage shared;
    tile(in, out, [&](int (&items)[ITEMS]) { Difference(shared).SubtractLeft(items, items, Minus{}); });
}

/// Runs of (element & 7) + 1 copies of each element, of which the first 512 are kept.
extern "C" __global__ void run_length_decode(const int* in, int* out) {
    using Decode = cub::BlockRunLengthDecode<int, THREADS, ITEMS, ITEMS>;
    __shared__ typename Decode::TempStorage shared;
    tile(in, out, [&](int (&items)[ITEMS]) {
        int lengths[ITEMS], total;
        for (int k = 0; k < ITEMS; k++) lengths[k] = (items[k] & 7) + 1;
        Decode decode(shared, items, lengths, total);
        decode.RunLengthDecode(items, 0);
    });
}
