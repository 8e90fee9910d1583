// One right kernel and several that a driver has to survive: what a run does with them is what `docs/reliability.md`
// tells. Grid-stride loops over `n` elements, any grid and block.

typedef unsigned int u32;

__device__ __forceinline__ u32 first() { return blockIdx.x * blockDim.x + threadIdx.x; }

extern "C" __global__ void copy(const u32* in, u32* out, u32 n) {
    for (u32 i = first(); i < n; i += gridDim.x * blockDim.x) {
        out[i] = in[i];
    }
}

// One element is wrong.
extern "C" __global__ void copy_wrong(const u32* in, u32* out, u32 n) {
    for (u32 i = first(); i < n; i += gridDim.x * blockDim.x) {
        out[i] = in[i] + (i == n / 2);
    }
}

// Waits for a word that nobody writes.
extern "C" __global__ void copy_never(const u32* in, u32* out, u32 n) {
    while (*reinterpret_cast<const volatile u32*>(out) != 0x5eed) {
    }
    for (u32 i = first(); i < n; i += gridDim.x * blockDim.x) {
        out[i] = in[i];
    }
}

// Stores four TiB behind its output: no allocation of any card reaches there.
extern "C" __global__ void copy_beyond(const u32* in, u32* out, u32 n) {
    for (u32 i = first(); i < n; i += gridDim.x * blockDim.x) {
        out[i + (1ull << 40)] = in[i];
    }
}

// A word at an address that is no multiple of four.
extern "C" __global__ void copy_misaligned(const u32* in, u32* out, u32 n) {
    for (u32 i = first(); i < n; i += gridDim.x * blockDim.x) {
        *reinterpret_cast<u32*>(reinterpret_cast<char*>(out + i) + 1) = in[i];
    }
}

extern "C" __global__ void copy_trap(const u32* in, u32* out, u32 n) {
    if (first() == n / 2) {
        asm volatile("trap;");
    }
    for (u32 i = first(); i < n; i += gridDim.x * blockDim.x) {
        out[i] = in[i];
    }
}

extern "C" __device__ void __assertfail(const char* what, const char* file, unsigned line, const char* function,
                                        size_t char_bytes);

// What `assert` of the CUDA headers calls.
extern "C" __global__ void copy_asserts(const u32* in, u32* out, u32 n) {
    if (first() == n / 2) {
        __assertfail("first() != n / 2", "mixed.cu", __LINE__, "copy_asserts", 1);
    }
    for (u32 i = first(); i < n; i += gridDim.x * blockDim.x) {
        out[i] = in[i];
    }
}
