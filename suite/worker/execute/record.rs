//! What a record says of its case before and beside what ran: a blank one, the code it used, what it must end in.

use std::collections::BTreeMap;

use indexmap::IndexMap;

use crate::case::Case;
use crate::image::Image;
use crate::image::native::Library;
use crate::report::record::{CaseRecord, KernelRecord};
use crate::spec::model::{AxisValue, Expect};
use crate::terms::{DeviceKind, Outcome};

/// What a gate must end in on such a device, in a record's words; none when it must pass.
pub fn expected(expect: &Expect, device: DeviceKind) -> Option<String> {
    match (expect, device) {
        (Expect::Pass, _) => None,
        (Expect::Fail { cuda, .. }, DeviceKind::Cuda) => Some(format!("fail: {cuda}")),
        (Expect::Fail { sim, .. }, DeviceKind::Sim) => Some(format!("fail: {sim}")),
        (Expect::Error { kind }, _) => Some(format!("error: {kind}")),
    }
}

pub(super) fn kernel_record(image: &Image) -> KernelRecord {
    KernelRecord {
        module: image.module.clone(),
        image_sha256: image.sha256.clone(),
        compiler: image.compiler.clone(),
        jit_log: None,
    }
}

/// The library stands beside the modules. Its compiler is told apart: an image's own says how its kernels were made.
pub(super) fn library_record(library: &Library) -> KernelRecord {
    KernelRecord {
        module: "native".into(),
        image_sha256: library.sha256.clone(),
        compiler: format!("{} (native library)", library.about.compiler),
        jit_log: None,
    }
}

/// A record of the case before anything is known of it: an error without a reason.
pub fn blank(case: &Case) -> CaseRecord {
    let params = case.params.iter().map(|(axis, value)| {
        let value = match value {
            AxisValue::Int(v) => (*v).into(),
            AxisValue::Text(v) => v.as_str().into(),
        };
        (axis.clone(), value)
    });
    CaseRecord {
        id: case.id.clone(),
        suite: case.suite.clone(),
        gate: case.gate.clone(),
        subject: case.subject.clone(),
        check: case.check.clone(),
        image: case.image,
        params: params.collect(),
        outcome: Outcome::Error,
        expected: None,
        reason: None,
        findings: Vec::new(),
        waiver: None,
        health: None,
        reported: BTreeMap::new(),
        values: BTreeMap::new(),
        timings: IndexMap::new(),
        skipped_rows: IndexMap::new(),
        not_judged: IndexMap::new(),
        duration_ms: 0.0,
        scheduled: None,
        kernels: Vec::new(),
        repro: String::new(),
    }
}
