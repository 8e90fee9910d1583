//! CUDA devices.
