//! One launch: its kernel, its shape and its arguments.

use std::collections::HashMap;
use std::rc::Rc;

use super::bytes::{integer_argument, single};
use super::eval::Eval;
use super::{Argument, Slice};
use crate::call::Function;
use crate::expr::Scope;
use crate::host;
use crate::image::{Param, ParamClass, Signature};
use crate::outcome::Fault;
use crate::spec::model::{Callee, Expr, Place};

/// Where kernels are looked up, without knowing what holds them.
pub trait Signatures {
    /// The first of `module_candidates` that has a kernel `name`, and the kernel's signature.
    ///
    /// # Errors
    /// `setup` when none has it, or a module's PTX is missing.
    fn kernel(&self, module_candidates: &[String], name: &str)
    -> Result<(usize, Signature), Fault>;

    /// A function of the native library, as its sources declare it.
    ///
    /// # Errors
    /// `setup` when there is none of this name.
    fn native(&self, name: &str) -> Result<Function, Fault> {
        Err(Fault::setup(format!(
            "no function `{name}`: there is no native library"
        )))
    }
}

const GRID_MAX: [u64; 3] = [(1 << 31) - 1, 65_535, 65_535];
const BLOCK_MAX: [u64; 3] = [1024, 1024, 64];
const BLOCK_THREADS_MAX: u64 = 1024;
/// The most that any architecture gives one block; a device refuses what is too much for it.
const SHARED_BYTES_MAX: u64 = 227 * 1024;

/// Kernels by name, and the modules launched from in the order of their first launch.
pub(super) struct Linker<'a> {
    signatures: &'a dyn Signatures,
    candidates: &'a [String],
    found: HashMap<String, (usize, Rc<Signature>)>,
    pub modules: Vec<String>,
}

impl<'a> Linker<'a> {
    pub fn new(signatures: &'a dyn Signatures, candidates: &'a [String]) -> Self {
        Self {
            signatures,
            candidates,
            found: HashMap::new(),
            modules: Vec::new(),
        }
    }

    /// The kernel's module (an index into the candidates) and signature.
    pub fn kernel(&mut self, name: &str) -> Result<(usize, Rc<Signature>), Fault> {
        if let Some(found) = self.found.get(name) {
            return Ok(found.clone());
        }
        let (module, signature) = self.signatures.kernel(self.candidates, name)?;
        let found = (module, Rc::new(signature));
        self.found.insert(name.to_owned(), found.clone());
        Ok(found)
    }

    /// What a called function takes.
    pub fn function(&self, callee: Callee, name: &str) -> Result<Function, Fault> {
        match callee {
            Callee::Native => self.signatures.native(name),
            Callee::Host => host::function(name).cloned().map_err(Fault::setup),
        }
    }

    /// The plan's index of a candidate, which takes part from now on.
    pub fn module(&mut self, candidate: usize) -> usize {
        let name = &self.candidates[candidate];
        let known = self.modules.iter().position(|m| m == name);
        known.unwrap_or_else(|| {
            self.modules.push(name.clone());
            self.modules.len() - 1
        })
    }
}

/// A launch's numbers.
pub(super) struct Shape {
    pub grid: [u32; 3],
    pub block: [u32; 3],
    pub shared: u32,
}

impl Shape {
    /// A grid with a zero in it launches nothing.
    pub fn is_empty(&self) -> bool {
        self.grid.contains(&0)
    }
}

/// What a step says of a launch's shape.
pub(super) struct ShapeExprs<'a> {
    pub grid: &'a [Expr],
    pub block: &'a [Expr],
    pub shared: Option<&'a Expr>,
}

pub(super) fn shape(
    eval: Eval<'_>,
    scope: &Scope,
    exprs: &ShapeExprs<'_>,
    signature: &Signature,
    place: Place,
) -> Result<Shape, Fault> {
    let grid = extents(eval, scope, exprs.grid, ("grid", &GRID_MAX), place)?;
    let block = extents(eval, scope, exprs.block, ("block", &BLOCK_MAX), place)?;
    let threads: u64 = block.iter().map(|&b| u64::from(b)).product();
    let name = &signature.name;
    if threads == 0 {
        return Err(eval.fault(
            place,
            format!("`{name}`: block is {block:?}, it has no thread"),
        ));
    }
    let limit = match signature.max_threads {
        Some(own) => BLOCK_THREADS_MAX.min(u64::from(own)),
        None => BLOCK_THREADS_MAX,
    };
    if threads > limit {
        let message = format!("`{name}`: a block of {threads} threads, at most {limit} fit");
        return Err(eval.fault(place, message));
    }
    let dynamic = match exprs.shared {
        Some(expr) => eval.natural(expr, scope, "shared")?,
        None => 0,
    };
    let total = dynamic.saturating_add(signature.static_shared_bytes);
    if total > SHARED_BYTES_MAX {
        let message = format!(
            "`{name}`: {total} bytes of shared memory ({} of them static), at most {SHARED_BYTES_MAX} fit",
            signature.static_shared_bytes
        );
        return Err(eval.fault(exprs.shared.map_or(place, |e| e.place), message));
    }
    Ok(Shape {
        grid,
        block,
        // Not above the limit, which fits.
        shared: dynamic as u32,
    })
}

fn extents(
    eval: Eval<'_>,
    scope: &Scope,
    exprs: &[Expr],
    (what, max): (&str, &[u64; 3]),
    place: Place,
) -> Result<[u32; 3], Fault> {
    if exprs.is_empty() || exprs.len() > 3 {
        let message = format!("{what} has {} dimensions, it takes 1 to 3", exprs.len());
        return Err(eval.fault(place, message));
    }
    let mut extents = [1; 3];
    for (d, expr) in exprs.iter().enumerate() {
        let value = eval.natural(expr, scope, what)?;
        if value > max[d] {
            let axis = ["x", "y", "z"][d];
            let message = format!("{what} {axis} is {value}, at most {} fit", max[d]);
            return Err(eval.fault(expr.place, message));
        }
        // Not above a limit that fits.
        extents[d] = value as u32;
    }
    Ok(extents)
}

/// A kernel argument by its parameter.
pub(super) fn value_argument(
    eval: Eval<'_>,
    scope: &Scope,
    expr: &Expr,
    param: Param,
) -> Result<Argument, Fault> {
    let bytes = match (param.class, param.size) {
        (ParamClass::Integer, 1 | 2 | 4 | 8) => {
            integer_argument(eval.int(expr, scope)?, param.size)
        }
        (ParamClass::Float, 4) => single(eval.number(expr, scope)?).map(|v| {
            let mut bytes = [0; 8];
            bytes[..4].copy_from_slice(&v.to_le_bytes());
            bytes
        }),
        (ParamClass::Float, 8) => Ok(eval.number(expr, scope)?.to_le_bytes()),
        (class, size) => Err(format!(
            "the kernel takes {size} bytes of {} there, which a number cannot fill",
            class_text(class)
        )),
    };
    let size = param.size;
    match bytes {
        Ok(bytes) => Ok(Argument::Scalar { bytes, size }),
        Err(message) => Err(eval.fault(expr.place, format!("`{}`: {message}", expr.source))),
    }
}

/// A buffer's address, for a parameter that can hold one.
pub(super) fn pointer_argument(slice: Slice, param: Param) -> Result<Argument, String> {
    if param.class != ParamClass::Integer || param.size != 8 {
        return Err(format!(
            "the kernel takes {} bytes of {} there, not a pointer",
            param.size,
            class_text(param.class)
        ));
    }
    Ok(Argument::Pointer {
        buffer: slice.buffer,
        element: slice.from,
    })
}

fn class_text(class: ParamClass) -> &'static str {
    match class {
        ParamClass::Integer => "integer",
        ParamClass::Float => "float",
        ParamClass::Bytes => "struct",
    }
}
