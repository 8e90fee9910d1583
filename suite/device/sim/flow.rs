//! Control flow of a kernel: basic blocks, immediate post-dominators, and registers live at the entry.
//!
//! Post-dominators by Cooper, Harvey and Kennedy ("A Simple, Fast Dominance Algorithm") on the reversed graph.

use super::lanes::{Class, Row};
use super::program::{Instruction, Kind, Pc, RowCounts};

/// Exits considered as the main one; compilers write a few.
const MAX_EXITS: usize = 64;

/// Maximal runs of instructions that are entered at the first and left after the last.
pub struct Blocks {
    /// First instruction of each block, ascending; the end of the code closes the list.
    starts: Vec<Pc>,
    /// Successor blocks; `exit()` stands for the end of the thread.
    successors: Vec<Vec<usize>>,
    /// Whether a block has instructions that lanes or warps execute together.
    together: Vec<bool>,
}

impl Blocks {
    pub fn new(code: &[Instruction]) -> Self {
        let end = code.len() as Pc;
        let mut starts = vec![0, end];
        for (pc, instruction) in code.iter().enumerate() {
            match instruction.kind {
                Kind::Branch { target, .. } => starts.extend([target, pc as Pc + 1]),
                Kind::Exit | Kind::Trap => starts.push(pc as Pc + 1),
                _ => {}
            }
        }
        starts.sort_unstable();
        starts.dedup();
        let exit = starts.len() - 1;
        let find = |pc: Pc| starts.binary_search(&pc).unwrap_or(exit);
        let successors = (0..exit).map(|block| {
            let last = starts[block + 1] - 1;
            let instruction = &code[last as usize];
            let certain = instruction.guard == super::lanes::TRUE && instruction.flip == 0;
            let mut next = match instruction.kind {
                Kind::Branch { target, .. } => vec![find(target)],
                Kind::Exit | Kind::Trap => vec![exit],
                _ => vec![block + 1],
            };
            if !certain {
                next.push(block + 1);
            }
            next.sort_unstable();
            next.dedup();
            next
        });
        let successors = successors.collect();
        let together = starts.windows(2).map(|ends| {
            let block = &code[ends[0] as usize..ends[1] as usize];
            block
                .iter()
                .any(|instruction| is_together(&instruction.kind))
        });
        Self {
            together: together.collect(),
            successors,
            starts,
        }
    }

    fn exit(&self) -> usize {
        self.successors.len()
    }

    /// For each block the first instruction where lanes that part at its end meet again; the end of the code where
    /// they only meet by exiting.
    ///
    /// That is the immediate post-dominator among the paths that stay: an early exit takes its lanes away and keeps
    /// nobody waiting, so it must not push the meeting point of the others to the end of the kernel. Blocks from which
    /// only early exits can be reached meet where all paths do.
    pub fn reconvergence(&self) -> Vec<Pc> {
        let exit = self.exit();
        let staying = post_dominators(&self.staying());
        let all = post_dominators(&self.successors);
        let meet = |block: usize| staying[block].or(all[block]).unwrap_or(exit);
        (0..exit).map(|block| self.starts[meet(block)]).collect()
    }

    /// The edges without those of early exits: only one exit, the main one, still leads out.
    fn staying(&self) -> Vec<Vec<usize>> {
        let exit = self.exit();
        let main = self.main_exit();
        let mut edges = self.successors.clone();
        for (block, next) in edges.iter_mut().enumerate() {
            if main.is_some_and(|main| main != block) {
                next.retain(|&successor| successor != exit);
            }
        }
        edges
    }

    /// The block that ends the kernel for threads that do not leave early: that to which the most blocks with barriers
    /// and their like lead, then the most blocks, then the last in the order of the code.
    fn main_exit(&self) -> Option<usize> {
        let exit = self.exit();
        let reached = self.reached();
        let exits = (0..exit).rev();
        let exits = exits.filter(|&block| reached[block] && self.successors[block] == [exit]);
        let predecessors = predecessors(&self.successors);
        let leading = |to: usize| {
            let before = closure(to, exit + 1, |block| &predecessors[block]);
            let on_the_way = |&block: &usize| before[block] && reached[block];
            let all = (0..exit).filter(on_the_way);
            (
                all.clone().filter(|&block| self.together[block]).count(),
                all.count(),
            )
        };
        let counted = exits.take(MAX_EXITS).map(|block| (leading(block), block));
        counted.max().map(|(_, block)| block)
    }

    /// Blocks that the entry leads to.
    fn reached(&self) -> Vec<bool> {
        closure(0, self.exit() + 1, |block| {
            self.successors.get(block).map_or(&[], Vec::as_slice)
        })
    }

    /// The block that holds an instruction.
    pub fn of(&self, pc: Pc) -> usize {
        self.starts.partition_point(|&start| start <= pc) - 1
    }

    /// Rows that some path reads before any path's certain write.
    pub fn live_at_entry(
        &self,
        code: &[Instruction],
        usage: &[Usage],
        counts: RowCounts,
    ) -> Vec<(Class, Row)> {
        let exit = self.exit();
        let mut live = vec![Bits::new(counts); exit + 1];
        let mut changed = true;
        while changed {
            changed = false;
            for block in (0..exit).rev() {
                let mut now = Bits::new(counts);
                for &next in &self.successors[block] {
                    now.join(&live[next]);
                }
                for pc in (self.starts[block]..self.starts[block + 1]).rev() {
                    let at = pc as usize;
                    if code[at].guard == super::lanes::TRUE {
                        usage[at].writes.iter().for_each(|&row| now.set(row, false));
                    }
                    usage[at].reads.iter().for_each(|&row| now.set(row, true));
                }
                if now != live[block] {
                    live[block] = now;
                    changed = true;
                }
            }
        }
        live[0].rows()
    }
}

/// The immediate post-dominator of each block; none for a block that cannot reach the exit, which is the number past
/// the last block.
fn post_dominators(successors: &[Vec<usize>]) -> Vec<Option<usize>> {
    let exit = successors.len();
    let order = reverse_postorder(successors);
    let mut position = vec![usize::MAX; exit + 1];
    for (index, &block) in order.iter().enumerate() {
        position[block] = index;
    }
    // Over positions in `order`; the exit is position 0.
    let mut dominator: Vec<Option<usize>> = vec![None; order.len()];
    dominator[0] = Some(0);
    let mut changed = true;
    while changed {
        changed = false;
        for index in 1..order.len() {
            let next = successors[order[index]].iter().map(|&s| position[s]);
            let known = next.filter(|&p| p != usize::MAX && dominator[p].is_some());
            let new = known.reduce(|a, b| intersect(&dominator, a, b));
            if new != dominator[index] {
                dominator[index] = new;
                changed = true;
            }
        }
    }
    let of = |block: usize| {
        let at = dominator.get(position[block]).copied().flatten();
        at.map(|at| order[at])
    };
    (0..exit).map(of).collect()
}

/// From the exit along reversed edges; blocks that cannot reach the exit are absent.
fn reverse_postorder(successors: &[Vec<usize>]) -> Vec<usize> {
    let exit = successors.len();
    let predecessors = predecessors(successors);
    let mut seen = vec![false; exit + 1];
    let mut order = Vec::new();
    let mut stack = vec![(exit, 0)];
    seen[exit] = true;
    while let Some((block, next)) = stack.pop() {
        if let Some(&predecessor) = predecessors[block].get(next) {
            stack.push((block, next + 1));
            if !seen[predecessor] {
                seen[predecessor] = true;
                stack.push((predecessor, 0));
            }
        } else {
            order.push(block);
        }
    }
    order.reverse();
    order
}

fn is_together(kind: &Kind) -> bool {
    matches!(
        kind,
        Kind::Barrier(_)
            | Kind::WarpSync { .. }
            | Kind::Shuffle(_)
            | Kind::Vote { .. }
            | Kind::Match { .. }
    )
}

fn predecessors(successors: &[Vec<usize>]) -> Vec<Vec<usize>> {
    let mut all = vec![Vec::new(); successors.len() + 1];
    for (block, next) in successors.iter().enumerate() {
        for &successor in next {
            all[successor].push(block);
        }
    }
    all
}

/// `start` and all that `next` leads to from there, of `count` blocks.
fn closure<'a>(start: usize, count: usize, next: impl Fn(usize) -> &'a [usize]) -> Vec<bool> {
    let mut found = vec![false; count];
    let mut pending = vec![start];
    while let Some(block) = pending.pop() {
        if !std::mem::replace(&mut found[block], true) {
            pending.extend_from_slice(next(block));
        }
    }
    found
}

fn intersect(dominator: &[Option<usize>], mut a: usize, mut b: usize) -> usize {
    while a != b {
        if a > b {
            a = dominator[a].unwrap_or(0);
        } else {
            b = dominator[b].unwrap_or(0);
        }
    }
    a
}

/// Instructions whose result need not follow from all of their operands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Choice {
    /// `selp`
    Select,
    /// Of predicates.
    And,
    Or,
}

impl Choice {
    pub fn of(opcode: &str, modifiers: &[String]) -> Option<Self> {
        let of_predicates = modifiers == ["pred"];
        match opcode {
            "selp" => Some(Self::Select),
            "and" if of_predicates => Some(Self::And),
            "or" if of_predicates => Some(Self::Or),
            _ => None,
        }
    }
}

/// Rows that one instruction reads and writes.
#[derive(Clone, Debug, Default)]
pub struct Usage {
    pub reads: Vec<(Class, Row)>,
    pub writes: Vec<(Class, Row)>,
    /// Whether one of its operands may keep the others from mattering.
    pub choice: Option<Choice>,
    /// Whether it adds the condition code in.
    pub carries: bool,
}

#[derive(Clone, PartialEq)]
struct Bits {
    words: Vec<u64>,
    counts: RowCounts,
}

impl Bits {
    fn new(counts: RowCounts) -> Self {
        let rows = counts.narrow + counts.wide + counts.predicates;
        Self {
            words: vec![0; rows.div_ceil(64)],
            counts,
        }
    }

    fn set(&mut self, (class, row): (Class, Row), value: bool) {
        let index = usize::from(row)
            + match class {
                Class::Narrow => 0,
                Class::Wide => self.counts.narrow,
                Class::Predicate => self.counts.narrow + self.counts.wide,
            };
        let bit = 1 << (index % 64);
        let word = &mut self.words[index / 64];
        *word = if value { *word | bit } else { *word & !bit };
    }

    fn join(&mut self, other: &Self) {
        self.words
            .iter_mut()
            .zip(&other.words)
            .for_each(|(a, b)| *a |= b);
    }

    fn rows(&self) -> Vec<(Class, Row)> {
        let all = self.words.len() * 64;
        let set = (0..all).filter(|i| self.words[i / 64] >> (i % 64) & 1 == 1);
        let (narrow, wide) = (self.counts.narrow, self.counts.wide);
        set.map(|i| match i {
            _ if i < narrow => (Class::Narrow, i as Row),
            _ if i < narrow + wide => (Class::Wide, (i - narrow) as Row),
            _ => (Class::Predicate, (i - narrow - wide) as Row),
        })
        .collect()
    }
}
