// Prefix sum by thrust::exclusive_scan, without waiting for it.

#include <thrust/execution_policy.h>
#include <thrust/scan.h>

#include "scratch.cuh"

CG_ENTRY(thrust_exclusive_scan_i32)
{
  auto input  = argument<const std::int32_t*>(args, 0);
  auto output = argument<std::int32_t*>(args, 1);
  auto n      = argument<std::uint64_t>(args, 2);
  return with_scratch(scratch_bytes, scratch, [&](Scratch& allocator) {
    // A scan of nothing asks for no memory, so that it would run where only its scratch is asked for.
    if (n > 0)
    {
      auto policy = thrust::cuda::par_nosync(allocator).on(stream);
      thrust::exclusive_scan(policy, input, input + n, output, std::int32_t{0});
    }
  });
}
