//! The entry points of libcuda, looked up by name in the library that cudarc finds.
//!
//! Owns: their names and types, as cuda.h declares them. Results are plain numbers: cudarc's own functions return a
//! Rust enum of the codes it knows (a newer driver gives others, as 226 for a contained memory error) and panic on a
//! missing symbol; neither may happen in a suite that judges drivers.
//!
//! ```text
//! EntryPoints::resolve() → Err("cuFuncLoad") from a driver that is too old, else a table of function pointers
//! ```

use std::ffi::{c_char, c_int, c_uint, c_void};

use cudarc::driver::sys;

pub(super) use sys::CUdevice_attribute as DeviceAttribute;
pub(super) use sys::CUfunction_attribute as FunctionAttribute;

/// Defines the table of entry points; the `optional` ones may be missing from an older driver.
macro_rules! entry_points {
    (required { $($name:ident($($arg:ty),*);)* } optional { $($extra:ident($($extra_arg:ty),*);)* }) => {
        #[expect(non_snake_case, reason = "the driver API's own names")]
        pub(super) struct EntryPoints {
            $(pub $name: unsafe extern "C" fn($($arg),*) -> u32,)*
            $(pub $extra: Option<unsafe extern "C" fn($($extra_arg),*) -> u32>,)*
        }

        impl EntryPoints {
            /// The name of the first missing one on error. Call only when the library is known to be there: cudarc
            /// panics without it.
            pub fn resolve() -> std::result::Result<Self, &'static str> {
                // SAFETY: loading libcuda runs its initialisers, which is what every CUDA program does.
                let library = unsafe { sys::culib() };
                Ok(Self {
                    $($name: {
                        let name = concat!(stringify!($name), "\0").as_bytes();
                        // SAFETY: the type is the one cuda.h declares for this name; CUresult is a C enum of 4 bytes.
                        match unsafe { library.get::<unsafe extern "C" fn($($arg),*) -> u32>(name) } {
                            Ok(symbol) => *symbol,
                            Err(_) => return Err(stringify!($name)),
                        }
                    },)*
                    $($extra: {
                        let name = concat!(stringify!($extra), "\0").as_bytes();
                        // SAFETY: as above.
                        let symbol = unsafe {
                            library.get::<unsafe extern "C" fn($($extra_arg),*) -> u32>(name)
                        };
                        symbol.ok().map(|symbol| *symbol)
                    },)*
                })
            }
        }
    };
}

entry_points! {
    required {
        cuInit(c_uint);
        cuDriverGetVersion(*mut c_int);
        cuGetErrorName(u32, *mut *const c_char);
        cuGetErrorString(u32, *mut *const c_char);
        cuDeviceGetCount(*mut c_int);
        cuDeviceGet(*mut sys::CUdevice, c_int);
        cuDeviceGetName(*mut c_char, c_int, sys::CUdevice);
        cuDeviceGetUuid_v2(*mut sys::CUuuid, sys::CUdevice);
        cuDeviceTotalMem_v2(*mut usize, sys::CUdevice);
        cuDeviceGetAttribute(*mut c_int, DeviceAttribute, sys::CUdevice);
        cuDevicePrimaryCtxRetain(*mut sys::CUcontext, sys::CUdevice);
        cuDevicePrimaryCtxRelease_v2(sys::CUdevice);
        cuCtxSetCurrent(sys::CUcontext);
        cuMemGetInfo_v2(*mut usize, *mut usize);
        cuModuleLoadDataEx(*mut sys::CUmodule, *const c_void, c_uint, *mut sys::CUjit_option, *mut *mut c_void);
        cuModuleUnload(sys::CUmodule);
        cuModuleGetFunction(*mut sys::CUfunction, sys::CUmodule, *const c_char);
        cuFuncGetAttribute(*mut c_int, FunctionAttribute, sys::CUfunction);
        cuFuncSetAttribute(sys::CUfunction, FunctionAttribute, c_int);
        cuMemAlloc_v2(*mut sys::CUdeviceptr, usize);
        cuMemFree_v2(sys::CUdeviceptr);
        cuMemHostAlloc(*mut *mut c_void, usize, c_uint);
        cuMemFreeHost(*mut c_void);
        cuMemcpyHtoDAsync_v2(sys::CUdeviceptr, *const c_void, usize, sys::CUstream);
        cuMemcpyDtoHAsync_v2(*mut c_void, sys::CUdeviceptr, usize, sys::CUstream);
        cuMemcpyDtoDAsync_v2(sys::CUdeviceptr, sys::CUdeviceptr, usize, sys::CUstream);
        cuMemsetD8Async(sys::CUdeviceptr, u8, usize, sys::CUstream);
        cuMemsetD16Async(sys::CUdeviceptr, u16, usize, sys::CUstream);
        cuMemsetD32Async(sys::CUdeviceptr, u32, usize, sys::CUstream);
        cuStreamCreate(*mut sys::CUstream, c_uint);
        cuStreamSynchronize(sys::CUstream);
        cuStreamDestroy_v2(sys::CUstream);
        cuEventCreate(*mut sys::CUevent, c_uint);
        cuEventRecord(sys::CUevent, sys::CUstream);
        cuEventSynchronize(sys::CUevent);
        cuEventElapsedTime(*mut f32, sys::CUevent, sys::CUevent);
        cuEventDestroy_v2(sys::CUevent);
        cuLaunchKernel(sys::CUfunction, c_uint, c_uint, c_uint, c_uint, c_uint, c_uint, c_uint, sys::CUstream,
            *mut *mut c_void, *mut *mut c_void);
    }
    optional {
        cuFuncGetParamInfo(sys::CUfunction, usize, *mut usize, *mut usize);
    }
}
