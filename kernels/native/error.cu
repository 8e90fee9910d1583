// What CUDA calls an error that an entry point returned.

#include <string>

#include "entry.cuh"

extern "C" __attribute__((visibility("default"))) const char* cg_error(int code)
{
  thread_local std::string words;
  const auto error = static_cast<cudaError_t>(code);
  words            = std::string(cudaGetErrorName(error)) + " (" + cudaGetErrorString(error) + ")";
  return words.c_str();
}
