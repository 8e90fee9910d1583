//! `must_run`: gates whose cases may not all be skipped.

use indexmap::IndexMap;

use crate::spec::fields::{Decoder, Fields};
use crate::spec::keys;
use crate::spec::model::{Check, Gate, MustRun};
use crate::spec::tree::{Content, Tree};
use crate::terms::DeviceKind;

impl Decoder<'_> {
    /// A list for every device, or one for each.
    pub(super) fn must_run(&self, fields: &Fields<'_>, gates: &IndexMap<String, Gate>) -> MustRun {
        let Some(tree) = fields.get("must_run") else {
            return MustRun::default();
        };
        if !matches!(tree.content, Content::Mapping(_)) {
            let on = |device| self.must_run_on(tree, device, gates);
            return MustRun {
                cuda: on(DeviceKind::Cuda),
                sim: on(DeviceKind::Sim),
            };
        }
        let Some(fields) = self.fields(tree, "`must_run`", keys::MUST_RUN) else {
            return MustRun::default();
        };
        let on = |device: DeviceKind| {
            let tree = fields.get(device.name());
            tree.map_or_else(Vec::new, |tree| self.must_run_on(tree, device, gates))
        };
        MustRun {
            cuda: on(DeviceKind::Cuda),
            sim: on(DeviceKind::Sim),
        }
    }

    fn must_run_on(
        &self,
        tree: &Tree,
        device: DeviceKind,
        gates: &IndexMap<String, Gate>,
    ) -> Vec<String> {
        let names = self.one_or_list(tree).iter();
        let names = names.filter_map(|item| {
            let known = self.survey.gates.keys().map(String::as_str);
            let name = self.declared(item, "gate", known)?;
            if let Some(why) = gates.get(&name).and_then(|gate| never_runs(gate, device)) {
                let message = format!("gate `{name}` never runs on {device}: {why}");
                let mend = "name the other device alone, as {cuda: [GATE]} or {sim: [GATE]}";
                self.log.mend(item.place, message, mend);
            }
            Some(name)
        });
        names.collect()
    }
}

/// Why every case of a gate is skipped on such a device, where that is sure.
fn never_runs(gate: &Gate, device: DeviceKind) -> Option<&'static str> {
    if !gate.devices.is_empty() && !gate.devices.contains(&device) {
        return Some("its `devices` say so");
    }
    match (&gate.check, device) {
        (Check::Timings(_), DeviceKind::Sim) => Some("the simulated device has no clock"),
        (Check::Health { .. }, DeviceKind::Sim) => {
            Some("the simulated device has no health to read")
        }
        _ => None,
    }
}
