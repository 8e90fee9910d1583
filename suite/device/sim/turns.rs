//! Who goes on, and for how long: the policies of a schedule.
//!
//! Turns of blocks that wait for each other have uneven lengths in the fair order too, from a fixed seed: blocks
//! overtake each other, so that a look-back meets predecessors in every state, and always the same ones.
//!
//! A decision of the other policies picks one split of one resident warp. Their turns are short, and an access or a
//! `.sync` instruction uses up most of one, so that decisions fall around what others can see.

use super::schedule::{Policy, Schedule, split_mix};

/// Warp instructions of a turn where nothing waits for another block.
const LONG: u64 = 1 << 16;
/// Least warp instructions of a turn where blocks wait for each other; the most is twice that, less one.
const SHORT: u64 = 64;
/// Random turns have up to two to this power, any power being as likely.
const POWERS: u64 = 7;
/// Most instructions for who has the highest priority: then it falls behind, as it may wait unseen.
const PATIENCE: u64 = 1 << 14;
/// Steps at which priorities change in a launch, each before two to the power of `LATEST`, any power being as likely.
const CHANGES: usize = 6;
const LATEST: u64 = 20;
/// Random priorities are above, those of who has fallen behind below.
const BEHIND: u64 = 1 << 63;

/// Something that can run at a decision.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Candidate {
    /// Which of the resident blocks.
    pub block: usize,
    pub warp: usize,
    /// The lowest of its lanes.
    pub lane: u32,
    pub rank: u64,
}

/// The turns of one launch.
pub struct Turns {
    policy: Policy,
    /// Decisions left to the policy.
    pub left: u64,
    fair: u64,
    random: u64,
    /// Steps run so far, and where priorities change, the next last.
    steps: u64,
    changes: Vec<u64>,
    behind: u64,
}

impl Turns {
    /// Of the launch of this number that the schedule decides, with so many decisions `left` to its policy.
    pub fn new(schedule: &Schedule, launch: u64, left: u64) -> Self {
        let seed = match schedule.policy {
            Policy::Fair => 0,
            Policy::Random { seed } | Policy::Pct { seed } => seed,
        };
        let mut turns = Self {
            policy: schedule.policy,
            left,
            fair: 0x9e37_79b9_7f4a_7c15,
            random: split_mix(seed ^ split_mix(launch)),
            steps: 0,
            changes: Vec::new(),
            behind: BEHIND,
        };
        if turns.has_ranks() {
            turns.changes = (0..CHANGES).map(|_| turns.random_power(LATEST)).collect();
            turns.changes.sort_unstable_by(|a, b| b.cmp(a));
        }
        turns
    }

    /// Whether the policy, and not everyone in turn, decides who goes on.
    pub fn decides(&self) -> bool {
        self.policy != Policy::Fair && self.left > 0
    }

    /// Whether it goes by priorities.
    pub fn has_ranks(&self) -> bool {
        matches!(self.policy, Policy::Pct { .. })
    }

    /// Steps run so far by decision.
    pub fn steps(&self) -> u64 {
        self.steps
    }

    /// A new priority.
    pub fn rank(&mut self) -> u64 {
        self.random() | BEHIND
    }

    /// A priority below all there are.
    pub fn rank_behind(&mut self) -> u64 {
        self.behind -= 1;
        self.behind
    }

    /// Who goes on, of at least one candidate, and for how many steps.
    pub fn pick(&mut self, candidates: &[Candidate]) -> (Candidate, u64) {
        self.left = self.left.saturating_sub(1);
        if self.has_ranks() {
            let highest = candidates.iter().max_by_key(|candidate| candidate.rank);
            let next = self.changes.last().map_or(PATIENCE, |&at| at - self.steps);
            return (
                highest.copied().unwrap_or(candidates[0]),
                next.clamp(1, PATIENCE),
            );
        }
        let at = self.random() % candidates.len() as u64;
        (candidates[at as usize], self.random_power(POWERS))
    }

    /// Notes that a turn has taken so many steps; whether who had it falls behind now.
    pub fn fall_behind(&mut self, steps: u64, ended: bool) -> bool {
        self.steps += steps;
        let due = self.changes.last().is_some_and(|&at| at <= self.steps);
        while self.changes.last().is_some_and(|&at| at <= self.steps) {
            self.changes.pop();
        }
        self.has_ranks() && (due || ended)
    }

    /// Warp instructions of the next turn in the fair order. Short ones follow Marsaglia's xorshift ("Xorshift RNGs",
    /// 2003).
    pub fn next(&mut self, short: bool) -> u64 {
        if !short {
            return LONG;
        }
        self.fair ^= self.fair << 13;
        self.fair ^= self.fair >> 7;
        self.fair ^= self.fair << 17;
        SHORT + self.fair % SHORT
    }

    fn random(&mut self) -> u64 {
        self.random = self.random.wrapping_add(0x9e37_79b9_7f4a_7c15);
        split_mix(self.random)
    }

    /// From 1 to two to the power of `powers`, less one.
    fn random_power(&mut self, powers: u64) -> u64 {
        let least = 1 << (self.random() % powers);
        least + self.random() % least
    }
}
