//! Modules of a CUDA device: images loaded once, their kernels, and the limits a launch must keep.
//!
//! Owns: the cache by image kind and hash, the JIT log, and the checks before a launch. Imports `image` and `outcome`.
//! What a shape check refuses here would else be a driver's bare "invalid value".
//!
//! ```text
//! Image (PTX) → cuModuleLoadDataEx → log → Loaded; kernel name → function, its limits and parameter sizes
//! ```

use std::collections::HashMap;
use std::ffi::CString;

use super::driver::{
    DeviceAttribute, Driver, Function, FunctionAttribute, Module, Ordinal, Result,
};
use super::errors;
use crate::device::{Argument, Launch};
use crate::image::{Code, Image};
use crate::outcome::Fault;
use crate::terms::ImageKind;

/// A loaded image.
pub(super) struct LoadedImage {
    kind: ImageKind,
    sha256: String,
    name: String,
    pub module: Module,
    pub jit_log: Option<String>,
    kernels: HashMap<String, Kernel>,
}

/// A kernel of a module.
pub(super) struct Kernel {
    pub function: Function,
    max_threads: u32,
    static_shared: u32,
    /// Dynamic shared memory it may use so far.
    allowed_shared: u32,
    /// None where the driver cannot say.
    parameters: Option<Vec<u64>>,
}

/// What a launch on this device may ask for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Limits {
    pub grid: [u32; 3],
    pub block: [u32; 3],
    /// Bytes a block has without asking, and when it asks.
    pub shared: u32,
    pub shared_opt_in: u32,
}

impl Limits {
    pub fn read(driver: &Driver, device: Ordinal) -> Result<Self> {
        use DeviceAttribute as A;
        let of = |attribute| driver.attribute(device, attribute);
        Ok(Self {
            grid: [
                of(A::CU_DEVICE_ATTRIBUTE_MAX_GRID_DIM_X)?,
                of(A::CU_DEVICE_ATTRIBUTE_MAX_GRID_DIM_Y)?,
                of(A::CU_DEVICE_ATTRIBUTE_MAX_GRID_DIM_Z)?,
            ],
            block: [
                of(A::CU_DEVICE_ATTRIBUTE_MAX_BLOCK_DIM_X)?,
                of(A::CU_DEVICE_ATTRIBUTE_MAX_BLOCK_DIM_Y)?,
                of(A::CU_DEVICE_ATTRIBUTE_MAX_BLOCK_DIM_Z)?,
            ],
            shared: of(A::CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK)?,
            shared_opt_in: of(A::CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK_OPTIN)?,
        })
    }
}

impl LoadedImage {
    pub fn is(&self, image: &Image) -> bool {
        self.kind == image.kind && self.sha256 == image.sha256
    }

    pub fn load(driver: &Driver, image: &Image) -> std::result::Result<Self, Fault> {
        let context = format!("loading {} as {}", image.module, image.kind);
        let terminated;
        let code = match &image.code {
            Code::Cubin(bytes) => &bytes[..],
            Code::Ptx(text) => {
                terminated = CString::new(text.as_bytes()).map_err(|_| {
                    Fault::setup(format!("{context}: the PTX holds a NUL character"))
                })?;
                terminated.as_bytes_with_nul()
            }
        };
        let (loaded, log) = driver.load(code);
        let module = loaded.map_err(|error| {
            let mut fault = errors::fault(error, &driver.words(error.code), &context);
            if !log.is_empty() {
                fault
                    .reason
                    .message
                    .push_str(&format!("; the JIT log: {log}"));
            }
            fault
        })?;
        Ok(Self {
            kind: image.kind,
            sha256: image.sha256.clone(),
            name: image.module.clone(),
            module,
            jit_log: Some(log).filter(|log| !log.is_empty()),
            kernels: HashMap::new(),
        })
    }

    pub fn kernel(
        &mut self,
        driver: &Driver,
        name: &str,
    ) -> std::result::Result<&mut Kernel, Fault> {
        if !self.kernels.contains_key(name) {
            let context = format!("kernel {name} of {}", self.name);
            let kernel = CString::new(name)
                .map_err(|_| Fault::setup(format!("{context}: a name with a NUL character")))
                .and_then(|c_name| {
                    Kernel::find(driver, self.module, &c_name)
                        .map_err(|error| errors::fault(error, &driver.words(error.code), &context))
                })?;
            self.kernels.insert(name.to_owned(), kernel);
        }
        self.kernels
            .get_mut(name)
            .ok_or_else(|| Fault::setup(format!("kernel {name} is missing")))
    }
}

impl Kernel {
    fn find(driver: &Driver, module: Module, name: &CString) -> Result<Self> {
        use FunctionAttribute as A;
        let function = driver.function(module, name)?;
        let of = |attribute| driver.function_attribute(function, attribute);
        Ok(Self {
            function,
            max_threads: of(A::CU_FUNC_ATTRIBUTE_MAX_THREADS_PER_BLOCK)?,
            static_shared: of(A::CU_FUNC_ATTRIBUTE_SHARED_SIZE_BYTES)?,
            allowed_shared: 0,
            parameters: parameters(driver, function),
        })
    }

    /// Checks a launch, and lets the kernel use the dynamic shared memory it asks for.
    pub fn admit(
        &mut self,
        driver: &Driver,
        limits: Limits,
        launch: &Launch<'_>,
    ) -> std::result::Result<(), Fault> {
        let kernel = launch.kernel;
        check_shape(limits, launch.grid, launch.block, self.max_threads)
            .and_then(|()| check_parameters(self.parameters.as_deref(), launch.args))
            .and_then(|()| check_shared(limits, self.static_shared, launch.shared))
            .map_err(|words| Fault::setup(format!("launch of {kernel}: {words}")))?;
        if self.static_shared + launch.shared > limits.shared && launch.shared > self.allowed_shared
        {
            let attribute = FunctionAttribute::CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES;
            driver
                .set_function_attribute(self.function, attribute, launch.shared)
                .map_err(|error| {
                    let context =
                        format!("{kernel}: {} bytes of dynamic shared memory", launch.shared);
                    errors::fault(error, &driver.words(error.code), &context)
                })?;
            self.allowed_shared = launch.shared;
        }
        Ok(())
    }
}

/// A kernel's parameter sizes in order, as the driver knows them.
fn parameters(driver: &Driver, function: Function) -> Option<Vec<u64>> {
    /// The parameter space of a kernel is at most 32,764 bytes.
    const MOST: usize = 32_764;
    let mut sizes = Vec::new();
    while let Ok(size) = driver.parameter_size(function, sizes.len())? {
        if sizes.len() == MOST {
            return None;
        }
        sizes.push(size);
    }
    Some(sizes)
}

type Checked = std::result::Result<(), String>;

fn check_shape(limits: Limits, grid: [u32; 3], block: [u32; 3], max_threads: u32) -> Checked {
    for (what, shape, limit) in [("grid", grid, limits.grid), ("block", block, limits.block)] {
        let fits = shape.iter().zip(limit).all(|(&n, most)| n > 0 && n <= most);
        if !fits {
            return Err(format!("{what} {shape:?} is not within 1 to {limit:?}"));
        }
    }
    let threads: u64 = block.iter().map(|&n| u64::from(n)).product();
    if threads > u64::from(max_threads) {
        return Err(format!(
            "a block of {threads} threads; this kernel takes at most {max_threads} here"
        ));
    }
    Ok(())
}

fn check_shared(limits: Limits, fixed: u32, dynamic: u32) -> Checked {
    let asked = u64::from(fixed) + u64::from(dynamic);
    let most = limits.shared_opt_in.max(limits.shared);
    if asked > u64::from(most) {
        return Err(format!(
            "{asked} bytes of shared memory ({fixed} static); a block has at most {most}"
        ));
    }
    Ok(())
}

/// The driver reads as many values of as many bytes as the kernel declares, whatever is given.
fn check_parameters(declared: Option<&[u64]>, args: &[Argument]) -> Checked {
    let size = |arg: &Argument| match arg {
        Argument::Pointer { .. } => 8,
        Argument::Scalar { size, .. } => u64::from(*size),
    };
    match declared {
        Some(declared) if !declared.iter().copied().eq(args.iter().map(size)) => {
            let given: Vec<u64> = args.iter().map(size).collect();
            Err(format!(
                "it takes parameters of {declared:?} bytes, given {given:?}"
            ))
        }
        _ => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::device::BufferId;

    const T4: Limits = Limits {
        grid: [2_147_483_647, 65_535, 65_535],
        block: [1024, 1024, 64],
        shared: 49_152,
        shared_opt_in: 65_536,
    };

    #[test]
    fn shapes_within_the_limits_pass() {
        assert_eq!(check_shape(T4, [1024, 1, 1], [256, 1, 1], 1024), Ok(()));
        assert_eq!(
            check_shape(T4, [2_147_483_647, 65_535, 65_535], [16, 16, 4], 1024),
            Ok(())
        );
    }

    #[test]
    fn a_shape_one_past_a_limit_is_named() {
        for (grid, block) in [
            ([0, 1, 1], [1, 1, 1]),
            ([1, 65_536, 1], [1, 1, 1]),
            ([1, 1, 1], [1025, 1, 1]),
            ([1, 1, 1], [1, 1, 65]),
            ([1, 1, 1], [1, 1, 0]),
        ] {
            assert!(
                check_shape(T4, grid, block, 1024).is_err(),
                "{grid:?} {block:?}"
            );
        }
        let words = check_shape(T4, [1, 1, 1], [33, 32, 1], 1024).unwrap_err();
        assert_eq!(
            words,
            "a block of 1056 threads; this kernel takes at most 1024 here"
        );
        assert!(check_shape(T4, [1, 1, 1], [256, 1, 1], 255).is_err());
    }

    #[test]
    fn shared_memory_counts_static_and_dynamic() {
        assert_eq!(check_shared(T4, 0, 65_536), Ok(()));
        assert!(check_shared(T4, 1, 65_536).is_err());
        assert!(check_shared(T4, 4, u32::MAX).is_err());
    }

    #[test]
    fn parameters_must_match_where_the_driver_knows_them() {
        let pointer = Argument::Pointer {
            buffer: BufferId(0),
            offset: 0,
        };
        let int = Argument::Scalar {
            bytes: [0; 8],
            size: 4,
        };
        assert_eq!(check_parameters(Some(&[8, 4]), &[pointer, int]), Ok(()));
        assert!(check_parameters(Some(&[8, 8]), &[pointer, int]).is_err());
        assert!(check_parameters(Some(&[8, 4, 4]), &[pointer, int]).is_err());
        assert!(check_parameters(Some(&[]), &[int]).is_err());
        assert_eq!(check_parameters(None, &[pointer, int]), Ok(()));
    }
}
