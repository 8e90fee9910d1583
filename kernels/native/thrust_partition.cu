// Stable partition by thrust::stable_partition_copy: evens and odds, each in order, in arrays of their own. Thrust
// hands the number of evens to the host, and so waits for the stream, whatever the policy says: its time includes that.

#include <thrust/execution_policy.h>
#include <thrust/partition.h>

#include "scratch.cuh"

static __global__ void store(std::int32_t* to, std::int32_t value)
{
  *to = value;
}

CG_ENTRY(thrust_stable_partition_even_i32)
{
  auto input = argument<const std::int32_t*>(args, 0);
  auto evens = argument<std::int32_t*>(args, 1);
  auto odds  = argument<std::int32_t*>(args, 2);
  auto count = argument<std::int32_t*>(args, 3);
  auto n     = argument<std::uint64_t>(args, 4);
  return with_scratch(scratch_bytes, scratch, [&](Scratch& allocator) {
    auto end = evens;
    if (n > 0)
    {
      auto policy = thrust::cuda::par_nosync(allocator).on(stream);
      end         = thrust::stable_partition_copy(policy, input, input + n, evens, odds, is_even{}).first;
    }
    if (scratch != nullptr)
    {
      store<<<1, 1, 0, stream>>>(count, static_cast<std::int32_t>(end - evens));
      const cudaError_t error = cudaGetLastError();
      if (error != cudaSuccess)
      {
        throw thrust::system_error(error, thrust::cuda_category());
      }
    }
  });
}
