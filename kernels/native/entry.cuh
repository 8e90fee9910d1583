// What every entry point of the native library is made of.
//
//     int cg_NAME(CUstream stream, void** args, size_t* scratch_bytes, void* scratch)
//
// `args` points to each argument's value, as for a kernel launch, in the order and types of native.txt. With no scratch
// the call only says how many bytes of it the same arguments need; with it, the work is queued on the stream. The
// result is a cudaError_t. CUB's own functions have this protocol, so most entry points hand it through.
#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>

#include <cub/version.cuh>
#include <cuda_runtime.h>

#if CUB_VERSION < 300000
#  error "CCCL 3 (CUDA 13) or newer is needed: older releases count some elements in 32 bits without a word"
#endif

#define CG_ENTRY(name)                                                                                              \
  extern "C" __attribute__((visibility("default"))) int cg_##name(                                                  \
    cudaStream_t stream, void** args, std::size_t* scratch_bytes, void* scratch)

template <class T>
T argument(void** args, int index)
{
  return *static_cast<T*>(args[index]);
}

// Calls `work` with the element count in the narrowest type that CUB gives 32-bit offsets for, else in 64 bits.
template <class Work>
int by_count(std::uint64_t n, Work work)
{
  if (n <= std::numeric_limits<std::uint32_t>::max())
  {
    return work(static_cast<std::uint32_t>(n));
  }
  return work(n);
}

struct is_nonzero
{
  __host__ __device__ bool operator()(std::int32_t value) const
  {
    return value != 0;
  }
};

struct is_odd
{
  __host__ __device__ bool operator()(std::int32_t value) const
  {
    return (value & 1) != 0;
  }
};

struct is_even
{
  __host__ __device__ bool operator()(std::int32_t value) const
  {
    return (value & 1) == 0;
  }
};
