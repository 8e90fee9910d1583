// Prefix sums by cub::DeviceScan: single pass with decoupled look-back (Merrill and Garland 2016).

#include <cub/device/device_scan.cuh>

#include "entry.cuh"

CG_ENTRY(cub_exclusive_scan_i32)
{
  auto input  = argument<const std::int32_t*>(args, 0);
  auto output = argument<std::int32_t*>(args, 1);
  return by_count(argument<std::uint64_t>(args, 2), [&](auto n) {
    return cub::DeviceScan::ExclusiveSum(scratch, *scratch_bytes, input, output, n, stream);
  });
}

CG_ENTRY(cub_inclusive_scan_i32)
{
  auto input  = argument<const std::int32_t*>(args, 0);
  auto output = argument<std::int32_t*>(args, 1);
  return by_count(argument<std::uint64_t>(args, 2), [&](auto n) {
    return cub::DeviceScan::InclusiveSum(scratch, *scratch_bytes, input, output, n, stream);
  });
}
