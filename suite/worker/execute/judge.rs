//! Readings in, findings out: each check sees the device's bytes as they come, without a copy.
//!
//! A copy is kept only of what must wait: a small slice read before the array it belongs to, and an output whose
//! wanted value is another run's, which comes after it.

use std::collections::BTreeMap;

use serde_json::Value;

use super::wanted::{Held, Resolver, WantedRef};
use crate::check;
use crate::device::session::Reading;
use crate::outcome::{Fault, Finding};
use crate::plan::{Plan, Slice, Work, fault_at, placed};
use crate::reference;
use crate::spec::model::{Check, Gate, Measure, Place, Suite};
use crate::value::{Array, ArrayRef, ElementType, Scalar};

/// What came of a gate's own check, or of one verification of a row.
#[derive(Clone, Debug, Default)]
pub(super) struct Verdict {
    /// Index into the plan's rows.
    pub row: Option<usize>,
    pub findings: Vec<Finding>,
    /// `got_len`, `want_len`, `got`, `want`.
    pub values: BTreeMap<String, Value>,
    /// Measures that are reported and never gated.
    pub reported: BTreeMap<String, Value>,
}

/// Judges the readings of one session. A clone of a new one judges another session of the same case.
#[derive(Clone)]
pub(super) struct Judge<'a> {
    path: &'a str,
    plan: &'a Plan,
    jobs: Vec<Job<'a>>,
    /// The first one; a sink cannot return it.
    fault: Option<Fault>,
}

/// One check and what it waits for.
#[derive(Clone)]
struct Job<'a> {
    check: &'a Check,
    place: Place,
    /// The plan's reads it takes: from this one on, one an element type.
    first: usize,
    elements: Vec<ElementType>,
    want: Option<Held>,
    measures: Vec<(&'a str, Held)>,
    /// Slices that came before the last.
    held: Vec<Array>,
    /// The last slice, when a wanted run is still to come.
    waiting: Option<Array>,
    repeatable: Option<check::Repeatable>,
    /// The check has been made.
    done: bool,
    verdict: Verdict,
}

impl<'a> Judge<'a> {
    /// Resolves everything that is wanted, so that the readings can be judged as they come.
    ///
    /// # Errors
    /// `setup`: a reference, file or script that gives no value for this case.
    pub fn new(
        suite: &'a Suite,
        gate: &'a Gate,
        rows: &[&'a crate::spec::model::Row],
        resolver: &mut Resolver<'a, '_>,
    ) -> Result<Self, Fault> {
        let plan = &resolver.prepared.plan;
        let mut judge = Judge {
            path: &suite.path,
            plan,
            jobs: Vec::new(),
            fault: None,
        };
        match &plan.work {
            Work::Once { reads, .. } | Work::Repeat { reads, .. } => {
                let mut job = judge.job(&gate.check, gate.place, (0, reads), resolver)?;
                let element = job.elements.last().copied();
                for (name, Measure::Against(want)) in &gate.report {
                    if let Some(element) = element {
                        let against = resolver.resolve(want, element, gate.place)?;
                        job.measures.push((name, against));
                    }
                }
                judge.jobs.push(job);
            }
            Work::Rows { rows: planned, .. } => {
                for (index, (row, planned)) in rows.iter().zip(planned).enumerate() {
                    let mut first = 0;
                    for check in suite.verifying(row) {
                        let mut job =
                            judge.job(check, row.place, (first, &planned.reads), resolver)?;
                        first += job.elements.len();
                        job.verdict.row = Some(index);
                        judge.jobs.push(job);
                    }
                }
            }
        }
        Ok(judge)
    }

    fn job(
        &self,
        check: &'a Check,
        place: Place,
        (first, reads): (usize, &[Slice]),
        resolver: &mut Resolver<'a, '_>,
    ) -> Result<Job<'a>, Fault> {
        let count = check.slices().len();
        let own = reads.iter().skip(first).take(count);
        let elements: Vec<ElementType> = own.map(|slice| self.element(slice)).collect();
        let want = match (check.want(), elements.last()) {
            (Some(want), Some(&element)) => Some(resolver.resolve(want, element, place)?),
            _ => None,
        };
        let repeatable = matches!(check, Check::Repeatable { .. });
        Ok(Job {
            check,
            place,
            first,
            // An assertion reads nothing: it is made elsewhere.
            done: elements.is_empty(),
            elements,
            want,
            measures: Vec::new(),
            held: Vec::new(),
            waiting: None,
            repeatable: repeatable.then(check::Repeatable::new),
            verdict: Verdict::default(),
        })
    }

    fn element(&self, slice: &Slice) -> ElementType {
        self.plan.buffers[slice.buffer.0].element
    }

    /// Takes one reading; to be called in the session's order.
    pub fn take(&mut self, reading: Reading<'_>) {
        if self.fault.is_some() {
            return;
        }
        let result = match reading {
            Reading::Begins => Ok(()),
            Reading::Run { slice, bytes, .. } => self.reading(None, slice, bytes),
            Reading::Row { row, slice, bytes } => self.reading(Some(row), slice, bytes),
            Reading::Wanted { index, bytes } => self.wanted(index, bytes),
        };
        self.fault = result.err();
    }

    fn reading(&mut self, row: Option<usize>, slice: usize, bytes: &[u8]) -> Result<(), Fault> {
        let path = self.path;
        let mut jobs = self.jobs.iter_mut().filter(|job| job.verdict.row == row);
        let job = jobs.find(|job| (job.first..job.first + job.elements.len()).contains(&slice));
        let Some(job) = job else {
            return Ok(());
        };
        let index = slice - job.first;
        let element = job.elements[index];
        if index + 1 < job.elements.len() {
            // A run's first slice starts it afresh.
            job.held.truncate(index);
            job.held.push(Array::from_bytes(element, bytes));
            return Ok(());
        }
        let at = job.place;
        let in_spec = |fault| placed(path, at, fault);
        with_view(element, bytes, |got| job.got(got)).map_err(in_spec)
    }

    fn wanted(&mut self, index: usize, bytes: &[u8]) -> Result<(), Fault> {
        let Some(run) = self.plan.wanted.get(index) else {
            return Ok(());
        };
        let element = self.element(&run.read);
        let path = self.path;
        with_view(element, bytes, |value| {
            let mut jobs = self.jobs.iter_mut();
            jobs.try_for_each(|job| {
                let at = job.place;
                let in_spec = |fault| placed(path, at, fault);
                job.run_gave(index, value).map_err(in_spec)
            })
        })
    }

    /// The verdicts, once the session is over.
    ///
    /// # Errors
    /// The first fault of a check; `setup` too when something was never read, since nothing was judged then.
    pub fn finish(self) -> Result<Vec<Verdict>, Fault> {
        if let Some(fault) = self.fault {
            return Err(fault);
        }
        let mut verdicts = Vec::new();
        for mut job in self.jobs {
            if let Some(repeatable) = job.repeatable.take() {
                job.verdict.findings = repeatable.findings();
            }
            if !job.done {
                let message = "the device gave nothing to judge";
                return Err(fault_at(self.path, job.place, message));
            }
            verdicts.push(job.verdict);
        }
        Ok(verdicts)
    }
}

impl Job<'_> {
    /// The last slice is there.
    fn got(&mut self, got: ArrayRef<'_>) -> Result<(), Fault> {
        self.verdict
            .values
            .insert("got_len".into(), got.len().into());
        if let Some(repeatable) = &mut self.repeatable {
            self.done = true;
            repeatable.run(got)?;
        }
        let want = self.want.clone();
        match want.as_ref().map(Held::view) {
            Some(Some(want)) => self.check(got, Some(want))?,
            Some(None) => {}
            None if self.repeatable.is_none() => self.check(got, None)?,
            None => {}
        }
        let mut waits = matches!(want, Some(Held::Run(_)));
        for (name, against) in &self.measures {
            match against.view() {
                Some(against) => measure(&mut self.verdict, name, got, against)?,
                None => waits = true,
            }
        }
        if waits {
            self.waiting = Some(Array::from_bytes(got.element_type(), got.as_bytes()));
        }
        Ok(())
    }

    /// A wanted run's result is there.
    fn run_gave(&mut self, index: usize, value: ArrayRef<'_>) -> Result<(), Fault> {
        let Some(waiting) = self.waiting.take() else {
            return Ok(());
        };
        let is_it = |held: &Held| matches!(held, Held::Run(run) if *run == index);
        if self.want.as_ref().is_some_and(is_it) {
            self.check(waiting.view(), Some(WantedRef::Array(value)))?;
        }
        for (name, against) in &self.measures {
            if is_it(against) {
                let against = WantedRef::Array(value);
                measure(&mut self.verdict, name, waiting.view(), against)?;
            }
        }
        // Another run may be awaited as well.
        self.waiting = Some(waiting);
        Ok(())
    }

    fn check(&mut self, got: ArrayRef<'_>, want: Option<WantedRef<'_>>) -> Result<(), Fault> {
        let before: Vec<ArrayRef<'_>> = self.held.iter().map(Array::view).collect();
        let findings = judge(self.check, got, before.first().copied(), want)?;
        note(
            &mut self.verdict.values,
            self.check,
            got,
            before.first().copied(),
            want,
        );
        self.verdict.findings.extend(findings);
        self.done = true;
        Ok(())
    }
}

/// One check. `split` is a partition's boundary as read.
fn judge(
    check: &Check,
    got: ArrayRef<'_>,
    split: Option<ArrayRef<'_>>,
    want: Option<WantedRef<'_>>,
) -> Result<Vec<Finding>, Fault> {
    let element = got.element_type();
    match (check, want) {
        (Check::ScanTotal { .. } | Check::Count { .. }, Some(want)) => {
            check::count(got, number(want)?)
        }
        (Check::Exact { .. }, Some(want)) => with_array(want, element, |w| check::exact(got, w)),
        (Check::Multiset { .. }, Some(want)) => {
            with_array(want, element, |w| check::multiset(got, w))
        }
        (Check::Permutation { .. }, Some(want)) => {
            with_array(want, element, |w| check::permutation(got, w))
        }
        (Check::Near { tolerance, .. }, Some(want)) => {
            with_array(want, element, |w| check::near(got, w, *tolerance))
        }
        (Check::Partition { .. }, Some(WantedRef::Partition { array, split: at })) => {
            check::partition(got, array, split, at)
        }
        (Check::Partition { .. }, Some(want)) if split.is_none() => {
            with_array(want, element, |w| check::exact(got, w))
        }
        (Check::Partition { .. }, Some(_)) => Err(Fault::setup(
            "a split is read, and what is wanted has none: `{partition: …}` gives one",
        )),
        (Check::Sorted { order, .. }, _) => Ok(check::sorted(got, *order)),
        // These are judged elsewhere: over several runs, over values, over rows, by what the card says.
        (
            Check::Repeatable { .. }
            | Check::Assert { .. }
            | Check::Health { .. }
            | Check::Timings(_),
            _,
        ) => Ok(Vec::new()),
        (_, None) => Err(Fault::setup("nothing is wanted")),
    }
}

/// The numbers that assertions and tables use.
fn note(
    values: &mut BTreeMap<String, Value>,
    check: &Check,
    got: ArrayRef<'_>,
    split: Option<ArrayRef<'_>>,
    want: Option<WantedRef<'_>>,
) {
    let mut set = |name: &str, value: Value| values.insert(name.to_owned(), value);
    if matches!(check, Check::ScanTotal { .. } | Check::Count { .. }) {
        if got.len() == 1 {
            set("got", json(got.get(0)));
        }
        if let Some(Ok(want)) = want.map(number) {
            set("want", json(want));
        }
        return;
    }
    match want {
        Some(WantedRef::Array(array)) => drop(set("want_len", array.len().into())),
        Some(WantedRef::Partition { array, split: at }) => {
            set("want_len", array.len().into());
            set("want", at.into());
        }
        Some(WantedRef::Number(_)) => drop(set("want_len", 1.into())),
        None => {}
    }
    if let Some(split) = split.filter(|s| s.len() == 1) {
        set("got", json(split.get(0)));
    }
}

fn measure(
    verdict: &mut Verdict,
    name: &str,
    got: ArrayRef<'_>,
    against: WantedRef<'_>,
) -> Result<(), Fault> {
    let element = got.element_type();
    let places = with_array(against, element, |a| check::order_differences(got, a))?;
    verdict.reported.insert(name.to_owned(), places.into());
    Ok(())
}

fn number(want: WantedRef<'_>) -> Result<Scalar, Fault> {
    match want {
        WantedRef::Number(number) => Ok(number),
        WantedRef::Array(array) if array.len() == 1 => Ok(array.get(0)),
        WantedRef::Array(array) | WantedRef::Partition { array, .. } => {
            let len = array.len();
            let message = format!("one number is to be wanted here, and {len} elements are");
            Err(Fault::setup(message))
        }
    }
}

fn with_array<R>(
    want: WantedRef<'_>,
    element: ElementType,
    then: impl FnOnce(ArrayRef<'_>) -> Result<R, Fault>,
) -> Result<R, Fault> {
    match want {
        WantedRef::Array(array) | WantedRef::Partition { array, .. } => then(array),
        WantedRef::Number(number) => then(reference::array_of(element, &[number])?.view()),
    }
}

/// The bytes as they lie, where they are aligned (a device promises that), else a copy.
fn with_view<R>(
    element: ElementType,
    bytes: &[u8],
    then: impl FnOnce(ArrayRef<'_>) -> Result<R, Fault>,
) -> Result<R, Fault> {
    match ArrayRef::from_bytes(element, bytes) {
        Ok(view) => then(view),
        Err(_) => then(Array::from_bytes(element, bytes).view()),
    }
}

fn json(number: Scalar) -> Value {
    match number {
        Scalar::Int(v) => match (i64::try_from(v), u64::try_from(v)) {
            (Ok(v), _) => v.into(),
            (_, Ok(v)) => v.into(),
            _ => v.to_string().into(),
        },
        // A NaN or an infinity is no JSON number.
        Scalar::Float(v) if v.is_finite() => v.into(),
        Scalar::Float(_) => number.to_string().into(),
    }
}
