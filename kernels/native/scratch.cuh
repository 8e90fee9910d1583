// Thrust asks an allocator for its temporary memory. This one gives out what the caller brought, and where nothing was
// brought, says how much is wanted: the first request ends the call. The algorithms used here ask once, before they
// queue any work. That is CCCL 3's way and no promise of Thrust's: of a release that asks twice, the second request
// ends the call as out of memory, and nothing passes as a result.
#pragma once

#include <cstddef>
#include <new>

#include <thrust/system_error.h>

#include "entry.cuh"

class Scratch
{
public:
  using value_type = char;

  // Thrown by the first request where there is no memory.
  struct Wanted
  {
    std::size_t bytes;
  };

  Scratch(void* memory, std::size_t bytes)
      : memory_(static_cast<char*>(memory))
      , bytes_(bytes)
  {}

  char* allocate(std::ptrdiff_t count)
  {
    const auto bytes = (static_cast<std::size_t>(count) + 255) / 256 * 256;
    if (memory_ == nullptr)
    {
      throw Wanted{bytes};
    }
    if (bytes > bytes_ - used_)
    {
      throw std::bad_alloc();
    }
    char* given = memory_ + used_;
    used_ += bytes;
    return given;
  }

  // Given back as a whole, when the call ends.
  void deallocate(char*, std::size_t) {}

private:
  char* memory_;
  std::size_t bytes_;
  std::size_t used_ = 0;
};

// Runs `work` with an allocator; its exceptions become what CUB's functions would return.
template <class Work>
int with_scratch(std::size_t* scratch_bytes, void* scratch, Work work)
{
  try
  {
    Scratch allocator(scratch, *scratch_bytes);
    if (scratch == nullptr)
    {
      *scratch_bytes = 1;
    }
    work(allocator);
    return cudaSuccess;
  }
  catch (const Scratch::Wanted& wanted)
  {
    *scratch_bytes = wanted.bytes;
    return cudaSuccess;
  }
  catch (const thrust::system_error& error)
  {
    return error.code().value();
  }
  catch (const std::bad_alloc&)
  {
    return cudaErrorMemoryAllocation;
  }
  catch (...)
  {
    return cudaErrorUnknown;
  }
}
