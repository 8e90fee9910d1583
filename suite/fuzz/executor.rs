//! One kernel for the simulated device. `suite/tests/corpus.rs` replays the kept ones.

use cuda_gates::device::sim::{Schedule, SimDevice};
use cuda_gates::device::{Access, Argument, BufferId, Device, Launch};
use cuda_gates::image::{Code, Image, ptx};
use cuda_gates::outcome::{Fault, Finding};
use cuda_gates::terms::ImageKind;

use super::program::{self, Choices};

/// Warp instructions a launch may run.
const BUDGET: u64 = 6_000;
/// Device memory.
const MEMORY_BYTES: u64 = 64 << 20;
/// Kernels of one text that are run.
const KERNELS: usize = 2;

/// A kernel under a schedule ends, and does the same again. Both come from the bytes: half of them are the text itself,
/// half choose the text's instructions.
pub fn run(data: &[u8]) {
    let mut choices = Choices::new(data);
    let made = choices.below(2) == 0;
    let grid = 1 + choices.below(6);
    let block = [1, 7, 32, 33, 64, 256][choices.below(6) as usize];
    let schedule = Schedule::nth(u64::from(choices.below(256)), choices.below(256));
    let text = if made {
        program::text(&mut choices)
    } else {
        String::from_utf8_lossy(choices.rest()).into_owned()
    };
    let Ok(module) = ptx::parse(&text) else {
        assert!(!made, "a made text is PTX:\n{text}");
        return;
    };
    for signature in module.signatures().iter().take(KERNELS) {
        let run = || launch_once(&text, signature, grid, block, schedule);
        assert!(run() == run(), "two runs differ under {schedule}:\n{text}");
    }
}

/// All that one launch leaves.
type Left = (Result<(), Fault>, Vec<Finding>, Vec<Vec<u8>>, u64);

fn launch_once(
    text: &str,
    signature: &cuda_gates::image::Signature,
    grid: u32,
    block: u32,
    schedule: Schedule,
) -> Left {
    let mut device = SimDevice::new()
        .with_budget(BUDGET)
        .with_memory(MEMORY_BYTES);
    device.set_schedule(schedule);
    let mut buffers = Vec::new();
    let ran = launch(&mut device, text, signature, grid, block, &mut buffers);
    let findings = device.take_findings().expect("findings are always there");
    let bytes = buffers.iter().map(|&buffer| {
        let bytes = device.download(buffer, 0, BUFFER_BYTES);
        bytes.expect("it lies inside").to_vec()
    });
    let bytes = bytes.collect();
    (ran, findings, bytes, device.executed())
}

const BUFFER_BYTES: u64 = 1024;

fn launch(
    device: &mut SimDevice,
    text: &str,
    signature: &cuda_gates::image::Signature,
    grid: u32,
    block: u32,
    buffers: &mut Vec<BufferId>,
) -> Result<(), Fault> {
    let image = Image {
        kind: ImageKind::Jit,
        module: "fuzz".to_owned(),
        code: Code::Ptx(text.into()),
        sha256: String::new(),
        compiler: String::new(),
    };
    let module = device.load(&image)?.module;
    let mut args = Vec::new();
    for param in &signature.params {
        args.push(if param.size == 8 {
            let buffer = device.alloc(BUFFER_BYTES, Access::ReadWrite)?;
            // Half of it counts as never written.
            device.poison(buffer, 0, BUFFER_BYTES, &[0xdb])?;
            device.fill(buffer, 0, BUFFER_BYTES / 2, &[1, 2, 3, 4])?;
            buffers.push(buffer);
            Argument::Pointer { buffer, offset: 0 }
        } else {
            let bytes = 200_u64.to_le_bytes();
            let size = param.size.min(8);
            Argument::Scalar { bytes, size }
        });
    }
    device.launch(&Launch {
        module,
        kernel: &signature.name,
        grid: [grid, 1, 1],
        block: [block, 1, 1],
        shared: 256,
        args: &args,
    })
}
