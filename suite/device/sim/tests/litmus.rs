//! Litmus tests: small programs whose outcomes the PTX memory model allows or forbids.
//!
//! After Lustig, Sahasrabuddhe and Giroux, "A Formal Analysis of the NVIDIA PTX Memory Consistency Model" (ASPLOS
//! 2019), and the chapter on the memory consistency model of the PTX ISA, which also say what makes a program racy.
//! The simulated device is sequentially consistent: what it shows is always allowed, and what only a weaker machine
//! shows is listed as out of its reach. What it cannot show it must find: every program with a race is reported,
//! under every schedule.

use std::collections::BTreeSet;

use super::super::{Schedule, SimDevice};
use super::{HEADER, launch, pointer};
use crate::device::{Access, Device};
use crate::terms::FindingKind;

/// Schedules each program runs under.
const SCHEDULES: u32 = 120;

/// Whether the threads of a program lie in one block or in one each.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Threads {
    OfOneBlock,
    OfBlocksEach,
}
use Threads::{OfBlocksEach, OfOneBlock};

/// In which of its runs a program has a race.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Races {
    Never,
    Always,
    /// Where the reader saw the flag, and so read the data.
    WhereRead,
}

/// A program over the words `x` (`[%x]`) and `y` (`[%y]`), both 0 at first; thread `t` leaves `%r1` and `%r2`.
struct Litmus {
    name: &'static str,
    threads: Threads,
    programs: &'static [&'static str],
    /// What makes the outcome: `1:r2` is `%r2` of thread 1; `x` the last value of x.
    observed: &'static str,
    /// What a sequentially consistent machine shows.
    reached: &'static [&'static [u32]],
    /// Allowed by the model, out of this machine's reach.
    weaker: &'static [&'static [u32]],
    forbidden: &'static [&'static [u32]],
    races: Races,
}

const WRITE_WEAK: &str = "st.global.u32 [%x], 1; st.relaxed.gpu.global.u32 [%y], 1;";
const READ_WEAK: &str = "ld.relaxed.gpu.global.u32 %r1, [%y]; ld.global.u32 %r2, [%x];";

/// Reading the data only where the flag was seen: without that even right programs would race.
const MESSAGE_PASSING: &[Litmus] = &[
    Litmus {
        name: "MP, no fence",
        threads: OfBlocksEach,
        programs: &[WRITE_WEAK, READ_WEAK],
        observed: "1:r1 1:r2",
        reached: &[&[0, 0], &[0, 1], &[1, 1]],
        weaker: &[&[1, 0]],
        forbidden: &[],
        races: Races::Always,
    },
    Litmus {
        name: "MP, no fence by the writer",
        threads: OfBlocksEach,
        programs: &[
            WRITE_WEAK,
            "ld.relaxed.gpu.global.u32 %r1, [%y]; setp.eq.u32 %p1, %r1, 0; @%p1 bra END; fence.acq_rel.gpu; \
             ld.global.u32 %r2, [%x]; END:",
        ],
        observed: "1:r1 1:r2",
        reached: &[&[0, 0], &[1, 1]],
        weaker: &[&[1, 0]],
        forbidden: &[],
        races: Races::WhereRead,
    },
    Litmus {
        name: "MP, no fence by the reader",
        threads: OfBlocksEach,
        programs: &[
            "st.global.u32 [%x], 1; fence.acq_rel.gpu; st.relaxed.gpu.global.u32 [%y], 1;",
            "ld.relaxed.gpu.global.u32 %r1, [%y]; setp.eq.u32 %p1, %r1, 0; @%p1 bra END; \
             ld.global.u32 %r2, [%x]; END:",
        ],
        observed: "1:r1 1:r2",
        reached: &[&[0, 0], &[1, 1]],
        weaker: &[&[1, 0]],
        forbidden: &[],
        races: Races::WhereRead,
    },
    Litmus {
        name: "MP, fences .gpu",
        threads: OfBlocksEach,
        programs: &[
            "st.global.u32 [%x], 1; fence.acq_rel.gpu; st.relaxed.gpu.global.u32 [%y], 1;",
            "ld.relaxed.gpu.global.u32 %r1, [%y]; setp.eq.u32 %p1, %r1, 0; @%p1 bra END; fence.acq_rel.gpu; \
             ld.global.u32 %r2, [%x]; END:",
        ],
        observed: "1:r1 1:r2",
        reached: &[&[0, 0], &[1, 1]],
        weaker: &[],
        forbidden: &[&[1, 0]],
        races: Races::Never,
    },
    Litmus {
        name: "MP, membar.gl and volatile",
        threads: OfBlocksEach,
        programs: &[
            "st.global.u32 [%x], 1; membar.gl; st.volatile.global.u32 [%y], 1;",
            "ld.volatile.global.u32 %r1, [%y]; setp.eq.u32 %p1, %r1, 0; @%p1 bra END; membar.gl; \
             ld.global.u32 %r2, [%x]; END:",
        ],
        observed: "1:r1 1:r2",
        reached: &[&[0, 0], &[1, 1]],
        weaker: &[],
        forbidden: &[&[1, 0]],
        races: Races::Never,
    },
    Litmus {
        name: "MP, release and acquire .gpu",
        threads: OfBlocksEach,
        programs: &[
            "st.global.u32 [%x], 1; st.release.gpu.global.u32 [%y], 1;",
            "ld.acquire.gpu.global.u32 %r1, [%y]; setp.eq.u32 %p1, %r1, 0; @%p1 bra END; \
             ld.global.u32 %r2, [%x]; END:",
        ],
        observed: "1:r1 1:r2",
        reached: &[&[0, 0], &[1, 1]],
        weaker: &[],
        forbidden: &[&[1, 0]],
        races: Races::Never,
    },
    // The flag itself is not morally strong then.
    Litmus {
        name: "MP, release .cta between blocks",
        threads: OfBlocksEach,
        programs: &[
            "st.global.u32 [%x], 1; st.release.cta.global.u32 [%y], 1;",
            "ld.acquire.gpu.global.u32 %r1, [%y]; setp.eq.u32 %p1, %r1, 0; @%p1 bra END; \
             ld.global.u32 %r2, [%x]; END:",
        ],
        observed: "1:r1 1:r2",
        reached: &[&[0, 0], &[1, 1]],
        weaker: &[&[1, 0]],
        forbidden: &[],
        races: Races::Always,
    },
    Litmus {
        name: "MP, fence .cta between blocks",
        threads: OfBlocksEach,
        programs: &[
            "st.global.u32 [%x], 1; fence.acq_rel.cta; st.relaxed.gpu.global.u32 [%y], 1;",
            "ld.relaxed.gpu.global.u32 %r1, [%y]; setp.eq.u32 %p1, %r1, 0; @%p1 bra END; fence.acq_rel.gpu; \
             ld.global.u32 %r2, [%x]; END:",
        ],
        observed: "1:r1 1:r2",
        reached: &[&[0, 0], &[1, 1]],
        weaker: &[&[1, 0]],
        forbidden: &[],
        races: Races::WhereRead,
    },
    Litmus {
        name: "MP, fences .cta within a block",
        threads: OfOneBlock,
        programs: &[
            "st.global.u32 [%x], 1; fence.acq_rel.cta; st.relaxed.cta.global.u32 [%y], 1;",
            "ld.relaxed.cta.global.u32 %r1, [%y]; setp.eq.u32 %p1, %r1, 0; @%p1 bra END; fence.acq_rel.cta; \
             ld.global.u32 %r2, [%x]; END:",
        ],
        observed: "1:r1 1:r2",
        reached: &[&[0, 0], &[1, 1]],
        weaker: &[],
        forbidden: &[&[1, 0]],
        races: Races::Never,
    },
    Litmus {
        name: "MP, plain flag",
        threads: OfBlocksEach,
        programs: &[
            "st.global.u32 [%x], 1; fence.acq_rel.gpu; st.global.u32 [%y], 1;",
            "ld.global.u32 %r1, [%y]; setp.eq.u32 %p1, %r1, 0; @%p1 bra END; fence.acq_rel.gpu; \
             ld.global.u32 %r2, [%x]; END:",
        ],
        observed: "1:r1 1:r2",
        reached: &[&[0, 0], &[1, 1]],
        weaker: &[&[1, 0]],
        forbidden: &[],
        races: Races::Always,
    },
    Litmus {
        name: "MP through an atomic",
        threads: OfBlocksEach,
        programs: &[
            "st.global.u32 [%x], 1; fence.acq_rel.gpu; atom.global.exch.b32 %r3, [%y], 1;",
            "atom.global.add.u32 %r1, [%y], 0; setp.eq.u32 %p1, %r1, 0; @%p1 bra END; fence.acq_rel.gpu; \
             ld.global.u32 %r2, [%x]; END:",
        ],
        observed: "1:r1 1:r2",
        reached: &[&[0, 0], &[1, 1]],
        weaker: &[],
        forbidden: &[&[1, 0]],
        races: Races::Never,
    },
    // The third thread sees the first one's data through the second's atomic: a release sequence.
    Litmus {
        name: "MP through a chain of atomics",
        threads: OfBlocksEach,
        programs: &[
            "st.global.u32 [%x], 1; atom.release.gpu.global.add.u32 %r3, [%y], 1;",
            "atom.relaxed.gpu.global.add.u32 %r1, [%y], 2;",
            "ld.acquire.gpu.global.u32 %r1, [%y]; and.b32 %r3, %r1, 1; setp.eq.u32 %p1, %r3, 0; @%p1 bra END; \
             ld.global.u32 %r2, [%x]; END:",
        ],
        observed: "2:r1 2:r2",
        reached: &[&[0, 0], &[1, 1], &[2, 0], &[3, 1]],
        weaker: &[],
        forbidden: &[&[1, 0], &[3, 0]],
        races: Races::Never,
    },
];

const STORE_BUFFERING: &[Litmus] = &[
    Litmus {
        name: "SB, relaxed",
        threads: OfBlocksEach,
        programs: &[
            "st.relaxed.gpu.global.u32 [%x], 1; ld.relaxed.gpu.global.u32 %r1, [%y];",
            "st.relaxed.gpu.global.u32 [%y], 1; ld.relaxed.gpu.global.u32 %r1, [%x];",
        ],
        observed: "0:r1 1:r1",
        reached: &[&[0, 1], &[1, 0], &[1, 1]],
        weaker: &[&[0, 0]],
        forbidden: &[],
        races: Races::Never,
    },
    Litmus {
        name: "SB, fence.sc .gpu",
        threads: OfBlocksEach,
        programs: &[
            "st.relaxed.gpu.global.u32 [%x], 1; fence.sc.gpu; ld.relaxed.gpu.global.u32 %r1, [%y];",
            "st.relaxed.gpu.global.u32 [%y], 1; fence.sc.gpu; ld.relaxed.gpu.global.u32 %r1, [%x];",
        ],
        observed: "0:r1 1:r1",
        reached: &[&[0, 1], &[1, 0], &[1, 1]],
        weaker: &[],
        forbidden: &[&[0, 0]],
        races: Races::Never,
    },
    Litmus {
        name: "SB, fence.acq_rel .gpu",
        threads: OfBlocksEach,
        programs: &[
            "st.relaxed.gpu.global.u32 [%x], 1; fence.acq_rel.gpu; ld.relaxed.gpu.global.u32 %r1, [%y];",
            "st.relaxed.gpu.global.u32 [%y], 1; fence.acq_rel.gpu; ld.relaxed.gpu.global.u32 %r1, [%x];",
        ],
        observed: "0:r1 1:r1",
        reached: &[&[0, 1], &[1, 0], &[1, 1]],
        weaker: &[&[0, 0]],
        forbidden: &[],
        races: Races::Never,
    },
    Litmus {
        name: "SB, fence.sc .cta within a block",
        threads: OfOneBlock,
        programs: &[
            "st.relaxed.cta.global.u32 [%x], 1; fence.sc.cta; ld.relaxed.cta.global.u32 %r1, [%y];",
            "st.relaxed.cta.global.u32 [%y], 1; fence.sc.cta; ld.relaxed.cta.global.u32 %r1, [%x];",
        ],
        observed: "0:r1 1:r1",
        reached: &[&[0, 1], &[1, 0], &[1, 1]],
        weaker: &[],
        forbidden: &[&[0, 0]],
        races: Races::Never,
    },
    Litmus {
        name: "SB, weak",
        threads: OfBlocksEach,
        programs: &[
            "st.global.u32 [%x], 1; ld.global.u32 %r1, [%y];",
            "st.global.u32 [%y], 1; ld.global.u32 %r1, [%x];",
        ],
        observed: "0:r1 1:r1",
        reached: &[&[0, 1], &[1, 0], &[1, 1]],
        weaker: &[&[0, 0]],
        forbidden: &[],
        races: Races::Always,
    },
];

const LOAD_BUFFERING: &[Litmus] = &[
    Litmus {
        name: "LB, relaxed",
        threads: OfBlocksEach,
        programs: &[
            "ld.relaxed.gpu.global.u32 %r1, [%x]; st.relaxed.gpu.global.u32 [%y], 1;",
            "ld.relaxed.gpu.global.u32 %r1, [%y]; st.relaxed.gpu.global.u32 [%x], 1;",
        ],
        observed: "0:r1 1:r1",
        reached: &[&[0, 0], &[0, 1], &[1, 0]],
        weaker: &[&[1, 1]],
        forbidden: &[],
        races: Races::Never,
    },
    // The model forbids values out of thin air: what is stored depends on what was loaded.
    Litmus {
        name: "LB, with dependencies",
        threads: OfBlocksEach,
        programs: &[
            "ld.relaxed.gpu.global.u32 %r1, [%x]; st.relaxed.gpu.global.u32 [%y], %r1;",
            "ld.relaxed.gpu.global.u32 %r1, [%y]; st.relaxed.gpu.global.u32 [%x], %r1;",
        ],
        observed: "0:r1 1:r1",
        reached: &[&[0, 0]],
        weaker: &[],
        forbidden: &[&[1, 1]],
        races: Races::Never,
    },
    Litmus {
        name: "LB, fences .gpu",
        threads: OfBlocksEach,
        programs: &[
            "ld.relaxed.gpu.global.u32 %r1, [%x]; fence.acq_rel.gpu; st.relaxed.gpu.global.u32 [%y], 1;",
            "ld.relaxed.gpu.global.u32 %r1, [%y]; fence.acq_rel.gpu; st.relaxed.gpu.global.u32 [%x], 1;",
        ],
        observed: "0:r1 1:r1",
        reached: &[&[0, 0], &[0, 1], &[1, 0]],
        weaker: &[],
        forbidden: &[&[1, 1]],
        races: Races::Never,
    },
    Litmus {
        name: "LB, weak",
        threads: OfBlocksEach,
        programs: &[
            "ld.global.u32 %r1, [%x]; st.global.u32 [%y], 1;",
            "ld.global.u32 %r1, [%y]; st.global.u32 [%x], 1;",
        ],
        observed: "0:r1 1:r1",
        reached: &[&[0, 0], &[0, 1], &[1, 0]],
        weaker: &[&[1, 1]],
        forbidden: &[],
        races: Races::Always,
    },
];

const COHERENCE: &[Litmus] = &[
    Litmus {
        name: "CoRR, relaxed",
        threads: OfBlocksEach,
        programs: &[
            "st.relaxed.gpu.global.u32 [%x], 1;",
            "ld.relaxed.gpu.global.u32 %r1, [%x]; ld.relaxed.gpu.global.u32 %r2, [%x];",
        ],
        observed: "1:r1 1:r2",
        reached: &[&[0, 0], &[0, 1], &[1, 1]],
        weaker: &[],
        forbidden: &[&[1, 0]],
        races: Races::Never,
    },
    // Only morally strong reads are coherent: `.cta` does not reach the other block.
    Litmus {
        name: "CoRR, .cta between blocks",
        threads: OfBlocksEach,
        programs: &[
            "st.relaxed.cta.global.u32 [%x], 1;",
            "ld.relaxed.cta.global.u32 %r1, [%x]; ld.relaxed.cta.global.u32 %r2, [%x];",
        ],
        observed: "1:r1 1:r2",
        reached: &[&[0, 0], &[0, 1], &[1, 1]],
        weaker: &[&[1, 0]],
        forbidden: &[],
        races: Races::Always,
    },
    Litmus {
        name: "CoRR, weak",
        threads: OfBlocksEach,
        programs: &[
            "st.global.u32 [%x], 1;",
            "ld.global.u32 %r1, [%x]; ld.global.u32 %r2, [%x];",
        ],
        observed: "1:r1 1:r2",
        reached: &[&[0, 0], &[0, 1], &[1, 1]],
        weaker: &[&[1, 0]],
        forbidden: &[],
        races: Races::Always,
    },
    Litmus {
        name: "CoWW",
        threads: OfBlocksEach,
        programs: &["st.relaxed.gpu.global.u32 [%x], 1; st.relaxed.gpu.global.u32 [%x], 2;"],
        observed: "x",
        reached: &[&[2]],
        weaker: &[],
        forbidden: &[&[1]],
        races: Races::Never,
    },
    Litmus {
        name: "CoRW",
        threads: OfBlocksEach,
        programs: &[
            "ld.relaxed.gpu.global.u32 %r1, [%x]; st.relaxed.gpu.global.u32 [%x], 1;",
            "st.relaxed.gpu.global.u32 [%x], 2;",
        ],
        observed: "0:r1 x",
        reached: &[&[0, 1], &[0, 2], &[2, 1]],
        weaker: &[],
        forbidden: &[&[2, 2]],
        races: Races::Never,
    },
    // An atomic reads what lies next before what it writes.
    Litmus {
        name: "atomicity of RMW",
        threads: OfBlocksEach,
        programs: &[
            "atom.relaxed.gpu.global.add.u32 %r1, [%x], 1;",
            "atom.relaxed.gpu.global.add.u32 %r1, [%x], 1;",
        ],
        observed: "0:r1 1:r1 x",
        reached: &[&[0, 1, 2], &[1, 0, 2]],
        weaker: &[],
        forbidden: &[&[0, 0, 1]],
        races: Races::Never,
    },
    Litmus {
        name: "an atomic and a plain store",
        threads: OfBlocksEach,
        programs: &[
            "atom.relaxed.gpu.global.add.u32 %r1, [%x], 1;",
            "st.global.u32 [%x], 5;",
        ],
        observed: "x",
        reached: &[&[5], &[6]],
        weaker: &[&[1]],
        forbidden: &[],
        races: Races::Always,
    },
];

/// The whole kernel: each thread takes its program, then leaves its registers in `out`.
fn text(litmus: &Litmus) -> String {
    let number = match litmus.threads {
        OfBlocksEach => "%ctaid.x",
        OfOneBlock => "%warpid",
    };
    let mut text = format!(
        "{HEADER}.visible .entry k(.param .u64 mem, .param .u64 out)\n{{\n.reg .b32 %r<8>; .reg .b64 %d<4>, %x, %y; \
         .reg .pred %p<4>;\nld.param.u64 %x, [mem]; add.u64 %y, %x, 128; ld.param.u64 %d1, [out];\n\
         mov.u32 %r0, %laneid; setp.ne.u32 %p0, %r0, 0; @%p0 exit;\nmov.u32 %r0, {number}; mov.u32 %r1, 0; \
         mov.u32 %r2, 0;\nmul.wide.u32 %d2, %r0, 8; add.u64 %d1, %d1, %d2;\n"
    );
    for (thread, program) in litmus.programs.iter().enumerate() {
        let program = program.replace("END", &format!("END{thread}"));
        text += &format!(
            "setp.ne.u32 %p0, %r0, {thread}; @%p0 bra NEXT{thread};\n{program}\nbra DONE;\nNEXT{thread}:\n"
        );
    }
    text + "DONE:\nst.global.u32 [%d1], %r1; st.global.u32 [%d1+4], %r2;\nret;\n}\n"
}

/// One run: what was observed, and whether a race was found.
fn run(litmus: &Litmus, text: &str, schedule: Schedule) -> (Vec<u32>, bool) {
    let mut device = SimDevice::new();
    device.set_schedule(schedule);
    let [mem, out] = [256, 64].map(|bytes| {
        let buffer = device.alloc(bytes, Access::ReadWrite).expect("room");
        device.fill(buffer, 0, bytes, &[0]).expect("it fits");
        buffer
    });
    let threads = litmus.programs.len() as u32;
    let (grid, block) = match litmus.threads {
        OfBlocksEach => (threads, 32),
        OfOneBlock => (1, 32 * threads),
    };
    let args = [pointer(mem), pointer(out)];
    launch(&mut device, text, grid, block, 0, &args).expect("it runs");
    let findings = device.take_findings().expect("a list");
    let strange: Vec<_> = findings
        .iter()
        .filter(|f| f.kind != FindingKind::Race)
        .collect();
    assert!(strange.is_empty(), "{}: {strange:?}", litmus.name);
    let mut word = |buffer, offset| {
        let bytes = device.download(buffer, offset, 4).expect("it is there");
        u32::from_le_bytes(bytes.try_into().expect("four bytes"))
    };
    let observed = litmus.observed.split(' ').map(|name| match name {
        "x" => word(mem, 0),
        "y" => word(mem, 128),
        register => {
            let (thread, register) = register.split_once(":r").expect("1:r2");
            let [thread, register] =
                [thread, register].map(|n| n.parse::<u64>().expect("a number"));
            word(out, 8 * thread + 4 * (register - 1))
        }
    });
    (observed.collect(), !findings.is_empty())
}

/// Runs all of them under many schedules.
fn hold(all: &[Litmus]) {
    for litmus in all {
        let name = litmus.name;
        let text = text(litmus);
        let mut seen = BTreeSet::new();
        for number in 0..SCHEDULES {
            let schedule = Schedule::nth(1, number);
            let (outcome, races) = run(litmus, &text, schedule);
            assert!(
                !litmus.forbidden.contains(&&outcome[..]),
                "{name} under {schedule}: {outcome:?}"
            );
            let flagged = match litmus.races {
                Races::Never => false,
                Races::Always => true,
                // A read that did not happen races with nothing.
                Races::WhereRead => outcome[0] == 1,
            };
            assert_eq!(races, flagged, "{name} under {schedule}: {outcome:?}");
            seen.insert(outcome);
        }
        let reached: BTreeSet<Vec<u32>> = litmus.reached.iter().map(|o| o.to_vec()).collect();
        assert_eq!(seen, reached, "{name}: outcomes");
        for weaker in litmus.weaker {
            assert!(
                !litmus.reached.contains(weaker),
                "{name}: {weaker:?} is reached"
            );
        }
    }
}

#[test]
fn message_passing() {
    hold(MESSAGE_PASSING);
}

#[test]
fn store_buffering() {
    hold(STORE_BUFFERING);
}

#[test]
fn load_buffering() {
    hold(LOAD_BUFFERING);
}

#[test]
fn coherence() {
    hold(COHERENCE);
}
