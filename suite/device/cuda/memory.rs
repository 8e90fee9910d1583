//! Memory of a CUDA device: allocations that are used again, and page-locked host memory to copy through.
//!
//! Owns: the pool of freed allocations, the staging area a download lands in, and the ring that everything else goes
//! through. Imports the driver's calls only. A fresh allocation or a copy from pageable memory costs
//! milliseconds at 32 MiB; a case has time for neither.
//!
//! ```text
//! upload: bytes → half 0 → device, bytes → half 1 → device, … while the other half is still being copied
//! ```

use std::collections::BTreeMap;
use std::mem::MaybeUninit;
use std::slice;

use super::driver::{Address, Driver, Event, Result, Stream};
use super::errors::{DriverError, OUT_OF_MEMORY};
use super::scribble::Marks;

/// Freed allocations, by size. They go back to the driver only when it runs out.
#[derive(Default)]
pub(super) struct Pool {
    free: BTreeMap<u64, Vec<Address>>,
}

/// Memory from the pool.
#[derive(Clone, Copy, Debug)]
pub(super) struct Allocation {
    pub base: Address,
    /// As allocated: rounded up.
    size: u64,
}

impl Pool {
    /// Allocates at least `bytes`; out of memory, gives all free allocations back and tries once more.
    pub fn alloc(&mut self, driver: &Driver, bytes: u64) -> Result<Allocation> {
        let size = size_class(bytes);
        if let Some(base) = self.free.get_mut(&size).and_then(Vec::pop) {
            return Ok(Allocation { base, size });
        }
        let base = match driver.alloc(size) {
            Err(DriverError {
                code: OUT_OF_MEMORY,
                ..
            }) => {
                self.trim(driver)?;
                driver.alloc(size)?
            }
            other => other?,
        };
        Ok(Allocation { base, size })
    }

    pub fn free(&mut self, allocation: Allocation) {
        self.free
            .entry(allocation.size)
            .or_default()
            .push(allocation.base);
    }

    /// Gives all free allocations back to the driver.
    pub fn trim(&mut self, driver: &Driver) -> Result<()> {
        self.take_all().try_for_each(|base| driver.free(base))
    }

    /// All free allocations, which are the caller's to give back.
    pub fn take_all(&mut self) -> impl Iterator<Item = Address> + use<> {
        std::mem::take(&mut self.free).into_values().flatten()
    }
}

/// Sizes near each other share a class, so that one case's buffers serve the next: steps of at most an eighth.
fn size_class(bytes: u64) -> u64 {
    let step = (bytes.next_power_of_two() / 16).max(4096);
    bytes.max(1).next_multiple_of(step)
}

/// Page-locked host memory that a copy from the device lands in; grows, never shrinks.
#[derive(Default)]
pub(super) struct Staging {
    host: Option<(*mut u8, usize)>,
    /// Bytes the last `fetch` brought.
    fetched: usize,
    marks: Marks,
}

impl Staging {
    /// Room for `len` bytes, and where it starts: page-aligned. The content is undefined.
    fn room(&mut self, driver: &Driver, len: usize) -> Result<*mut u8> {
        match self.host {
            Some((host, size)) if size >= len => Ok(host),
            _ => {
                self.release(driver)?;
                let size = len.next_multiple_of(1 << 20);
                let host = driver.alloc_host(size)?;
                self.host = Some((host, size));
                Ok(host)
            }
        }
    }

    /// Copies `(address, bytes)` ranges, one behind the other, and waits for the stream.
    pub fn fetch(
        &mut self,
        driver: &Driver,
        ranges: &[(Address, u64)],
        stream: Stream,
    ) -> Result<&[u8]> {
        let total = ranges.iter().map(|range| range.1).sum::<u64>() as usize;
        self.fetched = 0;
        let host = self.room(driver, total)?;
        let mut at = 0;
        let mut queue = || {
            for &(from, bytes) in ranges.iter().filter(|range| range.1 > 0) {
                // SAFETY: `at + bytes <= total`, which the room holds, and no copy into it is under way; only this
                // function reads it, after the wait.
                unsafe {
                    let host = host.add(at);
                    self.marks.scribble(raw(host, bytes as usize));
                    driver.copy_to_host(host, from, bytes, stream)?;
                }
                at += bytes as usize;
            }
            Ok(())
        };
        let queued = queue();
        // Also when queueing failed: earlier copies may still be writing.
        let waited = driver.wait(stream);
        queued.and(waited)?;
        self.fetched = total;
        Ok(self.fetched())
    }

    /// What the last `fetch` brought, 8-byte aligned also when empty.
    pub fn fetched(&self) -> &[u8] {
        match self.host {
            // SAFETY: copies have written the first `fetched` bytes and are done; the next one borrows `self` mutably.
            Some((host, _)) => unsafe { slice::from_raw_parts(host, self.fetched) },
            None => bytemuck::cast_slice::<u64, u8>(&[]),
        }
    }

    pub fn release(&mut self, driver: &Driver) -> Result<()> {
        self.fetched = 0;
        match self.host.take() {
            // SAFETY: from `alloc_host`, taken so that it is freed once; `fetch` never returns with a copy under way.
            Some((host, _)) => unsafe { driver.free_host(host) },
            None => Ok(()),
        }
    }
}

/// Memory as marks are written over it.
///
/// # Safety
/// `bytes` bytes from `host` are this process's, and nothing else uses them while the slice lives.
unsafe fn raw<'a>(host: *mut u8, bytes: usize) -> &'a mut [MaybeUninit<u8>] {
    // SAFETY: the caller's promise.
    unsafe { slice::from_raw_parts_mut(host.cast(), bytes) }
}

/// Bytes of each half of the ring.
const HALF: usize = 4 << 20;

/// Two page-locked halves: one is copied while the host works on the other.
pub(super) struct Ring {
    host: *mut u8,
    /// Recorded after the last copy that uses the half.
    done: [Event; 2],
    turn: usize,
    marks: Marks,
}

impl Ring {
    pub fn new(driver: &Driver) -> Result<Self> {
        let done = [driver.event()?, driver.event()?];
        let host = driver.alloc_host(2 * HALF)?;
        Ok(Self {
            host,
            done,
            turn: 0,
            marks: Marks::default(),
        })
    }

    /// Host to device. `bytes` may be dropped when this returns.
    pub fn upload(
        &mut self,
        driver: &Driver,
        to: Address,
        bytes: &[u8],
        stream: Stream,
    ) -> Result<()> {
        for (index, chunk) in bytes.chunks(HALF).enumerate() {
            let (half, done) = self.next();
            driver.wait_event(done)?;
            let to = to.at((index * HALF) as u64);
            // SAFETY: `half` has HALF bytes, no less than the chunk, apart from `bytes`; the last copy that used it is
            // done, and it is not touched again before `done` is.
            unsafe {
                half.copy_from_nonoverlapping(chunk.as_ptr(), chunk.len());
                driver.copy_to_device(to, half, chunk.len() as u64, stream)?;
            }
            driver.record(done, stream)?;
        }
        Ok(())
    }

    /// Device to host, piece by piece in order: `visit` sees a piece's offset and bytes while the next is copied, and
    /// says whether to go on.
    pub fn visit(
        &mut self,
        driver: &Driver,
        (from, len): (Address, u64),
        stream: Stream,
        mut visit: impl FnMut(usize, &[u8]) -> bool,
    ) -> Result<()> {
        let mut starts = (0..len as usize).step_by(HALF);
        let mut copied: Option<(usize, usize, *mut u8, Event)> = None;
        let mut go_on = true;
        loop {
            let next = match starts.next().filter(|_| go_on) {
                Some(start) => {
                    let (half, done) = self.next();
                    let bytes = HALF.min(len as usize - start);
                    // An upload before this one may still be using it.
                    driver.wait_event(done)?;
                    // SAFETY: `half` has HALF bytes; the piece before last, which used it, has been visited, and it is
                    // read only after `done`.
                    unsafe {
                        self.marks.scribble(raw(half, bytes));
                        driver.copy_to_host(half, from.at(start as u64), bytes as u64, stream)?
                    };
                    driver.record(done, stream)?;
                    Some((start, bytes, half, done))
                }
                None => None,
            };
            if let Some((start, bytes, half, done)) = copied.take() {
                driver.wait_event(done)?;
                // SAFETY: the copy into it is done, and nothing else is queued for this half.
                let piece: &[u8] = unsafe { slice::from_raw_parts(half, bytes) };
                go_on = go_on && visit(start, piece);
            }
            copied = match next {
                Some(_) => next,
                None => return Ok(()),
            };
        }
    }

    fn next(&mut self) -> (*mut u8, Event) {
        self.turn ^= 1;
        // SAFETY: two halves were allocated.
        (
            unsafe { self.host.add(self.turn * HALF) },
            self.done[self.turn],
        )
    }

    /// Call once, when the stream is idle. `tried` is given each call's result.
    pub fn release(&mut self, driver: &Driver, tried: &mut dyn FnMut(Result<()>)) {
        for event in self.done {
            tried(driver.destroy_event(event));
        }
        // SAFETY: from `alloc_host`; the stream is idle, so no copy uses it.
        tried(unsafe { driver.free_host(self.host) });
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn size_classes_hold_what_was_asked_with_little_waste() {
        for bytes in [
            0,
            1,
            4095,
            4096,
            4097,
            33_024,
            33_584_756,
            1 << 30,
            (1 << 33) + 1,
        ] {
            let size = size_class(bytes);
            assert!(size >= bytes.max(1), "{bytes} → {size}");
            assert!(size - bytes <= (bytes / 8).max(4096), "{bytes} → {size}");
            assert_eq!(size_class(size), size, "a class is its own class");
        }
    }

    #[test]
    fn buffers_of_nearly_one_size_share_a_class() {
        let (n, tile) = (8_387_997_u64 * 4, 256);
        assert_eq!(size_class(n + 32_768), size_class(n + tile + 32_768));
    }
}
