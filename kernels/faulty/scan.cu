// Scans that are wrong in one known way each, for control gates. Their right twins are in compaction.cu.

using u32 = unsigned int;
using u64 = unsigned long long;

// An enumerator, since NVRTC keeps a `constexpr` variable as a word of device memory.
enum : u32 { TILE = 256 };

// The carry of the tile before: the second tile gets none, and every later one a carry too small.
extern "C" __global__ void add_carry_off_by_one(int* values, const int* carry, u32 n) {
    const u64 stride = static_cast<u64>(gridDim.x) * blockDim.x;
    for (u64 i = static_cast<u64>(blockIdx.x) * blockDim.x + threadIdx.x; i < n; i += stride) {
        const u64 tile = i / TILE;
        values[i] += carry[tile == 0 ? 0 : tile - 1];
    }
}

// A full tile's total leaves out its last element: the exclusive sum taken for the inclusive one.
extern "C" __global__ void __launch_bounds__(TILE) scan_tiles_short_total(const int* in, int* out, int* sums, u32 n) {
    __shared__ int scan[2][TILE];
    const u32 lane = threadIdx.x;
    const u64 i = static_cast<u64>(blockIdx.x) * TILE + lane;

    u32 from = 0;
    scan[from][lane] = i < n ? in[i] : 0;
    __syncthreads();
    for (u32 reach = 1; reach < TILE; reach *= 2) {
        int sum = scan[from][lane];
        if (lane >= reach) {
            sum += scan[from][lane - reach];
        }
        from ^= 1;
        scan[from][lane] = sum;
        __syncthreads();
    }

    const int exclusive = lane == 0 ? 0 : scan[from][lane - 1];
    if (i < n) {
        out[i] = exclusive;
    }
    if (lane == TILE - 1) {
        sums[blockIdx.x] = exclusive;
    }
}

// No barrier between the steps. A warp that runs ahead leaves its finished sums where the next warp still expects the
// sums of an earlier step, so elements are counted more than once.
extern "C" __global__ void __launch_bounds__(TILE) scan_tiles_without_barrier(const int* in, int* out, int* sums,
                                                                              u32 n) {
    __shared__ int scan[2][TILE];
    const u32 lane = threadIdx.x;
    const u64 i = static_cast<u64>(blockIdx.x) * TILE + lane;

    u32 from = 0;
    scan[from][lane] = i < n ? in[i] : 0;
    __syncthreads();
    for (u32 reach = 1; reach < TILE; reach *= 2) {
        int sum = scan[from][lane];
        if (lane >= reach) {
            sum += scan[from][lane - reach];
        }
        from ^= 1;
        scan[from][lane] = sum;
    }
    __syncthreads();

    if (i < n) {
        out[i] = lane == 0 ? 0 : scan[from][lane - 1];
    }
    if (lane == TILE - 1) {
        sums[blockIdx.x] = scan[from][lane];
    }
}
