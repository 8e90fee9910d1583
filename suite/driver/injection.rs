//! Fault injection: the faults that a test injects, and into which calls.
//!
//! Owns: the plan, its text form and its parser. Imports the events of `state`.
//!
//! ```text
//! cuda=12.4; cards=2; nvml_order=reversed; cuInit: error 803; cuLaunchKernel(mark)#2+: sticky 700
//! ```
//!
//! Entries stand between `;` or on lines of their own. A setting is `NAME=VALUE`. A rule is `FUNCTION: FAULT` and
//! injects the fault into every call of that function in a process. Behind the function, in this order: `(KERNEL)`
//! takes launches of that kernel only, `@CARD` calls in the context of that device of CUDA's, `#N` the Nth call only
//! and `#N+` that one and all after it. Of several rules that match a call the first one counts.

use std::path::PathBuf;
use std::sync::OnceLock;
use std::sync::atomic::{AtomicU64, Ordering};

use crate::state::Event;

/// The environment variable that holds the plan.
pub(crate) const VARIABLE: &str = "CUDA_GATES_TEST_DRIVER";

const MIB: u64 = 1 << 20;

/// What is injected into a call.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Fault {
    /// `error N`: gives this code and does nothing.
    Error(u32),
    /// `sticky N`: succeeds, and breaks the context: every later call gives this code.
    Sticky(u32),
    /// `value N`: the number that a call reports. For calls of NVML that report one number.
    Value(u64),
    /// `xid N`, `ecc N`, `lost`: happens to the card of the context, and the call goes on. Every process sees it by
    /// NVML; one that starts after `lost` does not find the card.
    Happens(Event),
    /// `hang`: never returns.
    Hang,
    /// `abort`: ends the process by SIGABRT.
    Abort,
    /// `kill`: ends the process by SIGKILL.
    Kill,
    /// `exit N`: ends the process with this exit code.
    Exit(i32),
}

/// A fault, and the calls it is injected into.
#[derive(Debug)]
struct Rule {
    function: String,
    kernel: Option<String>,
    card: Option<usize>,
    first: u64,
    last: u64,
    /// Calls of the function, kernel and card so far.
    calls: AtomicU64,
    fault: Fault,
}

/// The cards, and all that is wrong with them.
#[derive(Debug)]
pub(crate) struct Plan {
    /// `13000` for CUDA 13.0: `cuda=13.0`.
    pub cuda: u32,
    /// `driver=580.159.04`, as NVML tells it.
    pub driver: String,
    /// `cards=2`
    pub cards: usize,
    /// `memory=64`: MiB of each card.
    pub memory_bytes: u64,
    /// `taken=40`: MiB of it that other processes hold.
    pub taken_bytes: u64,
    /// `tag=N`: a part of each card's UUID, so that tests that run side by side do not wait for each other's cards.
    pub tag: u32,
    /// `state=PATH`: a file that all processes share, of what happened to the cards.
    pub state: Option<PathBuf>,
    /// `nvml_order=reversed`: NVML numbers the cards from the other end.
    pub reversed: bool,
    /// `mig=on`: CUDA's devices are slices of cards.
    pub mig: bool,
    /// `stub=on`: every function of CUDA answers as the toolkit's stub does.
    pub stub: bool,
    rules: Vec<Rule>,
}

impl Default for Plan {
    fn default() -> Self {
        Self {
            cuda: 13_000,
            driver: "580.0.0".to_owned(),
            cards: 1,
            memory_bytes: 1024 * MIB,
            taken_bytes: 0,
            tag: 0,
            state: None,
            reversed: false,
            mig: false,
            stub: false,
            rules: Vec::new(),
        }
    }
}

impl Plan {
    /// This process's. Ends it where the plan cannot be understood: a fault that does not come must not look like one
    /// that was borne.
    pub(crate) fn get() -> &'static Self {
        static PLAN: OnceLock<Plan> = OnceLock::new();
        PLAN.get_or_init(|| {
            let text = std::env::var(VARIABLE).unwrap_or_default();
            Self::parse(&text).unwrap_or_else(|problem| {
                eprintln!("{VARIABLE}: {problem}");
                std::process::abort()
            })
        })
    }

    /// The fault to inject into this call.
    pub(crate) fn fault(
        &self,
        function: &str,
        kernel: Option<&str>,
        card: Option<usize>,
    ) -> Option<Fault> {
        let matches = |rule: &&Rule| {
            rule.function == function
                && (rule.kernel.is_none() || rule.kernel.as_deref() == kernel)
                && (rule.card.is_none() || rule.card == card)
                && {
                    let number = rule.calls.fetch_add(1, Ordering::Relaxed) + 1;
                    (rule.first..=rule.last).contains(&number)
                }
        };
        self.rules.iter().find(matches).map(|rule| rule.fault)
    }

    pub(crate) fn parse(text: &str) -> Result<Self, String> {
        let mut plan = Self::default();
        let entries = text.split([';', '\n']).map(str::trim);
        for entry in entries.filter(|entry| !entry.is_empty()) {
            let understood = match entry.split_once(':') {
                Some((call, fault)) => rule(call, fault).map(|rule| plan.rules.push(rule)),
                None => plan.set(entry),
            };
            understood.ok_or_else(|| format!("`{entry}` is no setting and no rule"))?;
        }
        Ok(plan)
    }

    fn set(&mut self, entry: &str) -> Option<()> {
        let (name, value) = entry.split_once('=')?;
        match (name, value) {
            ("cuda", version) => {
                let (major, minor) = version.split_once('.')?;
                self.cuda = 1000 * major.parse::<u32>().ok()? + 10 * minor.parse::<u32>().ok()?;
            }
            ("driver", version) => self.driver = version.to_owned(),
            ("cards", count) => self.cards = count.parse().ok()?,
            ("memory", mib) => self.memory_bytes = MIB * mib.parse::<u64>().ok()?,
            ("taken", mib) => self.taken_bytes = MIB * mib.parse::<u64>().ok()?,
            ("tag", tag) => self.tag = tag.parse().ok()?,
            ("state", path) => self.state = Some(path.into()),
            ("nvml_order", "reversed") => self.reversed = true,
            ("mig", "on") => self.mig = true,
            ("stub", "on") => self.stub = true,
            _ => return None,
        }
        Some(())
    }
}

fn rule(call: &str, fault: &str) -> Option<Rule> {
    let (call, (first, last)) = match call.trim().split_once('#') {
        Some((call, calls)) => (call, range(calls)?),
        None => (call.trim(), (1, u64::MAX)),
    };
    let (call, card) = match call.split_once('@') {
        Some((call, card)) => (call, Some(card.parse().ok()?)),
        None => (call, None),
    };
    let (function, kernel) = match call.split_once('(') {
        Some((function, kernel)) => (function, Some(kernel.strip_suffix(')')?.to_owned())),
        None => (call, None),
    };
    Some(Rule {
        function: function.to_owned(),
        kernel,
        card,
        first,
        last,
        calls: AtomicU64::new(0),
        fault: parse_fault(fault.trim())?,
    })
}

fn range(calls: &str) -> Option<(u64, u64)> {
    match calls.strip_suffix('+') {
        Some(first) => Some((first.parse().ok()?, u64::MAX)),
        None => calls.parse().ok().map(|only| (only, only)),
    }
}

fn parse_fault(text: &str) -> Option<Fault> {
    Some(match text.split_once(' ').unwrap_or((text, "")) {
        ("error", code) => Fault::Error(code.parse().ok()?),
        ("sticky", code) => Fault::Sticky(code.parse().ok()?),
        ("value", value) => Fault::Value(value.parse().ok()?),
        ("exit", code) => Fault::Exit(code.parse().ok()?),
        ("xid", number) => Fault::Happens(Event::Xid(number.parse().ok()?)),
        ("ecc", count) => Fault::Happens(Event::Ecc(count.parse().ok()?)),
        ("lost", "") => Fault::Happens(Event::Lost),
        ("hang", "") => Fault::Hang,
        ("abort", "") => Fault::Abort,
        ("kill", "") => Fault::Kill,
        _ => return None,
    })
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use super::*;

    #[test]
    fn settings_and_rules_are_read() {
        let plan = Plan::parse(
            "cuda=12.4; cards=2;\nnvml_order=reversed ; memory=3; state=/tmp/s; cuInit: error 803",
        )
        .unwrap();
        assert_eq!(
            (plan.cuda, plan.cards, plan.state.as_deref()),
            (12_040, 2, Some(Path::new("/tmp/s")))
        );
        assert!(plan.reversed && !plan.mig && !plan.stub);
        assert_eq!(plan.memory_bytes, 3 * MIB);
        assert_eq!(plan.fault("cuInit", None, None), Some(Fault::Error(803)));
        assert_eq!(plan.fault("cuDeviceGet", None, None), None);
    }

    #[test]
    fn a_fault_is_injected_into_its_kernel_and_its_calls_alone() {
        let plan = Plan::parse("cuLaunchKernel(mark)#2: sticky 700; cuLaunchKernel(scan)#2+: hang")
            .unwrap();
        let fault = |kernel| plan.fault("cuLaunchKernel", Some(kernel), Some(0));
        assert_eq!(fault("mark"), None);
        assert_eq!(fault("other"), None);
        assert_eq!(fault("mark"), Some(Fault::Sticky(700)));
        assert_eq!(fault("mark"), None);
        assert_eq!(fault("scan"), None);
        assert_eq!(fault("scan"), Some(Fault::Hang));
        assert_eq!(fault("scan"), Some(Fault::Hang));
    }

    #[test]
    fn a_fault_may_be_injected_on_one_card() {
        let plan = Plan::parse("cuLaunchKernel(mark)@1#1: hang; cuMemFree_v2@0: error 1").unwrap();
        let fault = |card| plan.fault("cuLaunchKernel", Some("mark"), card);
        assert_eq!(fault(Some(0)), None);
        assert_eq!(fault(None), None);
        assert_eq!(fault(Some(1)), Some(Fault::Hang));
        assert_eq!(fault(Some(1)), None);
        assert_eq!(
            plan.fault("cuMemFree_v2", None, Some(0)),
            Some(Fault::Error(1))
        );
    }

    #[test]
    fn what_is_no_setting_and_no_rule_is_named() {
        for wrong in [
            "cuda=13",
            "cards=two",
            "gpu=1",
            "mig",
            "cuInit",
            "cuInit: error",
            "cuInit: hang 3",
            "cuLaunchKernel: xid",
            "cuLaunchKernel: lost 1",
            "cuInit: burn",
            "cuInit#x: hang",
            "cuInit@x: hang",
            "cuLaunchKernel(mark: hang",
        ] {
            let problem = Plan::parse(&format!("cards=1; {wrong}")).unwrap_err();
            assert_eq!(problem, format!("`{wrong}` is no setting and no rule"));
        }
    }
}
