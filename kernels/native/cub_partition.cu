// Partition by cub::DevicePartition::If: what is rejected stands behind what is selected, last first.

#include <cub/device/device_partition.cuh>

#include "entry.cuh"

CG_ENTRY(cub_partition_even_i32)
{
  auto input  = argument<const std::int32_t*>(args, 0);
  auto output = argument<std::int32_t*>(args, 1);
  auto count  = argument<std::int32_t*>(args, 2);
  auto n      = static_cast<std::int64_t>(argument<std::uint64_t>(args, 3));
  return cub::DevicePartition::If(scratch, *scratch_bytes, input, output, count, n, is_even{}, stream);
}
