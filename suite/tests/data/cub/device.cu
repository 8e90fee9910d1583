// CUB's device-wide algorithms: all their kernels, for decoding alone. What they are launched with is decided by host
// code.
#include <cub/cub.cuh>
#include <cuda/functional>
#include <cstdint>

struct Pair {
    int key;
    float value;
};

struct Some {
    template <class T>
    __host__ __device__ bool operator()(T v) const { return v > T(3); }
};

struct Less {
    template <class T>
    __host__ __device__ bool operator()(T a, T b) const { return a < b; }
    __host__ __device__ bool operator()(Pair a, Pair b) const { return a.key < b.key; }
};

struct Add {
    __host__ __device__ Pair operator()(Pair a, Pair b) const { return {a.key, a.value + b.value}; }
};

template <class T>
void scans(T* v, int n) {
    size_t bytes = 0;
    cub::DeviceScan::ExclusiveSum(nullptr, bytes, v, v, n);
    cub::DeviceScan::InclusiveScan(nullptr, bytes, v, v, cuda::maximum<>{}, n);
}

template <class T>
void selections(T* v, int n) {
    size_t bytes = 0;
    int* count = nullptr;
    cub::DeviceSelect::If(nullptr, bytes, v, v, count, n, Some{});
    cub::DeviceSelect::Flagged(nullptr, bytes, v, (char*)v, v, count, n);
    cub::DeviceSelect::Unique(nullptr, bytes, v, v, count, n);
    cub::DevicePartition::If(nullptr, bytes, v, v, count, n, Some{});
    cub::DeviceRunLengthEncode::Encode(nullptr, bytes, v, v, count, count, n);
}

template <class T>
void sorts(T* v, int n) {
    size_t bytes = 0;
    cub::DeviceRadixSort::SortKeys(nullptr, bytes, v, v, n);
    cub::DeviceRadixSort::SortPairsDescending(nullptr, bytes, v, v, (int*)v, (int*)v, n);
    cub::DeviceMergeSort::SortKeys(nullptr, bytes, v, n, Less{});
}

template <class T>
void reductions(T* v, int n) {
    size_t bytes = 0;
    cub::DeviceReduce::Sum(nullptr, bytes, v, v, n);
    cub::DeviceReduce::ArgMin(nullptr, bytes, v, (cub::KeyValuePair<int, T>*)v, n);
    cub::DeviceReduce::ReduceByKey(nullptr, bytes, v, v, v, v, (int*)v, cuda::std::plus<>{}, n);
}

void pairs(Pair* v, int n) {
    size_t bytes = 0;
    cub::DeviceMergeSort::SortPairs(nullptr, bytes, v, (int*)v, n, Less{});
    cub::DeviceReduce::Reduce(nullptr, bytes, v, v, n, Add{}, Pair{});
    cub::DeviceScan::InclusiveScan(nullptr, bytes, v, v, Add{}, n);
}

template void scans<int>(int*, int);
template void scans<uint64_t>(uint64_t*, int);
template void scans<float>(float*, int);
template void selections<uint32_t>(uint32_t*, int);
template void selections<uint8_t>(uint8_t*, int);
template void sorts<int>(int*, int);
template void sorts<uint64_t>(uint64_t*, int);
template void sorts<float>(float*, int);
template void reductions<int>(int*, int);
template void reductions<uint8_t>(uint8_t*, int);
