//! Kernels whose blocks wait for each other, from both compilers: `tests/data/single_pass/single_pass.cu`.

use crate::device::sim::SimDevice;
use crate::device::{Access, Argument, BufferId, Device, Launch, ModuleId};
use crate::outcome::Fault;

const TEXTS: [&str; 2] = [
    include_str!("../../../tests/data/single_pass/nvrtc11.ptx"),
    include_str!("../../../tests/data/single_pass/nvcc13.ptx"),
];
const THREADS: usize = 128;
const TILE: usize = 4 * THREADS;
/// Blocks of that size that are resident at once.
const RESIDENT: u32 = 32;
/// From one element to several times what is resident.
const LENGTHS: [usize; 5] = [1, TILE, TILE + 1, 20_000, 100 * TILE - 7];

struct Bench {
    device: SimDevice,
    module: ModuleId,
}

impl Bench {
    fn new(text: &str) -> Self {
        let mut device = SimDevice::new().with_budget(1 << 24);
        let module = device.load(&super::image(text)).unwrap().module;
        Self { device, module }
    }

    fn input(&mut self, values: &[u32]) -> BufferId {
        let buffer = self
            .device
            .alloc(4 * values.len() as u64, Access::ReadOnly)
            .unwrap();
        self.device
            .upload(buffer, 0, bytemuck::cast_slice(values))
            .unwrap();
        buffer
    }

    /// `words` words of zeros.
    fn zeros(&mut self, words: usize) -> BufferId {
        let buffer = self.output(words);
        self.device.fill(buffer, 0, 4 * words as u64, &[0]).unwrap();
        buffer
    }

    /// Words that no one has written.
    fn output(&mut self, words: usize) -> BufferId {
        self.device
            .alloc(4 * words as u64, Access::ReadWrite)
            .unwrap()
    }

    fn try_launch(
        &mut self,
        kernel: &str,
        grid: u32,
        buffers: &[BufferId],
        numbers: &[usize],
    ) -> Result<(), Fault> {
        let pointers = buffers.iter().map(|&buffer| super::pointer(buffer));
        let numbers = numbers.iter().map(|&number| Argument::Scalar {
            bytes: (number as u64).to_le_bytes(),
            size: 4,
        });
        let args: Vec<Argument> = pointers.chain(numbers).collect();
        self.device.launch(&Launch {
            module: self.module,
            kernel,
            grid: [grid, 1, 1],
            block: [THREADS as u32, 1, 1],
            shared: 0,
            args: &args,
        })
    }

    /// Launches, and nothing is found.
    fn launch(&mut self, kernel: &str, grid: u32, buffers: &[BufferId], numbers: &[usize]) {
        self.try_launch(kernel, grid, buffers, numbers).unwrap();
        assert_eq!(self.device.take_findings().unwrap(), [], "{kernel}");
    }

    fn words(&mut self, buffer: BufferId, len: usize) -> Vec<u32> {
        bytemuck::cast_slice(self.device.download(buffer, 0, 4 * len as u64).unwrap()).to_vec()
    }
}

/// Numbers that repeat little, from a multiplicative generator.
fn numbers(len: usize) -> Vec<u32> {
    let mut state = 12_345_u32;
    let next = |_| {
        state = state.wrapping_mul(747_796_405).wrapping_add(2_891_336_453);
        state >> 7
    };
    (0..len).map(next).collect()
}

fn exclusive_scan(values: &[u32]) -> Vec<u32> {
    let mut sum = 0_u32;
    let before = |value: &u32| {
        let before = sum;
        sum = sum.wrapping_add(*value);
        before
    };
    values.iter().map(before).collect()
}

#[test]
fn a_scan_whose_warps_look_back_is_the_running_sum() {
    for text in TEXTS {
        for n in LENGTHS {
            let values: Vec<u32> = numbers(n).into_iter().map(|v| v % 1000).collect();
            let tiles = n.div_ceil(TILE);
            let mut bench = Bench::new(text);
            let (input, out) = (bench.input(&values), bench.output(n));
            let (state, counter) = (bench.zeros(2 * tiles), bench.zeros(1));
            let order = bench.output(tiles);
            let buffers = [input, out, state, counter, order];
            bench.launch("scan_lookback", tiles as u32, &buffers, &[n]);
            assert_eq!(bench.words(out, n), exclusive_scan(&values), "n = {n}");
            let mut order = bench.words(order, tiles);
            order.sort_unstable();
            assert_eq!(order, (0..tiles as u32).collect::<Vec<u32>>(), "n = {n}");
        }
    }
}

#[test]
fn a_scan_through_sixteen_byte_descriptors_is_the_running_sum() {
    for text in TEXTS {
        for n in LENGTHS {
            let values = numbers(n);
            let tiles = n.div_ceil(THREADS);
            let mut bench = Bench::new(text);
            let (input, out) = (bench.input(&values), bench.output(n));
            let (state, counter) = (bench.zeros(4 * tiles), bench.zeros(1));
            let buffers = [input, out, state, counter];
            bench.launch("scan_wide", tiles as u32, &buffers, &[n]);
            assert_eq!(bench.words(out, n), exclusive_scan(&values), "n = {n}");
        }
    }
}

#[test]
fn radix_passes_over_all_digits_sort_stably() {
    for text in TEXTS {
        for n in [1, TILE + 1, 20_000] {
            let mut keys = numbers(n);
            let tiles = n.div_ceil(TILE);
            for shift in [0, 4, 8] {
                let mut bench = Bench::new(text);
                let (input, counts) = (bench.input(&keys), bench.zeros(16));
                bench.launch("histogram", 3, &[input, counts], &[shift, n]);
                let counts = bench.words(counts, 16);
                for digit in 0..16 {
                    let want = keys.iter().filter(|&&key| key >> shift & 15 == digit);
                    assert_eq!(counts[digit as usize] as usize, want.count());
                }
                let starts = bench.input(&exclusive_scan(&counts));
                let (out, state) = (bench.output(n), bench.zeros(2 * 16 * tiles));
                let counter = bench.zeros(1);
                let buffers = [input, out, starts, state, counter];
                bench.launch("radix_pass", tiles as u32, &buffers, &[shift, n]);
                keys.sort_by_key(|key| key >> shift & 15);
                assert_eq!(bench.words(out, n), keys, "n = {n}, shift {shift}");
            }
        }
    }
}

#[test]
fn resident_blocks_meet_at_a_barrier_of_the_grid() {
    for text in TEXTS {
        let n = 30_000;
        let values = numbers(n);
        let sum = values.iter().fold(0_u32, |sum, &v| sum.wrapping_add(v));
        for grid in [1, 7, RESIDENT] {
            let mut bench = Bench::new(text);
            let input = bench.input(&values);
            let (sums, out) = (bench.output(grid as usize), bench.output(grid as usize));
            let (counter, barrier) = (bench.zeros(1), bench.zeros(1));
            let buffers = [input, sums, counter, barrier, out];
            bench.launch("persistent_sum", grid, &buffers, &[n]);
            assert_eq!(bench.words(out, grid as usize), vec![sum; grid as usize]);
        }
    }
}

/// As on a card: the block that does not fit never starts, and the others wait for it.
#[test]
fn a_barrier_of_more_blocks_than_are_resident_hangs() {
    for text in TEXTS {
        let mut bench = Bench::new(text);
        let grid = RESIDENT + 1;
        let input = bench.input(&[1]);
        let (sums, out) = (bench.output(grid as usize), bench.output(grid as usize));
        let (counter, barrier) = (bench.zeros(1), bench.zeros(1));
        let buffers = [input, sums, counter, barrier, out];
        let fault = bench.try_launch("persistent_sum", grid, &buffers, &[1]);
        let reason = fault.unwrap_err().reason;
        assert_eq!(reason.kind, crate::terms::ReasonKind::Hang);
        let words = "every warp that is left waits for memory that none of them changes";
        assert!(reason.message.contains(words), "{}", reason.message);
    }
}

/// The others would wait for what a block at a barrier of too few warps never writes; the finding is what tells.
#[test]
fn blocks_that_wait_for_a_deadlocked_one_end_with_its_finding() {
    let text = super::kernel(
        ".param .u64 out",
        "ld.param.u64 %d1, [out]; mov.u32 %r1, %ctaid.x; setp.ne.u32 %p1, %r1, 1; @%p1 bra WAIT;
        bar.sync 1, 64; st.volatile.global.u32 [%d1], 1; bra DONE;
        WAIT: ld.volatile.global.u32 %r2, [%d1]; setp.eq.u32 %p2, %r2, 0; @%p2 bra WAIT; DONE:",
    );
    // Polled by an atomic that changes nothing, too: there the blocks run one after another at first.
    let atomic = text.replace(
        "ld.volatile.global.u32 %r2, [%d1]",
        "atom.global.or.b32 %r2, [%d1], 0",
    );
    for text in [text, atomic] {
        let mut device = SimDevice::new().with_budget(1 << 24);
        let out = device.alloc(4, Access::ReadWrite).unwrap();
        device.fill(out, 0, 4, &[0]).unwrap();
        super::launch(&mut device, &text, 3, 32, 0, &[super::pointer(out)]).unwrap();
        let findings = device.take_findings().unwrap();
        let kinds: Vec<_> = findings.iter().map(|f| f.kind).collect();
        assert_eq!(kinds, [crate::terms::FindingKind::Deadlock]);
    }
}

/// A kernel that only lets time pass was taken for one that waits for ever.
#[test]
fn a_delay_by_the_clock_is_no_hang() {
    let text = super::kernel(
        "",
        "mov.u64 %d1, %clock64; ld.volatile.global.u32 %r1, [flag];
        WAIT: nanosleep.u32 100; mov.u64 %d2, %clock64; sub.u64 %d2, %d2, %d1; setp.lt.u64 %p1, %d2, 200000;
        @%p1 bra WAIT;",
    );
    let text = text.replacen(".visible", ".global .u32 flag;\n.visible", 1);
    let mut device = SimDevice::new();
    super::launch(&mut device, &text, 1, 1, 0, &[]).unwrap();
    assert!(device.executed() > 200_000);
}

#[test]
fn blocks_end_in_whatever_order_they_wait_for() {
    for text in TEXTS {
        for grid in [2, 9, RESIDENT] {
            let mut bench = Bench::new(text);
            let (left, order) = (bench.zeros(1), bench.output(grid as usize));
            bench.launch("last_first", grid, &[left, order], &[]);
            let want: Vec<u32> = (0..grid).rev().collect();
            assert_eq!(bench.words(order, grid as usize), want);
        }
    }
}

#[test]
fn atomics_aggregated_by_warp_keep_every_survivor() {
    for text in TEXTS {
        let values = numbers(10_000);
        let mut want: Vec<u32> = values.iter().copied().filter(|v| v % 3 != 0).collect();
        let mut bench = Bench::new(text);
        let (input, count) = (bench.input(&values), bench.zeros(1));
        let out = bench.output(want.len());
        bench.launch("aggregated", 5, &[input, out, count], &[values.len()]);
        let mut got = bench.words(out, want.len());
        got.sort_unstable();
        want.sort_unstable();
        assert_eq!(got, want);
    }
}

/// Blocks of a look-back overlap: with turns that never ended they would run one after another, and none would ever
/// wait.
#[test]
fn a_look_back_meets_blocks_that_have_not_finished() {
    let text = TEXTS[0];
    let n = 50 * TILE;
    let values = vec![1; n];
    let spent = |grids: &[u32]| {
        let mut bench = Bench::new(text);
        let (input, out) = (bench.input(&values), bench.output(n));
        let (state, counter) = (bench.zeros(2 * 50), bench.zeros(1));
        let order = bench.output(50);
        for &grid in grids {
            bench.launch(
                "scan_lookback",
                grid,
                &[input, out, state, counter, order],
                &[n],
            );
        }
        (bench.device.executed(), bench.words(out, n))
    };
    // One block a launch is the same work without anyone to wait for.
    let (alone, together) = (spent(&[1; 50]), spent(&[50]));
    assert_eq!(alone.1, together.1);
    assert!(alone.0 < together.0, "{} {}", alone.0, together.0);
    assert_eq!(together, spent(&[50]));
}
