//! What is to go wrong, as a test orders it.
//!
//! Owns: the text form and its parser. Imports nothing.
//!
//! ```text
//! cuda=12.4; cards=2; nvml_order=reversed; cuInit: error 803; cuLaunchKernel(mark)#2+: sticky 700
//! ```
//!
//! Orders stand between `;` or on lines of their own. A setting is `NAME=VALUE`. A deed is `FUNCTION: DEED`, for every
//! call of that function in a process. Behind the function, in this order: `(KERNEL)` takes launches of that kernel
//! only, `@CARD` calls in the context of that device of CUDA's, `#N` the Nth call only and `#N+` that one and all after
//! it.

use std::path::PathBuf;
use std::sync::OnceLock;
use std::sync::atomic::{AtomicU64, Ordering};

use crate::state::Event;

/// The environment variable that holds the orders.
pub(crate) const VARIABLE: &str = "CUDA_GATES_TEST_DRIVER";

const MIB: u64 = 1 << 20;

/// What a call does instead of its work.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Deed {
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

/// A deed, and the calls it is for.
#[derive(Debug)]
struct Order {
    function: String,
    kernel: Option<String>,
    card: Option<usize>,
    first: u64,
    last: u64,
    met: AtomicU64,
    deed: Deed,
}

/// Everything ordered.
#[derive(Debug)]
pub(crate) struct Orders {
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
    orders: Vec<Order>,
}

impl Default for Orders {
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
            orders: Vec::new(),
        }
    }
}

impl Orders {
    /// This process's. Ends it where they cannot be understood: a fault that does not come must not look like one that
    /// was borne.
    pub(crate) fn get() -> &'static Self {
        static ORDERS: OnceLock<Orders> = OnceLock::new();
        ORDERS.get_or_init(|| {
            let text = std::env::var(VARIABLE).unwrap_or_default();
            Self::parse(&text).unwrap_or_else(|problem| {
                eprintln!("{VARIABLE}: {problem}");
                std::process::abort()
            })
        })
    }

    /// What this call is to do, by the first order that is for it.
    pub(crate) fn deed(
        &self,
        function: &str,
        kernel: Option<&str>,
        card: Option<usize>,
    ) -> Option<Deed> {
        let meant = |order: &&Order| {
            order.function == function
                && (order.kernel.is_none() || order.kernel.as_deref() == kernel)
                && (order.card.is_none() || order.card == card)
                && {
                    let number = order.met.fetch_add(1, Ordering::Relaxed) + 1;
                    (order.first..=order.last).contains(&number)
                }
        };
        self.orders.iter().find(meant).map(|order| order.deed)
    }

    pub(crate) fn parse(text: &str) -> Result<Self, String> {
        let mut orders = Self::default();
        let entries = text.split([';', '\n']).map(str::trim);
        for entry in entries.filter(|entry| !entry.is_empty()) {
            let understood = match entry.split_once(':') {
                Some((call, deed)) => order(call, deed).map(|order| orders.orders.push(order)),
                None => orders.set(entry),
            };
            understood.ok_or_else(|| format!("`{entry}` is no order"))?;
        }
        Ok(orders)
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

fn order(call: &str, deed: &str) -> Option<Order> {
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
    Some(Order {
        function: function.to_owned(),
        kernel,
        card,
        first,
        last,
        met: AtomicU64::new(0),
        deed: parse_deed(deed.trim())?,
    })
}

fn range(calls: &str) -> Option<(u64, u64)> {
    match calls.strip_suffix('+') {
        Some(first) => Some((first.parse().ok()?, u64::MAX)),
        None => calls.parse().ok().map(|only| (only, only)),
    }
}

fn parse_deed(text: &str) -> Option<Deed> {
    Some(match text.split_once(' ').unwrap_or((text, "")) {
        ("error", code) => Deed::Error(code.parse().ok()?),
        ("sticky", code) => Deed::Sticky(code.parse().ok()?),
        ("value", value) => Deed::Value(value.parse().ok()?),
        ("exit", code) => Deed::Exit(code.parse().ok()?),
        ("xid", number) => Deed::Happens(Event::Xid(number.parse().ok()?)),
        ("ecc", count) => Deed::Happens(Event::Ecc(count.parse().ok()?)),
        ("lost", "") => Deed::Happens(Event::Lost),
        ("hang", "") => Deed::Hang,
        ("abort", "") => Deed::Abort,
        ("kill", "") => Deed::Kill,
        _ => return None,
    })
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use super::*;

    #[test]
    fn settings_and_deeds_are_read() {
        let orders = Orders::parse(
            "cuda=12.4; cards=2;\nnvml_order=reversed ; memory=3; state=/tmp/s; cuInit: error 803",
        )
        .unwrap();
        assert_eq!(
            (orders.cuda, orders.cards, orders.state.as_deref()),
            (12_040, 2, Some(Path::new("/tmp/s")))
        );
        assert!(orders.reversed && !orders.mig && !orders.stub);
        assert_eq!(orders.memory_bytes, 3 * MIB);
        assert_eq!(orders.deed("cuInit", None, None), Some(Deed::Error(803)));
        assert_eq!(orders.deed("cuDeviceGet", None, None), None);
    }

    #[test]
    fn a_deed_is_for_its_kernel_and_its_calls_alone() {
        let orders =
            Orders::parse("cuLaunchKernel(mark)#2: sticky 700; cuLaunchKernel(scan)#2+: hang")
                .unwrap();
        let deed = |kernel| orders.deed("cuLaunchKernel", Some(kernel), Some(0));
        assert_eq!(deed("mark"), None);
        assert_eq!(deed("other"), None);
        assert_eq!(deed("mark"), Some(Deed::Sticky(700)));
        assert_eq!(deed("mark"), None);
        assert_eq!(deed("scan"), None);
        assert_eq!(deed("scan"), Some(Deed::Hang));
        assert_eq!(deed("scan"), Some(Deed::Hang));
    }

    #[test]
    fn a_deed_may_be_for_one_card() {
        let orders =
            Orders::parse("cuLaunchKernel(mark)@1#1: hang; cuMemFree_v2@0: error 1").unwrap();
        let deed = |card| orders.deed("cuLaunchKernel", Some("mark"), card);
        assert_eq!(deed(Some(0)), None);
        assert_eq!(deed(None), None);
        assert_eq!(deed(Some(1)), Some(Deed::Hang));
        assert_eq!(deed(Some(1)), None);
        assert_eq!(
            orders.deed("cuMemFree_v2", None, Some(0)),
            Some(Deed::Error(1))
        );
    }

    #[test]
    fn what_is_no_order_is_named() {
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
            let problem = Orders::parse(&format!("cards=1; {wrong}")).unwrap_err();
            assert_eq!(problem, format!("`{wrong}` is no order"));
        }
    }
}
