// Radix sort by cub::DeviceRadixSort, one read and one write a digit. The input stays as it is.

#include <cub/device/device_radix_sort.cuh>

#include "entry.cuh"

CG_ENTRY(cub_radix_sort_u32)
{
  auto input  = argument<const std::uint32_t*>(args, 0);
  auto output = argument<std::uint32_t*>(args, 1);
  return by_count(argument<std::uint64_t>(args, 2), [&](auto n) {
    return cub::DeviceRadixSort::SortKeys(scratch, *scratch_bytes, input, output, n, 0, 32, stream);
  });
}
