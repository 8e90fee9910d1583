//! Host rungs in a session: the buffers they name come to the host before them and go back after, untimed.
//!
//! Owns: those copies, and the host's clock. Imports `host`, `plan`, `value` and `outcome`.
//!
//! ```text
//! poison, prepare, bring, run × warmups, |run| × runs, give back     | is a reading of the host's clock
//! ```

use std::collections::BTreeMap;
use std::time::Instant;

use super::Session;
use super::rows::RowTimes;
use crate::host::{self, Operand};
use crate::outcome::Fault;
use crate::plan::{Argument, BufferIndex, Call, Row, Step};
use crate::value::Array;

/// Buffers on the host, and which of them go back.
pub(super) struct Brought {
    arrays: BTreeMap<BufferIndex, Array>,
    written: Vec<BufferIndex>,
}

impl Session<'_> {
    /// Host steps that nothing times.
    pub(super) fn host_calls(&mut self, calls: &[&Call]) -> Result<(), Fault> {
        let mut brought = self.bring(calls)?;
        self.call_host(calls, &mut brought)?;
        self.give_back(&brought)
    }

    /// As a device's row, by the host's clock: runs follow each other without a pause, so that the batch is the sum of
    /// the singles.
    pub(super) fn host_row(
        &mut self,
        row: &Row,
        warmups: u32,
        runs: u32,
    ) -> Result<RowTimes, Fault> {
        self.afresh(row)?;
        let mut times = RowTimes {
            warmups,
            ..RowTimes::default()
        };
        let calls: Vec<&Call> = row.steps.iter().filter_map(Step::host).collect();
        let mut held: Option<Brought> = None;
        for turn in 0..warmups.saturating_add(runs) {
            let mut brought = match held.take() {
                Some(brought) if row.prepare_each.is_empty() => brought,
                before => {
                    before.map_or(Ok(()), |before| self.give_back(&before))?;
                    self.steps(&row.prepare_each)?;
                    self.bring(&calls)?
                }
            };
            let start = Instant::now();
            self.call_host(&calls, &mut brought)?;
            let ms = start.elapsed().as_secs_f64() * 1e3;
            if turn >= warmups {
                times.singles_ms.push(ms);
            }
            held = Some(brought);
        }
        if let Some(brought) = held {
            self.give_back(&brought)?;
        }
        if row.prepare_each.is_empty() && runs > 0 {
            times.batch_ms = Some(times.singles_ms.iter().sum());
        }
        Ok(times)
    }

    /// Copies every buffer that the calls name, after all work asked for so far.
    fn bring(&mut self, calls: &[&Call]) -> Result<Brought, Fault> {
        let mut brought = Brought {
            arrays: BTreeMap::new(),
            written: Vec::new(),
        };
        for call in calls {
            for (argument, &written) in call.args.iter().zip(&call.writes) {
                let Argument::Pointer { buffer, .. } = *argument else {
                    continue;
                };
                if written && !brought.written.contains(&buffer) {
                    brought.written.push(buffer);
                }
                if brought.arrays.contains_key(&buffer) {
                    continue;
                }
                let described = &self.plan.buffers[buffer.0];
                let len = super::byte_len(described);
                let array = match len {
                    0 => Array::zeros(described.element, 0),
                    _ => {
                        let bytes = self.device.download(self.buffers[buffer.0], 0, len)?;
                        Array::from_bytes(described.element, bytes)
                    }
                };
                brought.arrays.insert(buffer, array);
            }
        }
        Ok(brought)
    }

    fn give_back(&mut self, brought: &Brought) -> Result<(), Fault> {
        for buffer in &brought.written {
            if let Some(array) = brought.arrays.get(buffer).filter(|array| !array.is_empty()) {
                let id = self.buffers[buffer.0];
                self.device.upload(id, 0, array.as_bytes())?;
            }
        }
        Ok(())
    }

    fn call_host(&mut self, calls: &[&Call], brought: &mut Brought) -> Result<(), Fault> {
        for call in calls {
            let called = invoke(call, &mut brought.arrays, &mut self.host_scratch);
            called.map_err(|words| Fault::setup(format!("host rung: {words}")))?;
        }
        Ok(())
    }
}

/// Each array leaves the map for the call, so that the function has it for itself.
fn invoke(
    call: &Call,
    arrays: &mut BTreeMap<BufferIndex, Array>,
    scratch: &mut host::Scratch,
) -> Result<(), String> {
    let mut taken: Vec<Option<(BufferIndex, Array)>> = Vec::with_capacity(call.args.len());
    for argument in &call.args {
        taken.push(match *argument {
            Argument::Pointer { buffer, .. } => arrays.remove_entry(&buffer),
            Argument::Scalar { .. } => None,
        });
    }
    let arguments = call.args.iter().zip(&call.writes).zip(&mut taken);
    let operands = arguments.map(|((argument, &written), taken)| match (argument, taken) {
        (Argument::Scalar { bytes, .. }, _) => Ok(Operand::Number(u64::from_le_bytes(*bytes))),
        (Argument::Pointer { element, .. }, Some((_, array))) => {
            operand(array, *element as usize, written)
        }
        (Argument::Pointer { .. }, None) => Err("takes each buffer once".to_owned()),
    });
    let called = operands
        .collect::<Result<Vec<_>, _>>()
        .map_err(|words| format!("`{}` {words}", call.name))
        .and_then(|operands| host::call(&call.name, operands, scratch));
    arrays.extend(taken.into_iter().flatten());
    called
}

/// An array from an element on.
fn operand(array: &mut Array, from: usize, written: bool) -> Result<Operand<'_>, String> {
    Ok(match (array, written) {
        (Array::I32(values), false) => Operand::I32(&values[from..]),
        (Array::I32(values), true) => Operand::I32Mut(&mut values[from..]),
        (Array::U32(values), false) => Operand::U32(&values[from..]),
        (Array::U32(values), true) => Operand::U32Mut(&mut values[from..]),
        (other, _) => {
            let name = other.element_type().name();
            return Err(format!("takes no array of {name}"));
        }
    })
}
