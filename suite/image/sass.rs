//! Native code: which of the embedded cubins a device can run.

use std::sync::Arc;

use super::embedded::{self, Cubin, Failure};
use super::hash::sha256_hex;
use super::{Code, Image, built_without};
use crate::outcome::Fault;
use crate::terms::ImageKind;

/// What `build.rs` made with nvcc.
#[derive(Clone, Copy, Debug)]
pub(super) struct Sass {
    /// `nvcc 13.0.88`; none where there was no nvcc.
    pub compiler: Option<&'static str>,
    pub cubins: &'static [Cubin],
    pub failures: &'static [Failure],
}

impl Sass {
    pub fn embedded() -> Self {
        Self {
            compiler: option_env!("CUDA_GATES_NVCC"),
            cubins: embedded::CUBINS,
            failures: embedded::FAILURES,
        }
    }

    /// # Errors
    /// `built without`, with what to do about it.
    pub fn image(
        self,
        module: &str,
        source_sha256: &str,
        device: (u32, u32),
    ) -> Result<Image, Fault> {
        let Some(compiler) = self.compiler else {
            return Err(built_without(format!(
                "nvcc: this executable holds no native code of `{module}`; put nvcc on PATH, or set NVCC or CUDA_HOME, \
                 and build again"
            )));
        };
        let failure = self
            .failures
            .iter()
            .find(|failure| failure.module == module);
        if let Some(failure) = failure {
            return Err(built_without(format!(
                "native code of `{module}`: {compiler} refused it: {}",
                failure.message
            )));
        }
        let of_module: Vec<&Cubin> = self
            .cubins
            .iter()
            .filter(|cubin| cubin.module == module)
            .collect();
        let current = |cubin: &&&Cubin| cubin.source_sha256 == source_sha256;
        if of_module.iter().find(current).is_none() {
            let why = if of_module.is_empty() {
                "was not there, or compiled for no architecture,"
            } else {
                "was another"
            };
            return Err(built_without(format!(
                "native code of `{module}`: kernels/{module}.cu {why} when this executable was built; build again with \
                 nvcc at hand"
            )));
        }
        let architectures: Vec<_> = of_module.iter().map(|cubin| cubin.architecture).collect();
        let Some(best) = best(device, &architectures) else {
            return Err(built_without(format!(
                "native code of `{module}` for compute capability {}.{}: {compiler} built {}; CUDA_GATES_ARCHS={}{} at \
                 build time adds it, if nvcc knows it",
                device.0,
                device.1,
                list(&architectures),
                device.0,
                device.1
            )));
        };
        let cubin = of_module[best];
        Ok(Image {
            kind: ImageKind::Sass,
            module: module.to_owned(),
            code: Code::Cubin(Arc::from(cubin.bytes)),
            sha256: sha256_hex(cubin.bytes),
            compiler: compiler.to_owned(),
        })
    }
}

/// Index of the architecture whose code runs best on `device`: the same major version, the highest minor one that is
/// not above the device's (CUDA C++ Programming Guide, "Binary compatibility").
pub(super) fn best(device: (u32, u32), architectures: &[(u32, u32)]) -> Option<usize> {
    let usable =
        |&(_, (major, minor)): &(usize, &(u32, u32))| *major == device.0 && *minor <= device.1;
    let (index, _) = architectures
        .iter()
        .enumerate()
        .filter(usable)
        .max_by_key(|(_, architecture)| **architecture)?;
    Some(index)
}

/// `sm_75, sm_80`
pub(super) fn list(architectures: &[(u32, u32)]) -> String {
    let names: Vec<String> = architectures
        .iter()
        .map(|(major, minor)| format!("sm_{major}{minor}"))
        .collect();
    names.join(", ")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::terms::ReasonKind;

    #[test]
    fn the_best_cubin_is_of_the_same_major_and_not_above() {
        let built = [(7, 5), (8, 0), (8, 6), (8, 9), (9, 0), (10, 0), (12, 0)];
        for (device, wanted) in [
            ((7, 5), Some((7, 5))),
            ((7, 0), None),
            ((8, 0), Some((8, 0))),
            ((8, 6), Some((8, 6))),
            ((8, 7), Some((8, 6))),
            ((8, 9), Some((8, 9))),
            ((9, 0), Some((9, 0))),
            ((10, 3), Some((10, 0))),
            ((11, 0), None),
            ((12, 1), Some((12, 0))),
        ] {
            let found = best(device, &built).map(|index| built[index]);
            assert_eq!(found, wanted, "device {device:?}");
        }
        assert_eq!(best((9, 0), &[]), None);
        assert_eq!(
            best((8, 9), &[(8, 6), (8, 0)]),
            Some(0),
            "whatever the order"
        );
    }

    const CUBINS: &[Cubin] = &[
        Cubin {
            module: "copy",
            architecture: (8, 0),
            source_sha256: "aa",
            bytes: b"eighty",
        },
        Cubin {
            module: "copy",
            architecture: (9, 0),
            source_sha256: "aa",
            bytes: b"ninety",
        },
    ];

    fn sass() -> Sass {
        Sass {
            compiler: Some("nvcc 13.0.88"),
            cubins: CUBINS,
            failures: &[Failure {
                module: "broken",
                message: "error: expected a `;`",
            }],
        }
    }

    fn refusal(result: Result<Image, Fault>) -> String {
        let fault = result.expect_err("no native code");
        assert_eq!(fault.reason.kind, ReasonKind::BuiltWithout);
        assert!(!fault.sticky);
        fault.reason.message
    }

    #[test]
    fn a_device_gets_its_own_code() {
        let image = sass().image("copy", "aa", (9, 0)).expect("a cubin");
        assert!(matches!(&image.code, Code::Cubin(bytes) if **bytes == *b"ninety"));
        assert_eq!(image.sha256, sha256_hex(b"ninety"));
        assert_eq!(
            (image.kind, image.compiler.as_str()),
            (ImageKind::Sass, "nvcc 13.0.88")
        );
    }

    #[test]
    fn each_lack_is_a_skip_that_says_what_to_do() {
        let without = Sass {
            compiler: None,
            cubins: &[],
            failures: &[],
        };
        assert!(refusal(without.image("copy", "aa", (9, 0))).contains("NVCC"));
        let other = refusal(sass().image("copy", "aa", (7, 5)));
        assert!(
            other.contains("7.5") && other.contains("sm_80, sm_90") && other.contains("=75"),
            "{other}"
        );
        assert!(refusal(sass().image("copy", "bb", (9, 0))).contains("was another"));
        assert!(refusal(sass().image("mine", "cc", (9, 0))).contains("was not there"));
        assert!(refusal(sass().image("broken", "dd", (9, 0))).contains("expected a `;`"));
    }
}
