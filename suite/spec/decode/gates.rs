//! Gates: what is expected of them, on which devices, and what they report.

use indexmap::IndexMap;

use crate::spec::fields::{Decoder, Fields};
use crate::spec::keys;
use crate::spec::model::{Expect, Gate, Measure, Place};
use crate::spec::tree::{Content, Tree};
use crate::terms::{DeviceKind, FindingKind, ReasonKind};

/// The reasons that an `expect: {error: …}` can name.
const ERRORS: &[ReasonKind] = &[ReasonKind::Setup, ReasonKind::KernelFault, ReasonKind::Hang];

impl Decoder<'_> {
    pub(super) fn gate(&self, tree: &Tree, name: &str, place: Place) -> Option<Gate> {
        let fields = self.mapping(tree, "a gate")?;
        let own = self.check_keys(&fields, "a gate");
        if let Some((check, own)) = own {
            let mut keys = keys::GATE.to_vec();
            keys.extend_from_slice(own);
            // Timings run a pipeline for each row; and neither they nor an assertion nor health read an output to
            // measure.
            if check == "timings" {
                keys.retain(|key| *key != "run");
            }
            if matches!(check, "timings" | "assert" | "health") {
                keys.retain(|key| *key != "report");
            }
            self.known_keys(&fields, &format!("a gate of check `{check}`"), &keys);
        } else {
            // Without a check every check's keys may be meant: what is none of them may be the misspelt `check`.
            let own = keys::CHECKS.iter().flat_map(|(_, own)| own.iter());
            let keys: Vec<_> = keys::GATE.iter().chain(own).copied().collect();
            self.known_keys(&fields, "a gate", &keys);
        }
        let subject = self.subject(&fields);
        let devices = fields.get("devices").map(|tree| self.devices(tree));
        let devices = devices.unwrap_or_default();
        let expect = fields.get("expect").map(|tree| self.expect(tree, &devices));
        let report = fields.get("report").map(|tree| self.report(tree));
        let (check, _) = own?;
        let check = if check == "timings" {
            self.timings(&fields, name)
        } else {
            let run = self.required(&fields, "a gate", "run");
            let run = run.and_then(|tree| self.pipeline_name(tree));
            self.check(&fields, check, run)
        };
        Some(Gate {
            subject,
            check: check?,
            expect: expect.unwrap_or(Some(Expect::Pass))?,
            devices,
            report: report.unwrap_or_default(),
            place,
        })
    }

    /// The check's name, and the keys it adds.
    pub(super) fn check_keys(
        &self,
        fields: &Fields<'_>,
        what: &str,
    ) -> Option<(&'static str, &'static [&'static str])> {
        let tree = self.required(fields, what, "check")?;
        let names: Vec<&str> = keys::CHECKS.iter().map(|(name, _)| *name).collect();
        self.word(tree, "check", &names, |text| {
            keys::CHECKS.iter().find(|(name, _)| *name == text).copied()
        })
    }

    fn devices(&self, tree: &Tree) -> Vec<DeviceKind> {
        let names: Vec<&str> = DeviceKind::ALL.iter().map(|d| d.name()).collect();
        let items = self.one_or_list(tree).iter();
        let devices = items.filter_map(|i| self.word(i, "device", &names, DeviceKind::from_name));
        devices.collect()
    }

    /// None where it was wrong; the gate is then left out, since what it expects is unknown.
    fn expect(&self, tree: &Tree, devices: &[DeviceKind]) -> Option<Expect> {
        if let Content::Scalar(_) = &tree.content {
            return self.word(tree, "expectation", &["pass"], |text| {
                (text == "pass").then_some(Expect::Pass)
            });
        }
        let fields = self.fields(tree, "`expect`", keys::EXPECT)?;
        match (fields.get("fail"), fields.get("error")) {
            (Some(fail), None) => self.expect_fail(fail, devices),
            (None, Some(error)) => {
                let names: Vec<&str> = ERRORS.iter().map(|kind| kind.name()).collect();
                let kind = self.word(error, "error", &names, |text| {
                    ERRORS.iter().find(|kind| kind.name() == text).copied()
                })?;
                Some(Expect::Error { kind })
            }
            _ => {
                let mend = "write {fail: KIND}, {fail: {cuda: KIND, sim: KIND}} or {error: setup}";
                self.log
                    .mend(tree.place, "`expect` says one thing, fail or error", mend);
                None
            }
        }
    }

    fn expect_fail(&self, tree: &Tree, devices: &[DeviceKind]) -> Option<Expect> {
        if !matches!(tree.content, Content::Mapping(_)) {
            let kind = self.finding(tree)?;
            return Some(Expect::Fail {
                cuda: kind,
                sim: kind,
            });
        }
        let fields = self.fields(tree, "`fail`", keys::FAIL)?;
        let kind = |device: &str| fields.get(device).map(|tree| self.finding(tree));
        match (kind("cuda"), kind("sim")) {
            (Some(cuda), Some(sim)) => Some(Expect::Fail {
                cuda: cuda?,
                sim: sim?,
            }),
            // The other device never runs this gate.
            (Some(kind), None) if devices == [DeviceKind::Cuda] => kind.map(|kind| Expect::Fail {
                cuda: kind,
                sim: kind,
            }),
            (None, Some(kind)) if devices == [DeviceKind::Sim] => kind.map(|kind| Expect::Fail {
                cuda: kind,
                sim: kind,
            }),
            _ => {
                let mend = "write {cuda: KIND, sim: KIND}, or restrict the gate with `devices`";
                self.log.mend(
                    tree.place,
                    "`fail` does not say what each device finds",
                    mend,
                );
                None
            }
        }
    }

    fn finding(&self, tree: &Tree) -> Option<FindingKind> {
        let names: Vec<&str> = FindingKind::ALL.iter().map(|kind| kind.name()).collect();
        self.word(tree, "finding kind", &names, FindingKind::from_name)
    }

    fn report(&self, tree: &Tree) -> IndexMap<String, Measure> {
        let fields = self.mapping(tree, "`report`");
        let entries = fields.map_or(&[][..], |fields| fields.entries);
        let measures = entries.iter().filter_map(|entry| {
            self.name(&entry.key, entry.place, "a measure");
            let fields = self.fields(&entry.value, "a measure", keys::MEASURE)?;
            let against = self.required(&fields, "a measure", "against")?;
            Some((entry.key.clone(), Measure::Against(self.want(against)?)))
        });
        measures.collect()
    }
}
