//! The simulated device on what compilers and vandals give it: the compaction pipelines from both compilers' PTX
//! against the host, and mutated PTX, which must end in an error, a finding or a result.
//!
//! `CUDA_GATES_MUTATIONS` says how many mutations a text gets (default 60).

use cuda_gates::device::sim::SimDevice;
use cuda_gates::device::{Access, Argument, BufferId, Device, Launch, ModuleId};
use cuda_gates::image::{Code, Image, ptx};
use cuda_gates::terms::ImageKind;

const NVRTC_11_8: &str = include_str!("../../kernels/ptx/compaction.ptx");
const NVCC_13_0: &str = include_str!("data/nvcc13/compaction.ptx");
/// A function that calls another, and returns early.
const WITH_CALLS: &str = ".version 7.8\n.target sm_75\n.address_size 64\n\
.func (.param .b32 r) f(.param .b32 a) { .reg .b32 %r<3>; .reg .pred %p<2>; ld.param.u32 %r1, [a];
setp.lt.u32 %p1, %r1, 7; @%p1 bra L; st.param.b32 [r+0], 9; ret; L: st.param.b32 [r+0], %r1; ret; }
.func (.param .b32 r) g(.param .b32 a) { .reg .b32 %r<3>; ld.param.u32 %r1, [a];
{ .param .b32 p0; st.param.b32 [p0+0], %r1; .param .b32 q0; call.uni (q0), f, (p0); ld.param.b32 %r2, [q0+0]; }
st.param.b32 [r+0], %r2; ret; }
.visible .entry k(.param .u64 out) { .reg .b32 %r<4>; .reg .b64 %d<4>; ld.param.u64 %d1, [out];
mov.u32 %r1, %tid.x; mul.wide.u32 %d2, %r1, 4; add.u64 %d1, %d1, %d2;
{ .param .b32 p0; st.param.b32 [p0+0], %r1; .param .b32 q0; call (q0), g, (p0); ld.param.b32 %r2, [q0+0]; }
st.global.u32 [%d1], %r2; ret; }\n";
const TILE: usize = 256;

fn image(text: &str) -> Image {
    Image {
        kind: ImageKind::Jit,
        module: "test".to_owned(),
        code: Code::Ptx(text.into()),
        sha256: String::new(),
        compiler: String::new(),
    }
}

/// The compaction suite's kernels on one input.
struct Pipelines {
    device: SimDevice,
    module: ModuleId,
    n: usize,
    input: BufferId,
    rank: BufferId,
    sums: [BufferId; 3],
    out: BufferId,
}

impl Pipelines {
    fn new(text: &str, input: &[i32]) -> Self {
        let mut device = SimDevice::new();
        let module = device.load(&image(text)).expect("it loads").module;
        let n = input.len();
        let mut alloc = |len: usize, access| {
            let bytes = 4 * len as u64;
            let buffer = device.alloc(bytes, access).expect("room");
            device.poison(buffer, 0, bytes, &[0xdb]).expect("a fill");
            buffer
        };
        let [t0, t1, t2] = Self::tiles(n);
        let rank = alloc(n, Access::ReadWrite);
        let sums = [t0, t1, t2.max(1)].map(|len| alloc(len, Access::ReadWrite));
        let out = alloc(n, Access::ReadWrite);
        let read_only = alloc(n, Access::ReadOnly);
        device
            .upload(read_only, 0, bytemuck::cast_slice(input))
            .expect("an upload");
        Self {
            device,
            module,
            n,
            input: read_only,
            rank,
            sums,
            out,
        }
    }

    fn tiles(n: usize) -> [usize; 3] {
        let t0 = n.div_ceil(TILE);
        let t1 = t0.div_ceil(TILE);
        [t0, t1, t1.div_ceil(TILE)]
    }

    /// Launches a kernel whose last argument is a length.
    fn launch(&mut self, kernel: &str, grid: usize, buffers: &[BufferId], len: usize) {
        if grid == 0 {
            return;
        }
        let pointers = buffers
            .iter()
            .map(|&buffer| Argument::Pointer { buffer, offset: 0 });
        let mut args: Vec<Argument> = pointers.collect();
        if kernel != "zero_count" {
            args.push(Argument::Scalar {
                bytes: (len as u64).to_le_bytes(),
                size: 4,
            });
        }
        self.device
            .launch(&Launch {
                module: self.module,
                kernel,
                grid: [grid as u32, 1, 1],
                block: [TILE as u32, 1, 1],
                shared: 0,
                args: &args,
            })
            .expect("it runs");
    }

    fn words(&mut self, buffer: BufferId, len: usize) -> Vec<i32> {
        let bytes = self.device.download(buffer, 0, 4 * len as u64);
        bytemuck::cast_slice(bytes.expect("a download")).to_vec()
    }

    /// Ranks of what `mark` marks, and the total in `sums[2]`.
    fn scan(&mut self, mark: &str) {
        let [t0, t1, t2] = Self::tiles(self.n);
        let (n, rank, [s0, s1, s2]) = (self.n, self.rank, self.sums);
        if n == 0 {
            self.device.fill(s2, 0, 4, &[0]).expect("a fill");
        }
        self.launch(mark, 3, &[self.input, rank], n);
        self.launch("scan_tiles", t0, &[rank, rank, s0], n);
        self.launch("scan_tiles", t1, &[s0, s0, s1], t0);
        self.launch("scan_tiles", t2, &[s1, s1, s2], t1);
        self.launch("add_carry", t1, &[s0, s1], t0);
        self.launch("add_carry", t0, &[rank, s0], n);
    }
}

fn pipelines_agree_with_the_host(text: &str) {
    for n in [0_usize, 1, 257, 65537] {
        let input: Vec<i32> = (0..n as i32)
            .map(|i| if i % 7 < 3 { 0 } else { i * 31 - 999 })
            .collect();
        let survivors: Vec<i32> = input.iter().copied().filter(|&v| v != 0).collect();
        let evens = input.iter().filter(|&&v| v % 2 == 0);
        let odds = input.iter().filter(|&&v| v % 2 != 0);
        let parts: Vec<i32> = evens.clone().chain(odds).copied().collect();
        let mut run = Pipelines::new(text, &input);
        let (source, rank, out, total) = (run.input, run.rank, run.out, run.sums[2]);

        run.scan("mark_nonzero");
        run.launch("scatter", 3, &[source, rank, out], n);
        assert_eq!(run.words(total, 1), [survivors.len() as i32], "n = {n}");
        assert_eq!(run.words(out, survivors.len()), survivors, "n = {n}");

        run.scan("mark_even");
        run.launch("scatter_partition", 3, &[source, rank, total, out], n);
        assert_eq!(run.words(total, 1), [evens.count() as i32], "n = {n}");
        assert_eq!(run.words(out, n), parts, "n = {n}");

        run.launch("zero_count", 1, &[total], n);
        run.launch("compact_atomic", 3, &[source, out, total], n);
        let (mut got, mut want) = (run.words(out, survivors.len()), survivors);
        got.sort_unstable();
        want.sort_unstable();
        assert_eq!(run.words(total, 1), [want.len() as i32], "n = {n}");
        assert_eq!(got, want, "n = {n}");

        run.launch("copy", 3, &[source, out], n);
        assert_eq!(run.words(out, n), input, "n = {n}");
        assert_eq!(run.device.take_findings().expect("findings"), [], "n = {n}");
    }
}

#[test]
fn kernels_by_nvrtc_11_8_agree_with_the_host() {
    pipelines_agree_with_the_host(NVRTC_11_8);
}

#[test]
fn kernels_by_nvcc_13_0_agree_with_the_host() {
    pipelines_agree_with_the_host(NVCC_13_0);
}

struct Random(u64);

impl Random {
    fn below(&mut self, limit: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        (self.0 % limit.max(1) as u64) as usize
    }
}

const SPLINTERS: [&str; 24] = [
    "0",
    "-1",
    "4294967295",
    "18446744073709551615",
    "-9223372036854775808",
    "1099511627776",
    "%r1",
    "%rd1",
    "%p1",
    "_",
    "bra",
    "ret;",
    "bar.sync",
    "{",
    "}",
    "[",
    ".v4",
    ".u8",
    ".s64",
    ".shared",
    ".local",
    "0f7FC00000",
    "!",
    "%f1",
];

/// A line or a word less, more, elsewhere or other.
fn mutated(text: &str, random: &mut Random) -> String {
    let mut lines: Vec<String> = text.lines().map(str::to_owned).collect();
    for _ in 0..1 + random.below(4) {
        let at = random.below(lines.len());
        let other = lines[random.below(lines.len())].clone();
        match random.below(5) {
            0 => drop(lines.remove(at)),
            1 => lines.insert(at, other),
            2 => lines[at] = other,
            _ => {
                let mut words: Vec<&str> = lines[at]
                    .split_inclusive([' ', '\t', ',', '.', '[', '+', '<'])
                    .collect();
                if !words.is_empty() {
                    let word = random.below(words.len());
                    words[word] = SPLINTERS[random.below(SPLINTERS.len())];
                }
                lines[at] = words.concat();
            }
        }
    }
    lines.join("\n")
}

/// Runs every kernel of a text, if it gets that far; gives how many did.
fn survive(text: &str, shape: ([u32; 3], [u32; 3])) -> usize {
    let Ok(parsed) = ptx::parse(text) else {
        return 0;
    };
    let mut ran = 0;
    for signature in parsed.signatures() {
        let mut device = SimDevice::new().with_budget(20_000);
        let Ok(loaded) = device.load(&image(text)) else {
            return ran;
        };
        let mut args = Vec::new();
        for param in &signature.params {
            args.push(if param.size == 8 {
                let buffer = device.alloc(1024, Access::ReadWrite).expect("room");
                Argument::Pointer { buffer, offset: 0 }
            } else {
                Argument::Scalar {
                    bytes: 300_u64.to_le_bytes(),
                    size: param.size.min(8),
                }
            });
        }
        let launched = device.launch(&Launch {
            module: loaded.module,
            kernel: &signature.name,
            grid: shape.0,
            block: shape.1,
            shared: 64,
            args: &args,
        });
        ran += usize::from(launched.is_ok());
    }
    ran
}

#[test]
fn mutated_kernels_end_in_order() {
    let count = std::env::var("CUDA_GATES_MUTATIONS")
        .ok()
        .and_then(|n| n.parse().ok())
        .unwrap_or(60);
    let texts = [
        NVRTC_11_8,
        NVCC_13_0,
        include_str!("../../kernels/ptx/elementwise.ptx"),
        include_str!("../../kernels/ptx/faulty/scan.ptx"),
        include_str!("../../kernels/ptx/faulty/memory.ptx"),
        include_str!("data/single_pass/nvrtc11.ptx"),
        WITH_CALLS,
    ];
    let shapes = [
        ([2, 1, 1], [33, 1, 1]),
        ([1, 2, 3], [3, 5, 7]),
        ([4, 1, 1], [1, 1, 1]),
        ([1, 1, 1], [256, 1, 1]),
    ];
    let mut random = Random(0x9e37_79b9_7f4a_7c15);
    let mut ran = 0;
    for round in 0..count {
        for text in texts {
            ran += survive(&mutated(text, &mut random), shapes[round % shapes.len()]);
        }
    }
    assert!(
        ran > count,
        "only {ran} kernels ran: the mutations are too coarse"
    );
}
