//! The CUDA driver API as far as this crate uses it: the library that cudarc finds, and one thin method a call.
//!
//! Owns: every foreign call of `device::cuda`, the handles, and the driver's start. Imports `outcome` only.
//!
//! ```text
//! Driver::get()? → device(0)? → enter(…)? → alloc, copy, launch, event …
//! ```

use std::ffi::{CStr, CString, c_char, c_int, c_uint, c_void};
use std::ptr;
use std::sync::OnceLock;

use cudarc::driver::sys;

pub(super) use super::entry::{DeviceAttribute, FunctionAttribute};

use super::entry::EntryPoints;
use super::errors::{DriverError, start_fault};
use crate::outcome::Fault;

pub(super) type Result<T> = std::result::Result<T, DriverError>;

/// A device address. Made by [`Driver::alloc`] and moved inside its allocation by [`Address::at`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Address(sys::CUdeviceptr);

impl Address {
    pub fn at(self, offset: u64) -> Self {
        Self(self.0 + offset)
    }

    pub fn get(self) -> u64 {
        self.0
    }
}

#[derive(Clone, Copy, Debug)]
pub(super) struct Ordinal(sys::CUdevice);
#[derive(Clone, Copy, Debug)]
pub(super) struct Stream(sys::CUstream);

impl Stream {
    /// As the runtime API takes it.
    pub fn raw(self) -> *mut c_void {
        self.0.cast()
    }
}

#[derive(Clone, Copy, Debug)]
pub(super) struct Event(sys::CUevent);
#[derive(Clone, Copy, Debug)]
pub(super) struct Module(sys::CUmodule);
#[derive(Clone, Copy, Debug)]
pub(super) struct Function(sys::CUfunction);

/// The driver, initialised. Handles given to its methods are its own, of the context that is current.
pub(super) struct Driver {
    api: EntryPoints,
    /// `13000` for CUDA 13.0.
    pub version: u32,
}

/// Calls an entry point and names it in the error. The one place where a code becomes a result.
macro_rules! call {
    ($self:ident.$name:ident($($arg:expr),* $(,)?)) => {
        // SAFETY: the entry point has cuda.h's type for it, and each call site passes what it declares: outputs are
        // live locals, handles came from this driver, host ranges are the `unsafe fn`s' callers' promise.
        match unsafe { ($self.api.$name)($($arg),*) } {
            0 => Ok(()),
            code => Err(DriverError { call: stringify!($name), code }),
        }
    };
}

impl Driver {
    /// Finds and initialises the driver, once a process.
    ///
    /// # Errors
    /// `environment`: no library, a stub, a missing entry point, no device, a driver that does not match.
    pub fn get() -> std::result::Result<&'static Self, Fault> {
        static DRIVER: OnceLock<std::result::Result<Driver, Fault>> = OnceLock::new();
        DRIVER
            .get_or_init(Self::start)
            .as_ref()
            .map_err(Fault::clone)
    }

    fn start() -> std::result::Result<Self, Fault> {
        // SAFETY: it only opens and closes the library.
        if !unsafe { sys::is_culib_present() } {
            return Err(Fault::environment(
                "no CUDA driver: libcuda.so.1 is not on this machine or not in the container: install NVIDIA's driver \
                 or start the container with the GPU; CUDA_GATES_DEVICE=sim runs on the simulated device",
            ));
        }
        let api = EntryPoints::resolve().map_err(|name| {
            Fault::environment(format!(
                "libcuda lacks {name}: this driver is too old (520 or newer is needed) or is not NVIDIA's"
            ))
        })?;
        let mut driver = Self { api, version: 0 };
        let failed = |driver: &Self, error: DriverError| {
            start_fault(error, &driver.words(error.code), "starting CUDA")
        };
        call!(driver.cuInit(0)).map_err(|error| failed(&driver, error))?;
        let mut version = 0;
        call!(driver.cuDriverGetVersion(&mut version)).map_err(|error| failed(&driver, error))?;
        driver.version = version.unsigned_abs();
        Ok(driver)
    }

    /// The driver's name and words for a code: `CUDA_ERROR_ILLEGAL_ADDRESS (an illegal memory access was …)`.
    pub fn words(&self, code: u32) -> String {
        let text = |entry: unsafe extern "C" fn(u32, *mut *const c_char) -> u32| {
            let mut text = ptr::null();
            // SAFETY: the output is a live local; the driver leaves null there for a code it does not know.
            let found = unsafe { entry(code, &mut text) };
            if found != 0 || text.is_null() {
                return None;
            }
            // SAFETY: not null and said to be found: a constant string of the driver.
            Some(unsafe { CStr::from_ptr(text) }.to_string_lossy())
        };
        match (
            text(self.api.cuGetErrorName),
            text(self.api.cuGetErrorString),
        ) {
            (Some(name), Some(words)) => format!("{name} ({words})"),
            (Some(name), None) => name.into_owned(),
            (None, _) => format!("code {code}, which this driver does not name"),
        }
    }

    pub fn device_count(&self) -> Result<usize> {
        let mut count = 0;
        call!(self.cuDeviceGetCount(&mut count))?;
        Ok(usize::try_from(count).unwrap_or(0))
    }

    pub fn device(&self, index: usize) -> Result<Ordinal> {
        let mut device = 0;
        let index = c_int::try_from(index).unwrap_or(c_int::MAX);
        call!(self.cuDeviceGet(&mut device, index))?;
        Ok(Ordinal(device))
    }

    pub fn name(&self, device: Ordinal) -> Result<String> {
        let mut name = [0 as c_char; 256];
        call!(self.cuDeviceGetName(name.as_mut_ptr(), name.len() as c_int, device.0))?;
        let bytes: Vec<u8> = name
            .iter()
            .map(|&c| c.cast_unsigned())
            .take_while(|&c| c != 0)
            .collect();
        Ok(String::from_utf8_lossy(&bytes).into_owned())
    }

    pub fn uuid(&self, device: Ordinal) -> Result<[u8; 16]> {
        let mut uuid = sys::CUuuid { bytes: [0; 16] };
        call!(self.cuDeviceGetUuid_v2(&mut uuid, device.0))?;
        Ok(uuid.bytes.map(|byte| byte as u8))
    }

    pub fn total_memory(&self, device: Ordinal) -> Result<u64> {
        let mut bytes = 0;
        call!(self.cuDeviceTotalMem_v2(&mut bytes, device.0))?;
        Ok(bytes as u64)
    }

    pub fn attribute(&self, device: Ordinal, attribute: DeviceAttribute) -> Result<u32> {
        let mut value = 0;
        call!(self.cuDeviceGetAttribute(&mut value, attribute, device.0))?;
        Ok(value.unsigned_abs())
    }

    /// Retains the device's primary context and makes it this thread's.
    pub fn enter(&self, device: Ordinal) -> Result<()> {
        let mut context = ptr::null_mut();
        call!(self.cuDevicePrimaryCtxRetain(&mut context, device.0))?;
        call!(self.cuCtxSetCurrent(context))
    }

    pub fn leave(&self, device: Ordinal) -> Result<()> {
        call!(self.cuDevicePrimaryCtxRelease_v2(device.0))
    }

    /// Free and total bytes.
    pub fn memory(&self) -> Result<(u64, u64)> {
        let (mut free, mut total) = (0, 0);
        call!(self.cuMemGetInfo_v2(&mut free, &mut total))?;
        Ok((free as u64, total as u64))
    }

    /// Loads a cubin or NUL-terminated PTX. The second value is the JIT compiler's log, empty when it said nothing;
    /// it is there on errors too.
    pub fn load(&self, image: &[u8]) -> (Result<Module>, String) {
        use sys::CUjit_option as Option;
        const LOG_BYTES: usize = 32 * 1024;
        let (mut info, mut errors) = (vec![0_u8; LOG_BYTES], vec![0_u8; LOG_BYTES]);
        let mut options = [
            Option::CU_JIT_INFO_LOG_BUFFER,
            Option::CU_JIT_INFO_LOG_BUFFER_SIZE_BYTES,
            Option::CU_JIT_ERROR_LOG_BUFFER,
            Option::CU_JIT_ERROR_LOG_BUFFER_SIZE_BYTES,
            Option::CU_JIT_LOG_VERBOSE,
        ];
        let number = |value: usize| ptr::without_provenance_mut::<c_void>(value);
        let mut values = [
            info.as_mut_ptr().cast(),
            number(LOG_BYTES),
            errors.as_mut_ptr().cast(),
            number(LOG_BYTES),
            number(1),
        ];
        let mut module = ptr::null_mut();
        let loaded = call!(self.cuModuleLoadDataEx(
            &mut module,
            image.as_ptr().cast(),
            options.len() as c_uint,
            options.as_mut_ptr(),
            values.as_mut_ptr(),
        ));
        let mut log = log_text(&errors);
        log.push_str(&log_text(&info));
        (loaded.map(|()| Module(module)), log.trim().to_owned())
    }

    pub fn unload(&self, module: Module) -> Result<()> {
        call!(self.cuModuleUnload(module.0))
    }

    pub fn function(&self, module: Module, name: &CString) -> Result<Function> {
        let mut function = ptr::null_mut();
        call!(self.cuModuleGetFunction(&mut function, module.0, name.as_ptr()))?;
        Ok(Function(function))
    }

    pub fn function_attribute(
        &self,
        function: Function,
        attribute: FunctionAttribute,
    ) -> Result<u32> {
        let mut value = 0;
        call!(self.cuFuncGetAttribute(&mut value, attribute, function.0))?;
        Ok(value.unsigned_abs())
    }

    pub fn set_function_attribute(
        &self,
        function: Function,
        attribute: FunctionAttribute,
        value: u32,
    ) -> Result<()> {
        let value = c_int::try_from(value).unwrap_or(c_int::MAX);
        call!(self.cuFuncSetAttribute(function.0, attribute, value))
    }

    /// Bytes of parameter `index`: `Err` where the kernel has none, none where the driver (before 12.4) cannot say.
    pub fn parameter_size(&self, function: Function, index: usize) -> Option<Result<u64>> {
        let entry = self.api.cuFuncGetParamInfo?;
        let (mut offset, mut size) = (0, 0);
        // SAFETY: outputs are live locals, the function is this driver's.
        Some(
            match unsafe { entry(function.0, index, &mut offset, &mut size) } {
                0 => Ok(size as u64),
                code => Err(DriverError {
                    call: "cuFuncGetParamInfo",
                    code,
                }),
            },
        )
    }
}

/// The text before the first NUL.
fn log_text(buffer: &[u8]) -> String {
    let end = buffer
        .iter()
        .position(|&byte| byte == 0)
        .unwrap_or(buffer.len());
    let mut text = String::from_utf8_lossy(&buffer[..end]).trim().to_owned();
    if !text.is_empty() {
        text.push('\n');
    }
    text
}

mod work;
