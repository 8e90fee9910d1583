//! The driver's calls that do work: memory, copies, streams, events, launches.
//!
//! Owns: one method a call. Copies, fills, events and launches are only queued; what is wrong with them may show in a
//! later call.
//!
//! ```text
//! let event = driver.event()?; driver.record(event, stream)?; driver.wait_event(event)?
//! ```

use std::ffi::{c_uint, c_void};
use std::ptr;

use cudarc::driver::sys;

use super::{Address, Driver, DriverError, Event, Function, Result, Stream};

impl Driver {
    pub fn alloc(&self, bytes: u64) -> Result<Address> {
        let mut address = 0;
        call!(self.cuMemAlloc_v2(&mut address, bytes as usize))?;
        Ok(Address(address))
    }

    pub fn free(&self, address: Address) -> Result<()> {
        call!(self.cuMemFree_v2(address.0))
    }

    /// Page-locked host memory, content undefined.
    pub fn alloc_host(&self, bytes: usize) -> Result<*mut u8> {
        let mut host = ptr::null_mut();
        call!(self.cuMemHostAlloc(&mut host, bytes, 0))?;
        Ok(host.cast())
    }

    /// # Safety
    /// `host` is from [`Driver::alloc_host`], not freed yet, and no copy that uses it is under way.
    pub unsafe fn free_host(&self, host: *mut u8) -> Result<()> {
        call!(self.cuMemFreeHost(host.cast()))
    }

    /// # Safety
    /// `bytes` bytes from `from` are readable and stay unchanged until the stream has done the copy.
    pub unsafe fn copy_to_device(
        &self,
        to: Address,
        from: *const u8,
        bytes: u64,
        stream: Stream,
    ) -> Result<()> {
        call!(self.cuMemcpyHtoDAsync_v2(to.0, from.cast(), bytes as usize, stream.0))
    }

    /// # Safety
    /// `bytes` bytes from `to` are writable and nothing else looks at them until the stream has done the copy.
    pub unsafe fn copy_to_host(
        &self,
        to: *mut u8,
        from: Address,
        bytes: u64,
        stream: Stream,
    ) -> Result<()> {
        call!(self.cuMemcpyDtoHAsync_v2(to.cast(), from.0, bytes as usize, stream.0))
    }

    pub fn copy_on_device(
        &self,
        to: Address,
        from: Address,
        bytes: u64,
        stream: Stream,
    ) -> Result<()> {
        call!(self.cuMemcpyDtoDAsync_v2(to.0, from.0, bytes as usize, stream.0))
    }

    pub fn set_8(&self, to: Address, value: u8, count: u64, stream: Stream) -> Result<()> {
        call!(self.cuMemsetD8Async(to.0, value, count as usize, stream.0))
    }

    pub fn set_16(&self, to: Address, value: u16, count: u64, stream: Stream) -> Result<()> {
        call!(self.cuMemsetD16Async(to.0, value, count as usize, stream.0))
    }

    pub fn set_32(&self, to: Address, value: u32, count: u64, stream: Stream) -> Result<()> {
        call!(self.cuMemsetD32Async(to.0, value, count as usize, stream.0))
    }

    /// A stream that does not wait for the legacy default stream.
    pub fn stream(&self) -> Result<Stream> {
        let mut stream = ptr::null_mut();
        let flags = sys::CUstream_flags::CU_STREAM_NON_BLOCKING as c_uint;
        call!(self.cuStreamCreate(&mut stream, flags))?;
        Ok(Stream(stream))
    }

    pub fn wait(&self, stream: Stream) -> Result<()> {
        call!(self.cuStreamSynchronize(stream.0))
    }

    pub fn destroy_stream(&self, stream: Stream) -> Result<()> {
        call!(self.cuStreamDestroy_v2(stream.0))
    }

    /// An event that takes times.
    pub fn event(&self) -> Result<Event> {
        let mut event = ptr::null_mut();
        let flags = sys::CUevent_flags::CU_EVENT_DEFAULT as c_uint;
        call!(self.cuEventCreate(&mut event, flags))?;
        Ok(Event(event))
    }

    pub fn record(&self, event: Event, stream: Stream) -> Result<()> {
        call!(self.cuEventRecord(event.0, stream.0))
    }

    /// Returns at once for an event that was never recorded.
    pub fn wait_event(&self, event: Event) -> Result<()> {
        call!(self.cuEventSynchronize(event.0))
    }

    pub fn elapsed_ms(&self, start: Event, end: Event) -> Result<f32> {
        let mut ms = 0.0;
        call!(self.cuEventElapsedTime(&mut ms, start.0, end.0))?;
        Ok(ms)
    }

    pub fn destroy_event(&self, event: Event) -> Result<()> {
        call!(self.cuEventDestroy_v2(event.0))
    }

    /// # Safety
    /// The kernel takes exactly `values.len()` parameters of at most 8 bytes each, which are the first in memory of
    /// each value.
    pub unsafe fn launch(
        &self,
        function: Function,
        grid: [u32; 3],
        block: [u32; 3],
        shared: u32,
        values: &mut [u64],
        stream: Stream,
    ) -> Result<()> {
        let mut pointers: Vec<*mut c_void> = values
            .iter_mut()
            .map(|value| ptr::from_mut(value).cast())
            .collect();
        let ([gx, gy, gz], [bx, by, bz]) = (grid, block);
        let (parameters, extra) = (pointers.as_mut_ptr(), ptr::null_mut());
        call!(self.cuLaunchKernel(
            function.0, gx, gy, gz, bx, by, bz, shared, stream.0, parameters, extra
        ))
    }
}
