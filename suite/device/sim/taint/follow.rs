//! Tainted values through the instructions of a warp.

use super::super::collective;
use super::super::flow::Choice;
use super::super::lanes::{BITS, Class, FULL, LANES, Row, SINK, SINK_DATA, lanes};
use super::super::memory::{Place, addresses};
use super::super::program::{
    Access, Address, Atomic, Combine, Compare, Instruction, Kind, Pc, Shuffle,
};
use super::super::step::Running;
use super::{Flow, Source, number};
use crate::outcome::Finding;
use crate::terms::FindingKind;

/// What a value decides.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Use {
    Address,
    Branch,
    Guard,
    Barrier,
    Output,
}

impl Use {
    fn words(self) -> &'static str {
        match self {
            Use::Address => "decides an address",
            Use::Branch => "decides a branch",
            Use::Guard => "decides whether this is done",
            Use::Barrier => "decides what a barrier gives or takes",
            Use::Output => "is stored to global memory",
        }
    }
}

impl Running<'_> {
    /// Before an instruction of a warp that has tainted registers; `mask` are the lanes that run it.
    #[cold]
    pub fn follow(&mut self, instruction: &Instruction, pc: Pc, mask: u32) {
        let kernel = self.at.kernel;
        let flow = &kernel.flows[pc as usize];
        let active = self.warp.now.active;
        let guard = self.warp.taint.of(flow.guard) & active;
        if guard != 0 {
            self.follow_guard(instruction, flow, pc, guard);
        }
        match &instruction.kind {
            Kind::Load(access) | Kind::Poll(access) => {
                self.follow_address(&access.address, pc, mask);
                let (_, source) = self.warp.taint.among(&[flow.guard]);
                self.write(flow, mask | guard, guard, source);
            }
            Kind::Store(access) => self.follow_address(&access.address, pc, mask),
            Kind::Atomic(atomic) => {
                self.follow_address(&atomic.address, pc, mask);
                self.write(flow, mask, 0, Source::default());
            }
            Kind::Barrier(_) => self.decide(&flow.reads, Use::Barrier, pc, mask),
            Kind::Vote { .. } | Kind::Match { .. } => {
                // Each lane's result is of all lanes' values.
                let (tainted, source) = self.warp.taint.among(&flow.reads);
                let tainted = if tainted & mask != 0 { FULL } else { 0 };
                self.write(flow, mask, tainted, source);
            }
            Kind::Shuffle(shuffle) => {
                let counts = kernel.rows;
                let narrow = |row: Row| self.warp.taint.of(number(counts, Class::Narrow, row));
                let (data, choice) = (narrow(shuffle.a), narrow(shuffle.b) | narrow(shuffle.c));
                let (from, _) = collective::sources(&self.frame, shuffle, mask);
                let moved = lanes(mask).filter(|&lane| data & BITS[from[lane] % LANES] != 0);
                let moved = moved.fold(0, |sum, lane| sum | BITS[lane]);
                let (_, source) = self.warp.taint.among(&flow.reads);
                let taint = &mut self.warp.taint;
                for &row in &flow.writes {
                    let predicate = row == number(counts, Class::Predicate, shuffle.p);
                    let tainted = if predicate { choice } else { moved | choice };
                    taint.set(row, mask, tainted, source);
                }
            }
            Kind::Compare(compare) => self.follow_compare(compare, flow, mask, guard),
            _ => {
                let (tainted, mut source) = self.inputs(flow);
                if tainted & mask == 0 && guard != 0 {
                    (_, source) = self.warp.taint.among(&[flow.guard]);
                }
                // Who does not run it keeps its value, by the same guard.
                self.write(flow, mask | guard, tainted | guard, source);
            }
        }
    }

    /// The lanes whose inputs are tainted, the predicate it runs under apart.
    fn inputs(&self, flow: &Flow) -> (u32, Source) {
        let taint = &self.warp.taint;
        let (all, source) = taint.among(&flow.reads);
        let Some((choice, [a, b, by])) = flow.choice else {
            return (all, source);
        };
        let first = self.at.kernel.rows.narrow + self.at.kernel.rows.wide;
        let held = |row: usize| self.frame.predicates[row - first];
        let (of_a, of_b) = (taint.of(a), taint.of(b));
        // Where an operand decides the result alone, the other's taint ends.
        let tainted = match choice {
            Choice::Select => of_a & held(by) | of_b & !held(by) | taint.of(by),
            Choice::And => of_a & (of_b | held(b)) | of_b & (of_a | held(a)),
            Choice::Or => of_a & (of_b | !held(b)) | of_b & (of_a | !held(a)),
        };
        (tainted, source)
    }

    /// The predicates that a comparison writes: its third operand may decide alone.
    fn follow_compare(&mut self, compare: &Compare, flow: &Flow, mask: u32, guard: u32) {
        let counts = self.at.kernel.rows;
        let taint = &self.warp.taint;
        let third = number(counts, Class::Predicate, compare.c);
        let of_third = taint.of(third);
        let (all, source) = taint.among(&flow.reads);
        let others = flow.reads.iter().filter(|&&row| row != third);
        let compared = others.fold(0, |sum, &row| sum | taint.of(row));
        let held = (compare.comparison.run)(&self.frame, compare.a, compare.b);
        let other = self.frame.predicates[usize::from(compare.c)] ^ compare.flip;
        for (row, held) in [(compare.p, held), (compare.q, !held)] {
            let tainted = match compare.combine {
                Combine::None | Combine::Xor => all,
                Combine::And => compared & (of_third | other) | of_third & (compared | held),
                Combine::Or => compared & (of_third | !other) | of_third & (compared | !held),
            };
            if row != SINK {
                let row = number(counts, Class::Predicate, row);
                self.warp
                    .taint
                    .set(row, mask | guard, tainted | guard, source);
            }
        }
    }

    fn write(&mut self, flow: &Flow, mask: u32, tainted: u32, source: Source) {
        for &row in &flow.writes {
            self.warp.taint.set(row, mask, tainted, source);
        }
    }

    fn follow_guard(&mut self, instruction: &Instruction, flow: &Flow, pc: Pc, guard: u32) {
        let decides = match instruction.kind {
            Kind::Branch { .. } | Kind::Exit | Kind::Trap => Use::Branch,
            Kind::Store(_) | Kind::Atomic(_) | Kind::Barrier(_) => Use::Guard,
            _ => return,
        };
        self.decide(&[flow.guard], decides, pc, guard);
    }

    fn follow_address(&mut self, address: &Address, pc: Pc, mask: u32) {
        let class = if address.wide {
            Class::Wide
        } else {
            Class::Narrow
        };
        let row = number(self.at.kernel.rows, class, address.base);
        self.decide(&[row], Use::Address, pc, mask);
    }

    /// Reports if a tainted lane of `mask` decides something; then it is tainted no longer, so that one read is not
    /// reported over and over.
    fn decide(&mut self, rows: &[usize], decides: Use, pc: Pc, mask: u32) {
        let (tainted, source) = self.warp.taint.among(rows);
        let tainted = tainted & mask;
        if tainted == 0 {
            return;
        }
        for &row in rows {
            self.warp.taint.set(row, tainted, 0, source);
        }
        self.report_use(decides, pc, tainted, source);
    }

    fn report_use(&mut self, decides: Use, pc: Pc, lanes: u32, source: Source) {
        let (at, spaces) = (&self.at, &self.spaces);
        let taker = &at.kernel.code[source.pc as usize].kind;
        let (kind, what) = match taker {
            Kind::Shuffle(_) => (
                FindingKind::Membermask,
                "a value of a lane that the membermask leaves out, or that is not there,",
            ),
            _ => (
                FindingKind::Uninitialised,
                "a value of memory never written",
            ),
        };
        self.recorder.note(pc, kind, lanes.count_ones(), || {
            let lane = lanes.trailing_zeros();
            let origin = &at.kernel.origin[source.pc as usize];
            let space = match taker {
                Kind::Load(access) | Kind::Poll(access) => Some(access.address.space),
                Kind::Atomic(atomic) => Some(atomic.address.space),
                _ => None,
            };
            let place = space.map_or(String::new(), |space| {
                let place = spaces.describe(space, lane as usize, source.address, 1);
                format!(", {place}")
            });
            let line = origin.ptx_line;
            let file = origin.source.as_ref();
            let file = file.map_or(String::new(), |file| format!(" ({file})"));
            let message = format!("{what} {}", decides.words());
            let detail = format!("read by PTX line {line}{file}: `{}`{place}", origin.text);
            Finding::new(kind, message)
                .with_detail(vec![detail])
                .at(at.site(pc, lane, None))
        });
    }

    /// After a shuffle in which `lanes` took what is undefined.
    #[cold]
    pub fn taint_shuffle(&mut self, shuffle: &Shuffle, pc: Pc, lanes: u32) {
        if shuffle.d != SINK_DATA {
            let row = number(self.at.kernel.rows, Class::Narrow, shuffle.d);
            let source = Source {
                pc,
                ..Source::default()
            };
            self.warp.taint.set(row, lanes, lanes, source);
        }
    }

    /// After a load that has read bytes never written.
    #[cold]
    pub fn taint_load(&mut self, access: &Access, pc: Pc, address: u64) {
        let class = if access.wide {
            Class::Wide
        } else {
            Class::Narrow
        };
        let counts = self.at.kernel.rows;
        let rows = &access.rows[..usize::from(access.count)];
        let (unwritten, bare) = (self.spaces.unwritten, self.spaces.bare);
        for ((&row, lanes), bare) in rows.iter().zip(unwritten).zip(bare) {
            if row != SINK_DATA && lanes != 0 {
                let source = Source {
                    pc,
                    address,
                    part: bare == 0,
                };
                let row = number(counts, class, row);
                self.warp.taint.set(row, lanes, lanes, source);
            }
        }
    }

    /// After a store of a warp that has tainted registers.
    #[cold]
    pub fn taint_store(&mut self, access: &Access, pc: Pc, mask: u32) {
        let class = if access.wide {
            Class::Wide
        } else {
            Class::Narrow
        };
        let counts = self.at.kernel.rows;
        let all = addresses(&self.frame, &access.address);
        let size = u64::from(access.bytes);
        for index in 0..usize::from(access.count) {
            let row = number(counts, class, access.rows[index]);
            let tainted = self.warp.taint.of(row);
            let part = self.warp.taint.is_part(row);
            let mut output = 0;
            for lane in lanes(tainted & mask) {
                let address = all[lane].wrapping_add(index as u64 * size);
                let place = self
                    .spaces
                    .forget(access.address.space, lane, address, size);
                if matches!(place, Some(Place::Global(_))) && !part {
                    output |= BITS[lane];
                }
            }
            self.decide(&[row], Use::Output, pc, output);
        }
    }

    /// After an atomic on shared memory never written, or of a warp that has tainted registers, with the addresses it
    /// had. What it leaves there is no better than what it was given.
    #[cold]
    pub fn taint_atomic(&mut self, atomic: &Atomic, pc: Pc, mask: u32, all: &[u64; LANES]) {
        let class = if atomic.bytes == 8 {
            Class::Wide
        } else {
            Class::Narrow
        };
        let counts = self.at.kernel.rows;
        let rows = [atomic.a, atomic.b].map(|row| number(counts, class, row));
        let (given, _) = self.warp.taint.among(&rows);
        let bytes = u64::from(atomic.bytes);
        let mut output = 0;
        for lane in lanes(given & mask) {
            let place = self
                .spaces
                .forget(atomic.address.space, lane, all[lane], bytes);
            if matches!(place, Some(Place::Global(_))) {
                output |= BITS[lane];
            }
        }
        self.decide(&rows, Use::Output, pc, output);
        let unwritten = self.spaces.unwritten[0];
        if atomic.d != SINK_DATA && unwritten != 0 {
            let row = number(counts, class, atomic.d);
            let address = all[unwritten.trailing_zeros() as usize % LANES];
            let source = Source {
                pc,
                address,
                part: false,
            };
            self.warp.taint.set(row, unwritten, unwritten, source);
        }
    }
}
