//! The simulated device's speed on the suite's own kernels: lane-instructions a second on one core, without detectors
//! and with all of them. `cargo bench --bench simulator`; `docs/performance.md` says what to expect.

use std::time::Instant;

use cuda_gates::device::sim::SimDevice;
use cuda_gates::device::{Access, Argument, BufferId, Device, Launch};
use cuda_gates::image::Catalog;
use cuda_gates::terms::ImageKind;

/// Elements.
const LEN: u32 = 1 << 20;
const ROUNDS: usize = 5;

/// One kernel on its buffers.
struct Subject {
    name: &'static str,
    module: &'static str,
    kernel: &'static str,
    grid: u32,
    block: u32,
    shared: u32,
    arguments: Vec<Given>,
}

/// What a kernel is given.
#[derive(Clone, Copy)]
enum Given {
    /// `LEN` numbers without a pattern, a third of them 0.
    Input,
    /// How many numbers of the input before this one are not 0.
    Ranks,
    /// So many words, zero before each launch.
    Zeroed(u32),
    /// `LEN` words, never written before.
    Output,
    Number(u32),
}

fn subjects() -> Vec<Subject> {
    use Given::{Input, Number, Output, Ranks, Zeroed};
    let tile = 512 * 32;
    let tiles = LEN.div_ceil(tile);
    let subject = |name, module, kernel, grid, block, shared, arguments: &[Given]| Subject {
        name,
        module,
        kernel,
        grid,
        block,
        shared,
        arguments: arguments.to_vec(),
    };
    let scan = [Input, Output, Zeroed(LEN / 256), Number(LEN)];
    let look_back = [
        Input,
        Output,
        Zeroed(1),
        Zeroed(2 * (tiles + 1)),
        Number(12000),
        Number(8),
        Number(LEN),
    ];
    vec![
        subject("scan", "compaction", "scan_tiles", LEN / 256, 256, 0, &scan),
        subject(
            "look-back",
            "lookback",
            "compact_nonzero",
            tiles,
            512,
            48000,
            &look_back,
        ),
        subject(
            "scatter",
            "compaction",
            "scatter",
            1024,
            256,
            0,
            &[Input, Ranks, Output, Number(LEN)],
        ),
        subject(
            "atomics",
            "compaction",
            "compact_atomic",
            1024,
            256,
            0,
            &[Input, Output, Zeroed(1), Number(LEN)],
        ),
        subject(
            "radix histogram",
            "onesweep",
            "count_digits",
            128,
            512,
            0,
            &[Input, Zeroed(1024), Number(LEN)],
        ),
    ]
}

fn input() -> Vec<u32> {
    let mut state = 12345_u32;
    let draw = |_| {
        state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
        if state >> 16 & 3 == 0 { 0 } else { state }
    };
    (0..LEN).map(draw).collect()
}

/// A subject's buffers on a device of its own.
struct Bench<'a> {
    device: SimDevice,
    subject: &'a Subject,
    arguments: Vec<Argument>,
    zeroed: Vec<(BufferId, u64)>,
}

impl<'a> Bench<'a> {
    fn new(subject: &'a Subject, detectors: bool) -> Self {
        let mut bench = Self {
            device: SimDevice::new(),
            subject,
            arguments: Vec::new(),
            zeroed: Vec::new(),
        };
        bench.device.set_detectors(detectors);
        for &given in &subject.arguments {
            let argument = bench.argument(given);
            bench.arguments.push(argument);
        }
        bench
    }

    fn argument(&mut self, given: Given) -> Argument {
        let input = input();
        match given {
            Given::Input => self.filled(&input),
            Given::Ranks => {
                let mut rank = 0;
                let ranks = input.iter().map(|&value| {
                    let before = rank;
                    rank += u32::from(value != 0);
                    before
                });
                self.filled(&ranks.collect::<Vec<_>>())
            }
            Given::Zeroed(words) => {
                let buffer = self.buffer(words);
                self.zeroed.push((buffer, 4 * u64::from(words)));
                Argument::Pointer { buffer, offset: 0 }
            }
            Given::Output => {
                let buffer = self.buffer(LEN);
                let filled = self.device.poison(buffer, 0, 4 * u64::from(LEN), &[0xdb]);
                filled.expect("it fits");
                Argument::Pointer { buffer, offset: 0 }
            }
            Given::Number(number) => Argument::Scalar {
                bytes: u64::from(number).to_le_bytes(),
                size: 4,
            },
        }
    }

    fn buffer(&mut self, words: u32) -> BufferId {
        let bytes = 4 * u64::from(words);
        self.device.alloc(bytes, Access::ReadWrite).expect("room")
    }

    fn filled(&mut self, words: &[u32]) -> Argument {
        let buffer = self.buffer(words.len() as u32);
        let bytes = bytemuck::cast_slice(words);
        self.device.upload(buffer, 0, bytes).expect("it fits");
        Argument::Pointer { buffer, offset: 0 }
    }

    /// Lane-instructions of one launch and how long it took, in seconds.
    fn launch(&mut self) -> (u64, f64) {
        let image = Catalog::embedded().image(self.subject.module, ImageKind::Jit, (7, 5));
        let module = self.device.load(&image.expect("it is built in"));
        let module = module.expect("it loads").module;
        for &(buffer, bytes) in &self.zeroed {
            self.device.fill(buffer, 0, bytes, &[0]).expect("it fits");
        }
        let before = self.device.executed();
        let started = Instant::now();
        let launched = self.device.launch(&Launch {
            module,
            kernel: self.subject.kernel,
            grid: [self.subject.grid, 1, 1],
            block: [self.subject.block, 1, 1],
            shared: self.subject.shared,
            args: &self.arguments,
        });
        let seconds = started.elapsed().as_secs_f64();
        launched.expect("it runs");
        (self.device.executed() - before, seconds)
    }
}

/// The best rate of a few launches, in 10^9 lane-instructions a second: what disturbs only slows.
fn rate(subject: &Subject, detectors: bool) -> f64 {
    let mut bench = Bench::new(subject, detectors);
    let rates = (0..ROUNDS).map(|_| {
        let (executed, seconds) = bench.launch();
        executed as f64 / seconds / 1e9
    });
    let best = rates.fold(0.0, f64::max);
    let findings = bench.device.take_findings().expect("a list");
    assert_eq!(findings, [], "{} is right", subject.name);
    best
}

fn main() {
    println!(
        "{:<18} {:>10} {:>14}   10^9 lane-instructions/s, n = {LEN}",
        "", "plain", "all detectors"
    );
    for subject in subjects() {
        let (plain, detected) = (rate(&subject, false), rate(&subject, true));
        println!("{:<18} {plain:>10.2} {detected:>14.2}", subject.name);
    }
}
