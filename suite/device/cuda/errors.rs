//! What a driver's error code means for a case, and what a person can do about it.
//!
//! Owns: the table from `CUresult` codes to fault kinds and mends. Imports `outcome` only. Codes are plain numbers
//! here: a driver newer than this program returns codes that no enum of ours lists.
//!
//! ```text
//! 700 → kernel fault (sticky)   222 → environment: the driver is older than the PTX   803 → environment: reboot
//! ```

use crate::outcome::{Fault, Reason};
use crate::terms::ReasonKind;

/// A call that failed, by name, and the code it gave.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct DriverError {
    pub call: &'static str,
    pub code: u32,
}

pub(super) const OUT_OF_MEMORY: u32 = 2;

/// How far a failure reaches.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Reach {
    /// This case cannot run so; the context is whole.
    Case,
    /// A kernel broke the context.
    Context,
    /// Driver, card and image do not go together; the context is whole.
    Skew,
    /// The machine, driver or card.
    Machine,
}

/// The reach of a code met while a context is in use, and the mend where there is one.
///
/// Codes by the driver API's `CUresult` list; one that is not in the table may have broken the context, and a fresh
/// process is the only answer that is always right.
pub(super) fn meaning(code: u32) -> (Reach, Option<&'static str>) {
    use Reach::{Case, Context, Machine, Skew};
    match code {
        1 => (Case, None),
        OUT_OF_MEMORY => (
            Case,
            Some("free memory on the card or choose a smaller size"),
        ),
        3 | 4 => (Machine, None),
        34 => (Machine, Some(STUB)),
        36 => (Machine, Some("install a newer driver")),
        46 => (
            Machine,
            Some(
                "another process holds the card, or its compute mode forbids this one (`nvidia-smi -q -d \
                 COMPUTE`)",
            ),
        ),
        100 => (Machine, Some(NO_DEVICE)),
        101 => (
            Machine,
            Some("`cuda-gates devices` lists the devices there are"),
        ),
        102 => (
            Machine,
            Some("the vGPU has no licence (`nvidia-smi -q`, Licensed Product)"),
        ),
        200 | 300 => (
            Case,
            Some("the image is damaged: `cuda-gates kernels build` makes it afresh"),
        ),
        201 | 709 => (Context, None),
        700 | 714..=719 => (Context, Some(LOOK)),
        702 => (
            Context,
            Some(
                "the driver's watchdog ended the kernel: it runs too long, or the card also drives a display",
            ),
        ),
        710 => (
            Context,
            Some("an `assert` in the kernel failed: its words are in the case's output"),
        ),
        209 => (
            Skew,
            Some(
                "the native image is for another architecture: build on this machine or name it in \
                 CUDA_GATES_ARCHS, or use `--image jit`",
            ),
        ),
        214 => (
            Machine,
            Some("the card met an uncorrectable memory error: reset or replace it"),
        ),
        218 => (
            Case,
            Some("the driver's compiler refused the PTX; its log says why"),
        ),
        220 => (
            Machine,
            Some("NVLink met an uncorrectable error: reset the card"),
        ),
        221 => (
            Machine,
            Some(
                "the driver's PTX compiler (libnvidia-ptxjitcompiler) is missing: reinstall the driver, or \
                 give the container the `compute` capability",
            ),
        ),
        222 => (
            Skew,
            Some(
                "the PTX is newer than this driver: install a newer driver, or compile it with an older toolkit",
            ),
        ),
        223 => (Case, Some("unset CUDA_DISABLE_PTX_JIT")),
        226 => (
            Machine,
            Some("the card contained a memory error: its driver log has the Xid"),
        ),
        227 => (Machine, Some("reinstall the driver")),
        302..=304 => (Machine, Some("reinstall the driver")),
        400 | 500 => (Case, None),
        701 => (
            Case,
            Some("the launch needs more registers, threads or shared memory than a block has"),
        ),
        720 => (Case, None),
        801 => (Case, None),
        800 => (
            Machine,
            Some("this user may not use the card: check the device files' rights"),
        ),
        802 | 919 => (
            Machine,
            Some(
                "the NVSwitch fabric is not up: start nvidia-fabricmanager, of the driver's \
                 version",
            ),
        ),
        803 => (
            Machine,
            Some(
                "libcuda and the loaded kernel driver are of different versions: reboot after the driver \
                 update",
            ),
        ),
        804 => (
            Machine,
            Some(
                "this card does not support the compatibility libcuda in use: remove it from \
                 LD_LIBRARY_PATH",
            ),
        ),
        805..=810 => (
            Machine,
            Some("CUDA MPS is in the way: check or stop its daemon"),
        ),
        _ => (Context, None),
    }
}

const LOOK: &str =
    "`compute-sanitizer` names the access; so does `--device sim`, for kernels that are PTX";
pub(super) const NO_DEVICE: &str = "CUDA sees no device: check CUDA_VISIBLE_DEVICES, `nvidia-smi`, and that a \
     container was given the GPU";
pub(super) const STUB: &str = "the toolkit's stub libcuda was loaded instead of the driver's: take `…/lib64/stubs` out \
     of LD_LIBRARY_PATH";

/// The fault of a call that failed while a context is in use. `words` are the driver's own for the code; `context`
/// says what was asked for.
pub(super) fn fault(error: DriverError, words: &str, context: &str) -> Fault {
    let (reach, mend) = meaning(error.code);
    let message = message(error, words, context, mend);
    match reach {
        Reach::Case => Fault::setup(message),
        Reach::Context => Fault::kernel(message),
        Reach::Skew => busy(message),
        Reach::Machine => Fault::environment(message),
    }
}

/// The fault of a call that failed before there was a context: always the machine's.
pub(super) fn start_fault(error: DriverError, words: &str, context: &str) -> Fault {
    let mend = match error.code {
        999 => Some(
            "the kernel module nvidia_uvm is missing or stuck, as after a suspend: load it afresh",
        ),
        code => meaning(code).1,
    };
    Fault::environment(message(error, words, context, mend))
}

fn message(error: DriverError, words: &str, context: &str, mend: Option<&str>) -> String {
    let mut text = format!("{context}: {} gave {words}", error.call);
    if let Some(mend) = mend {
        text.push_str(": ");
        text.push_str(mend);
    }
    text
}

/// The machine stands in the way, but this process's context is whole: the next case may be luckier.
pub(super) fn busy(message: impl Into<String>) -> Fault {
    Fault {
        reason: Reason::new(ReasonKind::Environment, message),
        sticky: false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const fn error(code: u32) -> DriverError {
        DriverError {
            call: "cuCall",
            code,
        }
    }

    #[test]
    fn codes_map_to_kinds() {
        use ReasonKind::{Environment, KernelFault, Setup};
        let table = [
            (1, Setup, false),
            (2, Setup, false),
            (34, Environment, true),
            (100, Environment, true),
            (209, Environment, false),
            (214, Environment, true),
            (218, Setup, false),
            (222, Environment, false),
            (226, Environment, true),
            (500, Setup, false),
            (700, KernelFault, true),
            (701, Setup, false),
            (702, KernelFault, true),
            (710, KernelFault, true),
            (715, KernelFault, true),
            (716, KernelFault, true),
            (719, KernelFault, true),
            (721, KernelFault, true),
            (802, Environment, true),
            (803, Environment, true),
            (999, KernelFault, true),
            (4_000_000_000, KernelFault, true),
        ];
        for (code, kind, sticky) in table {
            let fault = fault(error(code), "WORDS", "doing");
            assert_eq!((fault.reason.kind, fault.sticky), (kind, sticky), "{code}");
        }
    }

    #[test]
    fn a_message_holds_the_task_the_call_the_words_and_the_mend() {
        let fault = fault(error(803), "CUDA_ERROR_X (words)", "starting");
        assert_eq!(
            fault.reason.message,
            "starting: cuCall gave CUDA_ERROR_X (words): libcuda and the loaded kernel driver are of different \
             versions: reboot after the driver update"
        );
    }

    #[test]
    fn every_failure_to_start_is_the_machines() {
        for code in [1, 34, 100, 700, 803, 999] {
            let fault = start_fault(error(code), "WORDS", "starting CUDA");
            assert_eq!(fault.reason.kind, ReasonKind::Environment, "{code}");
        }
    }
}
