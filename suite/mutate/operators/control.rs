//! Barriers, fences and guards.

use super::Site;

/// `bar.sync`, `bar.warp.sync`, `barrier.sync`; one with a result is none of them.
pub fn drop_barrier(site: &Site<'_>) -> Vec<String> {
    let is_barrier = matches!(site.opcode(), "bar" | "barrier") && !site.has("red");
    is_barrier.then(String::new).into_iter().collect()
}

pub fn drop_fence(site: &Site<'_>) -> Vec<String> {
    let is_fence = matches!(site.opcode(), "membar" | "fence");
    is_fence.then(String::new).into_iter().collect()
}

/// Always, and the opposite.
pub fn guard(site: &Site<'_>) -> Vec<String> {
    if site.instruction.guard.is_none() {
        return Vec::new();
    }
    let negated = site.changed(|i| {
        if let Some(guard) = &mut i.guard {
            guard.negated = !guard.negated;
        }
    });
    vec![site.changed(|i| i.guard = None), negated]
}

#[cfg(test)]
mod tests {
    use super::super::Operator;
    use super::super::tests::apply;

    #[test]
    fn barriers_and_fences_go() {
        for barrier in ["bar.sync 0;", "bar.warp.sync -1;", "barrier.sync 0, 64;"] {
            assert_eq!(apply(Operator::DropBarrier, barrier), [""]);
        }
        let red = "bar.red.popc.u32 %r1, 0, %p1;";
        assert_eq!(apply(Operator::DropBarrier, red), [""; 0]);
        assert_eq!(apply(Operator::DropFence, "membar.gl;"), [""]);
        assert_eq!(apply(Operator::DropFence, "fence.acq_rel.gpu;"), [""]);
        assert_eq!(apply(Operator::DropFence, "bar.sync 0;"), [""; 0]);
    }

    #[test]
    fn a_guard_goes_or_turns() {
        assert_eq!(
            apply(Operator::Guard, "@%p1 bra L;"),
            ["bra L;", "@!%p1 bra L;"]
        );
        assert_eq!(apply(Operator::Guard, "@!%p1 ret;"), ["ret;", "@%p1 ret;"]);
        assert_eq!(apply(Operator::Guard, "bra L;"), [""; 0]);
    }
}
