// Reduction and histogram by CUB.

#include <cub/device/device_histogram.cuh>
#include <cub/device/device_reduce.cuh>

#include "entry.cuh"

CG_ENTRY(cub_reduce_sum_i32)
{
  auto input = argument<const std::int32_t*>(args, 0);
  auto sum   = argument<std::int32_t*>(args, 1);
  return by_count(argument<std::uint64_t>(args, 2), [&](auto n) {
    return cub::DeviceReduce::Sum(scratch, *scratch_bytes, input, sum, n, stream);
  });
}

// Element v counts in bin v; others count nowhere.
CG_ENTRY(cub_histogram_i32)
{
  auto input  = argument<const std::int32_t*>(args, 0);
  auto counts = argument<std::int32_t*>(args, 1);
  auto bins   = argument<std::int32_t>(args, 2);
  auto n      = static_cast<std::int64_t>(argument<std::uint64_t>(args, 3));
  return cub::DeviceHistogram::HistogramEven(
    scratch, *scratch_bytes, input, counts, bins + 1, std::int32_t{0}, bins, n, stream);
}
