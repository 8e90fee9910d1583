// Reductions, histograms and run-length encodings that are wrong in one known way each, for control gates. Their right
// twins are in ../reduce.cu, ../histogram.cu and ../run_length.cu.

using u32 = unsigned int;
using u64 = unsigned long long;

__device__ __forceinline__ u64 first_index() {
    return static_cast<u64>(blockIdx.x) * blockDim.x + threadIdx.x;
}

__device__ __forceinline__ u64 grid_stride() {
    return static_cast<u64>(gridDim.x) * blockDim.x;
}

// The elements past the last whole warp are never looked at.
extern "C" __global__ void reduce_sum_whole_warps(const int* in, int* total, u32 n) {
    const u64 whole = n / 32 * 32;
    int sum = 0;
    for (u64 i = first_index(); i < whole; i += grid_stride()) {
        sum += in[i];
    }
    atomicAdd(total, sum);
}

// One shuffle too few: they end at reach 2, so no odd lane's sum gets to the first lane.
extern "C" __global__ void reduce_sum_short_shuffle(const int* in, int* total, u32 n) {
    int sum = 0;
    for (u64 i = first_index(); i < n; i += grid_stride()) {
        sum += in[i];
    }
    for (u32 reach = 16; reach > 1; reach /= 2) {
        sum += __shfl_down_sync(0xffffffff, sum, reach);
    }
    if (threadIdx.x % 32 == 0) {
        atomicAdd(total, sum);
    }
}

// Four keys a thread, and nobody takes the last n % 4.
extern "C" __global__ void histogram_by_fours(const u32* keys, int* bins, u32 n) {
    for (u64 i = first_index(); i < n / 4; i += grid_stride()) {
        for (u32 k = 0; k < 4; k++) {
            atomicAdd(&bins[keys[4 * i + k] & 255], 1);
        }
    }
}

// The last bin is taken for the one before it, as a range of 255 would have it.
extern "C" __global__ void histogram_clamped(const u32* keys, int* bins, u32 n) {
    for (u64 i = first_index(); i < n; i += grid_stride()) {
        const u32 bin = keys[i] & 255;
        atomicAdd(&bins[bin < 254 ? bin : 254], 1);
    }
}

// The first element begins no run, having none before it to differ from.
extern "C" __global__ void mark_heads_but_first(const int* in, int* head, u32 n) {
    for (u64 i = first_index(); i < n; i += grid_stride()) {
        head[i] = i > 0 && in[i] != in[i - 1];
    }
}

// The last run, which no other follows, gets no length.
extern "C" __global__ void measure_runs_but_last(const u32* starts, const int* runs, u32* lengths, u32) {
    const u64 count = static_cast<u32>(*runs);
    for (u64 run = first_index(); run + 1 < count; run += grid_stride()) {
        lengths[run] = starts[run + 1] - starts[run];
    }
}
