//! Inputs that stay on the device: cases that share an array upload it once.
//!
//! Owns: the untouched device copies, keyed by the host array's identity. Imports `value` only. A case gets its own
//! copy from here, since its kernels might write it.
//!
//! ```text
//! case 1: host → kept copy → its buffer    case 2: kept copy → its buffer
//! ```

use std::sync::{Arc, Weak};

use super::driver::{Address, Driver, Result};
use super::errors::{DriverError, OUT_OF_MEMORY};
use super::memory::{Allocation, Pool};
use crate::value::Array;

/// Smaller arrays are uploaded every time.
const LEAST_BYTES: u64 = 256 << 10;

pub(super) struct InputCache {
    /// Least recently used first.
    kept: Vec<Kept>,
    most_bytes: u64,
}

struct Kept {
    /// Keeps the array's address from being used for another one, but not its content.
    array: Weak<Array>,
    len: u64,
    allocation: Allocation,
}

/// Where an array is kept.
pub(super) struct Found {
    pub base: Address,
    /// The content has yet to be uploaded.
    pub fresh: bool,
}

impl InputCache {
    pub fn new(most_bytes: u64) -> Self {
        Self {
            kept: Vec::new(),
            most_bytes,
        }
    }

    /// None for an array that is not worth keeping, or when memory is short.
    ///
    /// # Errors
    /// Of the driver, other than that memory is short.
    pub fn find_or_make(
        &mut self,
        driver: &Driver,
        pool: &mut Pool,
        array: &Arc<Array>,
    ) -> Result<Option<Found>> {
        let len = array.as_bytes().len() as u64;
        if len < LEAST_BYTES || len > self.most_bytes {
            return Ok(None);
        }
        let is_it = |kept: &Kept| kept.array.as_ptr() == Arc::as_ptr(array);
        if let Some(index) = self.kept.iter().position(is_it) {
            let kept = self.kept.remove(index);
            let base = kept.allocation.base;
            self.kept.push(kept);
            return Ok(Some(Found { base, fresh: false }));
        }
        for gone in self.evict(len) {
            pool.free(gone.allocation);
        }
        let allocation = match pool.alloc(driver, len) {
            Err(DriverError {
                code: OUT_OF_MEMORY,
                ..
            }) => return Ok(None),
            other => other?,
        };
        self.kept.push(Kept {
            array: Arc::downgrade(array),
            len,
            allocation,
        });
        Ok(Some(Found {
            base: allocation.base,
            fresh: true,
        }))
    }

    /// Takes out arrays that are no more, then the least recently used, until `len` more bytes are allowed.
    fn evict(&mut self, len: u64) -> Vec<Kept> {
        let dead = |kept: &mut Kept| kept.array.strong_count() == 0;
        let mut gone: Vec<Kept> = self.kept.extract_if(.., dead).collect();
        let mut held: u64 = self.kept.iter().map(|kept| kept.len).sum();
        while held + len > self.most_bytes && !self.kept.is_empty() {
            let oldest = self.kept.remove(0);
            held -= oldest.len;
            gone.push(oldest);
        }
        gone
    }

    pub fn clear(&mut self, pool: &mut Pool) {
        for kept in self.kept.drain(..) {
            pool.free(kept.allocation);
        }
    }
}
