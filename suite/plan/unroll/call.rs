//! Calls of the native library and of host rungs: arguments against what the function declares.

use super::Unroll;
use crate::call::{Parameter, ParameterKind};
use crate::outcome::Fault;
use crate::plan::bytes::element_bytes;
use crate::plan::judged::slice_text;
use crate::plan::{Argument, Call, Step, template};
use crate::spec::model::{self, Arg, Callee, Place};
use crate::value::Scalar;

impl Unroll<'_, '_> {
    pub(super) fn call(
        &mut self,
        callee: Callee,
        name: &model::Template,
        args: &[Arg],
        place: Place,
    ) -> Result<Step, Fault> {
        let eval = self.shared.eval;
        let text = template::substitute(&name.text, &self.shared.case.params)
            .map_err(|message| eval.fault(name.place, message))?;
        let function = self.linker.function(callee, &text);
        let function = function.map_err(|fault| eval.placed(name.place, fault))?;
        if args.len() != function.params.len() {
            let given = args.len();
            let message = format!("`{text}` is {function}, {given} arguments are given");
            return Err(eval.fault(place, message));
        }
        let mut call = Call {
            name: text,
            args: Vec::with_capacity(args.len()),
            writes: Vec::with_capacity(args.len()),
        };
        for (arg, parameter) in args.iter().zip(&function.params) {
            call.args.push(self.operand(arg, parameter)?);
            let written = matches!(parameter.kind, ParameterKind::Array { written: true, .. });
            call.writes.push(written);
        }
        Ok(match callee {
            Callee::Native => Step::Native(call),
            Callee::Host => Step::Host(call),
        })
    }

    fn operand(&self, arg: &Arg, parameter: &Parameter) -> Result<Argument, Fault> {
        let eval = self.shared.eval;
        match (arg, parameter.kind) {
            (Arg::Buffer(slice), ParameterKind::Array { element, written }) => {
                let target = match written {
                    true => self.written(slice)?,
                    false => self.slice(slice)?,
                };
                let own = self.buffer(target).element;
                if own != element {
                    let (text, own) = (slice_text(slice), own.name());
                    let message = format!("`{text}` holds {own}, and `{parameter}` is wanted");
                    return Err(eval.fault(slice.place, message));
                }
                Ok(Argument::Pointer {
                    buffer: target.buffer,
                    element: target.from,
                })
            }
            (Arg::Value(expr), ParameterKind::Number(element)) => {
                let number = match element.is_float() {
                    true => Scalar::Float(eval.number(expr, &self.scope)?),
                    false => Scalar::Int(i128::from(eval.int(expr, &self.scope)?)),
                };
                let given = element_bytes(element, number).map_err(|message| {
                    eval.fault(expr.place, format!("`{}`: {message}", expr.source))
                })?;
                let mut bytes = [0; 8];
                bytes[..given.len()].copy_from_slice(&given);
                let size = given.len() as u32;
                Ok(Argument::Scalar { bytes, size })
            }
            (Arg::Buffer(slice), _) => {
                let message = format!("`{}` is given, and `{parameter}` is wanted", slice.buffer);
                Err(eval.fault(slice.place, message))
            }
            (Arg::Value(expr), _) => {
                let message = format!("`{}` is given, and `{parameter}` is wanted", expr.source);
                Err(eval.fault(expr.place, message))
            }
        }
    }
}
