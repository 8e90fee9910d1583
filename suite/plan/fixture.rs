//! Suites by hand, for tests of what runs after the loader.

use indexmap::IndexMap;

use super::Signatures;
use crate::call::Function;
use crate::case::{Case, check_kind};
use crate::image::{Param, ParamClass, Signature};
use crate::outcome::Fault;
use crate::spec::model::*;
use crate::terms::ImageKind;
use crate::value::ElementType;

pub fn place() -> Place {
    Place { line: 7, column: 3 }
}

pub fn expr(source: &str) -> Expr {
    Expr {
        source: source.into(),
        place: place(),
    }
}

pub fn template(text: &str) -> Template {
    Template {
        text: text.into(),
        place: place(),
    }
}

/// `out`, `out[i]` or `out[i..j]`.
pub fn slice(text: &str) -> Slice {
    let (buffer, inner) = text.split_once('[').unwrap_or((text, ""));
    let inner = inner.trim_end_matches(']');
    let range = match inner.split_once("..") {
        _ if inner.is_empty() => Range::All,
        Some((from, to)) => Range::Span(expr(from), expr(to)),
        None => Range::One(expr(inner)),
    };
    Slice {
        buffer: buffer.into(),
        range,
        place: place(),
    }
}

pub fn step(action: Action) -> Step {
    Step {
        action,
        when: None,
        place: place(),
    }
}

pub fn when(condition: &str, step: Step) -> Step {
    Step {
        when: Some(expr(condition)),
        ..step
    }
}

/// An argument that opens with `&` is a buffer. Grid and block are separated by commas.
pub fn kernel(name: &str, grid: &str, block: &str, args: &[&str]) -> Step {
    shared_kernel(name, grid, block, None, args)
}

pub fn shared_kernel(
    name: &str,
    grid: &str,
    block: &str,
    shared: Option<&str>,
    args: &[&str],
) -> Step {
    let list = |text: &str| text.split(',').map(expr).collect();
    step(Action::Kernel {
        kernel: template(name),
        grid: list(grid),
        block: list(block),
        shared: shared.map(expr),
        args: args.iter().map(arg).collect(),
    })
}

/// A call of the native library or a host rung; arguments as of [`kernel`].
pub fn call(callee: Callee, name: &str, args: &[&str]) -> Step {
    step(Action::Call {
        callee,
        name: template(name),
        args: args.iter().map(arg).collect(),
    })
}

fn arg(text: &&str) -> Arg {
    match text.strip_prefix('&') {
        Some(buffer) => Arg::Buffer(slice(buffer)),
        None => Arg::Value(expr(text)),
    }
}

pub fn memset(to: &str, value: &str) -> Step {
    step(Action::Memset {
        to: slice(to),
        value: expr(value),
    })
}

pub fn copy(from: &str, to: &str) -> Step {
    step(Action::Copy {
        from: slice(from),
        to: slice(to),
    })
}

pub fn pipeline(name: &str) -> Step {
    step(Action::Pipeline { name: name.into() })
}

pub fn each(
    variable: &str,
    from: &str,
    to: &str,
    swap: Option<(&str, &str)>,
    steps: Vec<Step>,
) -> Step {
    step(Action::For {
        variable: variable.into(),
        from: expr(from),
        to: expr(to),
        swap: swap.map(|(a, b)| (a.into(), b.into())),
        steps,
    })
}

pub fn reference(name: &str, operand: &str) -> Want {
    Want::Reference {
        name: name.into(),
        operand: template(operand),
        map: None,
        of: "input".into(),
    }
}

pub fn exact(run: &str, got: &str, want: Want) -> Check {
    Check::Exact {
        run: run.into(),
        got: slice(got),
        want,
    }
}

pub fn gate(check: Check) -> Gate {
    Gate {
        subject: None,
        check,
        expect: Expect::Pass,
        devices: Vec::new(),
        report: IndexMap::new(),
        place: place(),
    }
}

pub fn row(run: &str, verify: Vec<Verify>) -> Row {
    Row {
        subject: None,
        prepare: Vec::new(),
        prepare_each: Vec::new(),
        run: run.into(),
        bytes: None,
        when: None,
        verify,
        place: place(),
    }
}

/// One block over axis `n`, one `i32` input `input` of `n` elements that are all nonzero.
pub fn suite(n: i64) -> Suite {
    let input = Input {
        element: ElementType::I32,
        generator: template("all"),
        params: IndexMap::new(),
        seed: Seed::Fixed(1),
        len: expr("n"),
        place: place(),
    };
    let axis = Axis::Always(vec![AxisValue::Int(n)]);
    Suite {
        name: "s".into(),
        title: String::new(),
        subject: "the fixture".into(),
        path: "specs/s.yaml".into(),
        sha256: String::new(),
        kernels: vec!["first".into(), "second".into()],
        blocks: vec![Block {
            axes: IndexMap::from([("n".into(), axis)]),
            inputs: IndexMap::from([("input".into(), input)]),
            gates: Vec::new(),
            place: place(),
        }],
        lets: IndexMap::new(),
        require: Vec::new(),
        buffers: IndexMap::new(),
        pipelines: IndexMap::new(),
        gates: IndexMap::new(),
        must_run: Default::default(),
        tables: IndexMap::new(),
    }
}

impl Suite {
    pub fn with_let(mut self, name: &str, source: &str) -> Self {
        self.lets.insert(name.into(), expr(source));
        self
    }

    pub fn with_buffer(mut self, name: &str, element: ElementType, len: &str) -> Self {
        let buffer = Buffer {
            element,
            len: expr(len),
            place: place(),
        };
        self.buffers.insert(name.into(), buffer);
        self
    }

    pub fn with_pipeline(mut self, name: &str, steps: Vec<Step>) -> Self {
        self.pipelines.insert(name.into(), steps);
        self
    }

    pub fn with_gate(mut self, name: &str, gate: Gate) -> Self {
        self.gates.insert(name.into(), gate);
        self.blocks[0].gates.push(name.into());
        self
    }

    /// The gate's case on the block's first values.
    pub fn case(&self, gate: &str) -> Case {
        let first = |axis: &Axis| match axis {
            Axis::Always(values) => values[0].clone(),
            Axis::PerProfile(lists) => lists.values().next().unwrap()[0].clone(),
        };
        let axes = self.blocks[0].axes.iter();
        Case {
            id: format!("{}::{gate}::jit", self.name),
            suite: self.name.clone(),
            block: 0,
            gate: gate.into(),
            subject: self.subject.clone(),
            check: check_kind(&self.gates[gate].check).into(),
            image: ImageKind::Jit,
            params: axes
                .map(|(name, axis)| (name.clone(), first(axis)))
                .collect(),
        }
    }
}

/// Kernels by the letters of their parameters: `p` pointer, `i` 4-byte integer, `l` 8-byte, `b` 1-byte, `f` and `d`
/// floats, `s` a struct. `second` holds those whose name opens with `other`.
pub struct Kernels(pub Vec<(&'static str, &'static str)>);

impl Signatures for Kernels {
    fn kernel(&self, modules: &[String], name: &str) -> Result<(usize, Signature), Fault> {
        let found = self.0.iter().find(|(known, _)| *known == name);
        let (name, letters) = found.ok_or_else(|| Fault::setup(format!("no kernel `{name}`")))?;
        let module = if name.starts_with("other") {
            "second"
        } else {
            "first"
        };
        let index = modules.iter().position(|m| m == module).unwrap();
        Ok((index, signature(name, letters)))
    }

    fn native(&self, name: &str) -> Result<Function, Fault> {
        native(name)
    }
}

/// The functions of a native library that is not there.
pub fn native(name: &str) -> Result<Function, Fault> {
    let table =
        "lib_reverse: const i32* input, i32* output, u64 n\nlib_scale: f32* data, f32 by, i8 k";
    let table = Function::table(table).map_err(Fault::setup)?;
    Function::find(&table, name, "function")
        .cloned()
        .map_err(Fault::setup)
}

pub fn signature(name: &str, letters: &str) -> Signature {
    let param = |letter| match letter {
        'p' | 'l' => (8, ParamClass::Integer),
        'i' => (4, ParamClass::Integer),
        'b' => (1, ParamClass::Integer),
        'f' => (4, ParamClass::Float),
        'd' => (8, ParamClass::Float),
        _ => (16, ParamClass::Bytes),
    };
    let params = letters.chars().map(param);
    Signature {
        name: name.into(),
        params: params.map(|(size, class)| Param { size, class }).collect(),
        static_shared_bytes: 1024,
        dynamic_shared: true,
        max_threads: name.ends_with("_512").then_some(512),
    }
}
