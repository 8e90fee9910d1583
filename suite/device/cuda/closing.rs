//! How a card is closed: everything goes back to the driver, and a call that fails meanwhile is told.
//!
//! Owns: the order of giving back. Imports `outcome` only.
//!
//! ```text
//! wait → memory → host memory → events → modules → stream → context
//! ```

use super::CudaDevice;
use super::driver::Result;
use super::errors::{self, DriverError};

impl CudaDevice {
    /// What each call that failed says, once for all that gave the same code: a broken context answers every call so.
    pub(super) fn close_all(&mut self) -> Vec<String> {
        let mut failed = std::mem::take(&mut self.kept);
        self.give_back(&mut |result| failed.extend(result.err()));
        let mut codes = Vec::new();
        failed.retain(|error: &DriverError| {
            let is_new = !codes.contains(&error.code);
            codes.push(error.code);
            is_new
        });
        let words = |error: DriverError| {
            let words = self.driver.words(error.code);
            errors::fault(error, &words, "closing the device")
                .reason
                .message
        };
        failed.into_iter().map(words).collect()
    }

    /// Every call is tried, whatever those before it gave. Of a context that is lost only the context goes.
    fn give_back(&mut self, tried: &mut dyn FnMut(Result<()>)) {
        if std::mem::replace(&mut self.closed, true) {
            return;
        }
        let driver = self.driver;
        if !self.lost {
            // What still runs may use all that follows.
            tried(driver.wait(self.stream));
            for buffer in self.buffers.drain(..) {
                self.pool.free(buffer.allocation);
            }
            self.inputs.clear(&mut self.pool);
            self.pool.free(self.guards_on_device);
            self.pool
                .take_all()
                .for_each(|base| tried(driver.free(base)));
            tried(self.staging.release(driver));
            tried(self.probes.release(driver));
            self.ring.release(driver, tried);
            for event in self.events.drain(..).chain(self.spare.drain(..)) {
                tried(driver.destroy_event(event));
            }
            for loaded in self.modules.drain(..) {
                tried(driver.unload(loaded.module));
            }
            tried(driver.destroy_stream(self.stream));
        }
        tried(driver.leave(self.ordinal));
    }
}

impl Drop for CudaDevice {
    /// As `close`, for one that was not closed: its errors have nowhere to go from here.
    fn drop(&mut self) {
        self.give_back(&mut |_| {});
    }
}
