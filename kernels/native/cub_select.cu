// Stream compaction by cub::DeviceSelect::If. Counts beyond 32 bits are served in pieces of 32-bit offsets, by CUB.

#include <cub/device/device_select.cuh>

#include "entry.cuh"

template <class Predicate>
static int select(cudaStream_t stream, void** args, std::size_t* scratch_bytes, void* scratch)
{
  auto input  = argument<const std::int32_t*>(args, 0);
  auto output = argument<std::int32_t*>(args, 1);
  auto count  = argument<std::int32_t*>(args, 2);
  auto n      = static_cast<std::int64_t>(argument<std::uint64_t>(args, 3));
  return cub::DeviceSelect::If(scratch, *scratch_bytes, input, output, count, n, Predicate{}, stream);
}

CG_ENTRY(cub_select_nonzero_i32)
{
  return select<is_nonzero>(stream, args, scratch_bytes, scratch);
}

CG_ENTRY(cub_select_odd_i32)
{
  return select<is_odd>(stream, args, scratch_bytes, scratch);
}
