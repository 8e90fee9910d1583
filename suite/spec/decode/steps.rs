//! Steps of pipelines.

use crate::spec::fields::{Decoder, Fields};
use crate::spec::keys;
use crate::spec::model::{Action, Arg, Callee, Expr, Slice, Step};
use crate::spec::tree::Tree;

use super::slices::Use;

impl Decoder<'_> {
    pub(super) fn steps(&self, tree: &Tree, what: &str) -> Option<Vec<Step>> {
        let items = self.list(tree, what)?;
        if items.is_empty() {
            self.log.add(tree.place, format!("{what} needs a step"));
        }
        let steps = items.iter().filter_map(|item| {
            let step = self.step(item);
            if step.is_none() {
                self.incomplete.set(true);
            }
            step
        });
        Some(steps.collect())
    }

    fn step(&self, tree: &Tree) -> Option<Step> {
        let fields = self.mapping(tree, "a step")?;
        let kinds = keys::STEPS.iter().filter(|(kind, _)| fields.has(kind));
        let kinds: Vec<_> = kinds.collect();
        let [(kind, keys)] = kinds[..] else {
            self.step_kind(&fields, kinds.len());
            return None;
        };
        let what = format!("a {kind} step");
        self.known_keys(&fields, &what, keys);
        let when = self.optional_expr(&fields, "when", "a condition");
        let action = match *kind {
            "kernel" => self.kernel(&fields, &what),
            "native" => self.call(&fields, &what, Callee::Native),
            "host" => self.call(&fields, &what, Callee::Host),
            "memset" => self.memset(&fields, &what),
            "copy" => self.copy(&fields, &what),
            "pipeline" => self.pipeline(&fields),
            _ => self.repeat(&fields, &what),
        };
        Some(Step {
            action: action?,
            when,
            place: tree.place,
        })
    }

    fn step_kind(&self, fields: &Fields<'_>, kinds: usize) {
        let names: Vec<&str> = keys::STEPS.iter().map(|(kind, _)| *kind).collect();
        if kinds > 1 {
            let mend = "make a step of its own of each";
            self.log
                .mend(fields.place, "this step does two things", mend);
            return;
        }
        let meant = fields.entries.iter().find_map(|entry| {
            let near = crate::expr::near(&entry.key, names.iter().copied())?;
            Some((entry, near))
        });
        match meant {
            Some((entry, near)) => {
                let message = format!("unknown key `{}` in a step", entry.key);
                self.log
                    .mend(entry.place, message, format!("did you mean `{near}`?"));
            }
            None => self.log.mend(
                fields.place,
                "this step does nothing known",
                format!("a step has one of {}", names.join(", ")),
            ),
        }
    }

    fn kernel(&self, fields: &Fields<'_>, what: &str) -> Option<Action> {
        let kernel = self.template(fields.get("kernel")?, "a kernel's name");
        let grid = self.required(fields, what, "grid");
        let grid = grid.and_then(|tree| self.extent(tree, "the grid"));
        let block = self.required(fields, what, "block");
        let block = block.and_then(|tree| self.extent(tree, "the block"));
        let shared = self.optional_expr(fields, "shared", "a number of bytes");
        let args = self.args(fields, what);
        Some(Action::Kernel {
            kernel: kernel?,
            grid: grid?,
            block: block?,
            shared,
            args: args?,
        })
    }

    /// Every argument is looked at, also behind one that cannot be read.
    fn args(&self, fields: &Fields<'_>, what: &str) -> Option<Vec<Arg>> {
        let tree = self.required(fields, what, "args")?;
        let items = self.list(tree, "`args`")?;
        let args: Vec<Option<Arg>> = items.iter().map(|item| self.arg(item)).collect();
        args.into_iter().collect()
    }

    fn call(&self, fields: &Fields<'_>, what: &str, callee: Callee) -> Option<Action> {
        let name = self.template(fields.get(callee.key())?, "a function's name");
        let args = self.args(fields, what);
        Some(Action::Call {
            callee,
            name: name?,
            args: args?,
        })
    }

    /// One, two or three numbers.
    fn extent(&self, tree: &Tree, what: &str) -> Option<Vec<Expr>> {
        let items = self.one_or_list(tree);
        if items.is_empty() || items.len() > 3 {
            let mend = "write x, [x, y] or [x, y, z]";
            self.log
                .mend(tree.place, format!("{what} has one to three numbers"), mend);
            return None;
        }
        items.iter().map(|item| self.expr(item, what)).collect()
    }

    fn memset(&self, fields: &Fields<'_>, what: &str) -> Option<Action> {
        let to = self.slice(fields.get("memset")?, Use::Write);
        let value = self.required(fields, what, "value");
        let value = value.and_then(|tree| self.expr(tree, "the value of an element"));
        Some(Action::Memset {
            to: to?,
            value: value?,
        })
    }

    fn copy(&self, fields: &Fields<'_>, what: &str) -> Option<Action> {
        let from = self.slice(fields.get("copy")?, Use::Read);
        let to = self.required(fields, what, "to");
        let to = to.and_then(|tree| self.slice(tree, Use::Write));
        let (from, to) = (from?, to?);
        self.same_size(&from, &to);
        Some(Action::Copy { from, to })
    }

    fn same_size(&self, from: &Slice, to: &Slice) {
        let element = |slice: &Slice| self.survey.element(&slice.buffer);
        if let (Some(a), Some(b)) = (element(from), element(to))
            && a.size() != b.size()
        {
            let message = format!(
                "`{}` holds {} and `{}` holds {}",
                from.buffer,
                a.name(),
                to.buffer,
                b.name()
            );
            let mend = "a copy moves bytes: the elements must have one size";
            self.log.mend(to.place, message, mend);
        }
    }

    fn pipeline(&self, fields: &Fields<'_>) -> Option<Action> {
        let name = self.pipeline_name(fields.get("pipeline")?)?;
        Some(Action::Pipeline { name })
    }

    pub(super) fn pipeline_name(&self, tree: &Tree) -> Option<String> {
        let known = self.survey.pipelines.iter().map(String::as_str);
        self.declared(tree, "pipeline", known)
    }

    fn repeat(&self, fields: &Fields<'_>, what: &str) -> Option<Action> {
        let variable = self.variable(fields.get("for")?);
        let from = self.required(fields, what, "from");
        let from = from.and_then(|tree| self.expr(tree, "the first value"));
        let to = self.required(fields, what, "to");
        let to = to.and_then(|tree| self.expr(tree, "the end"));
        let swap = fields.get("swap").and_then(|tree| self.swap(tree));
        let steps = self.required(fields, what, "steps");
        let steps = steps.and_then(|tree| self.steps(tree, "a loop"));
        Some(Action::For {
            variable: variable?,
            from: from?,
            to: to?,
            swap,
            steps: steps?,
        })
    }

    fn variable(&self, tree: &Tree) -> Option<String> {
        let name = self.text(tree, "a loop's variable")?;
        self.name(&name, tree.place, "a loop's variable");
        let survey = self.survey;
        let other = if survey.axes.contains(&name) {
            "an axis"
        } else if survey.lets.contains(&name) {
            "a let"
        } else if survey.is_array(&name) {
            "a buffer or an input"
        } else {
            return Some(name);
        };
        let message = format!("the loop's variable `{name}` hides {other}");
        self.log.mend(tree.place, message, "choose another name");
        Some(name)
    }

    fn swap(&self, tree: &Tree) -> Option<(String, String)> {
        let items = self.list(tree, "`swap`")?;
        let [first, second] = items else {
            let mend = "write [ping, pong]";
            self.log.mend(tree.place, "`swap` names two buffers", mend);
            return None;
        };
        let buffers = || self.survey.buffers.keys().map(String::as_str);
        let a = self.declared(first, "buffer", buffers());
        let b = self.declared(second, "buffer", buffers());
        let (a, b) = (a?, b?);
        self.mark(&a);
        self.mark(&b);
        let element = |name: &str| self.survey.buffers.get(name).copied().flatten();
        if a == b {
            self.log
                .mend(second.place, "a buffer is swapped with itself", "name two");
        } else if element(&a) != element(&b) {
            let message = format!("`{a}` and `{b}` hold different types");
            self.log
                .mend(second.place, message, "swap buffers of one type and length");
        }
        Some((a, b))
    }
}
