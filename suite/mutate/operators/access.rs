//! Loads, stores and fences: scope, ordering, and stores that are gone.

use super::Site;
use crate::image::ptx::Operand;

fn is_access(site: &Site<'_>) -> bool {
    matches!(site.opcode(), "ld" | "st" | "atom" | "red")
}

/// One step down. An atomic operation without a scope has that of the GPU; in shared memory a block is all there is.
pub fn weaken_scope(site: &Site<'_>) -> Vec<String> {
    let is_fence = matches!(site.opcode(), "membar" | "fence");
    if !is_fence && (!is_access(site) || site.has("shared")) {
        return Vec::new();
    }
    let weaker = |scope: &str| {
        Some(match scope {
            "sys" if site.opcode() == "membar" => "gl",
            "sys" => "gpu",
            "gl" | "gpu" | "cluster" => "cta",
            _ => return None,
        })
    };
    let modifiers = site.instruction.modifiers.iter().enumerate();
    let mut steps = modifiers.filter_map(|(at, scope)| Some((at, weaker(scope)?)));
    if let Some((at, scope)) = steps.next() {
        return vec![site.with_modifier(at, scope)];
    }
    let is_atomic = matches!(site.opcode(), "atom" | "red") && !site.has("cta");
    if !is_atomic {
        return Vec::new();
    }
    let ordered = |modifier: &&String| {
        matches!(
            modifier.as_str(),
            "relaxed" | "acquire" | "release" | "acq_rel"
        )
    };
    let at = usize::from(
        site.instruction
            .modifiers
            .first()
            .is_some_and(|m| ordered(&m)),
    );
    vec![site.changed(|i| i.modifiers.insert(at, "cta".to_owned()))]
}

/// One step down: a fence that is sequentially consistent, an access that synchronises, one that is strong at all.
pub fn weaken_order(site: &Site<'_>) -> Vec<String> {
    let is_fence = site.opcode() == "fence";
    let is_atomic = matches!(site.opcode(), "atom" | "red");
    if !is_fence && !is_access(site) {
        return Vec::new();
    }
    let found = site.instruction.modifiers.iter().enumerate();
    for (at, order) in found {
        match order.as_str() {
            "sc" if is_fence => return vec![site.with_modifier(at, "acq_rel")],
            "acquire" | "release" if !is_fence => return vec![site.with_modifier(at, "relaxed")],
            "acq_rel" if is_atomic => return vec![site.with_modifier(at, "relaxed")],
            "relaxed" | "volatile" if !is_fence && !is_atomic => {
                let strong = ["relaxed", "volatile", "cta", "cluster", "gpu", "sys"];
                return vec![
                    site.changed(|i| i.modifiers.retain(|m| !strong.contains(&m.as_str()))),
                ];
            }
            _ => {}
        }
    }
    Vec::new()
}

/// A store to a parameter of a call is no store to memory.
pub fn drop_store(site: &Site<'_>) -> Vec<String> {
    let is_gone = match site.opcode() {
        "st" => !site.has("param"),
        "red" => true,
        "atom" => match site.operand(0) {
            Some(Operand::Name(name)) => !site.facts.is_read(name),
            Some(Operand::Sink) => true,
            _ => false,
        },
        _ => false,
    };
    is_gone.then(String::new).into_iter().collect()
}

#[cfg(test)]
mod tests {
    use super::super::Operator;
    use super::super::tests::apply;

    fn one(operator: Operator, code: &str) -> String {
        let made = apply(operator, code);
        assert!(made.len() <= 1, "{made:?}");
        made.into_iter().next().unwrap_or_default()
    }

    #[test]
    fn scopes_go_down_one_step() {
        let scope = |code| one(Operator::WeakenScope, code);
        assert_eq!(scope("membar.sys;"), "membar.gl;");
        assert_eq!(scope("membar.gl;"), "membar.cta;");
        assert_eq!(scope("membar.cta;"), "");
        assert_eq!(scope("fence.acq_rel.sys;"), "fence.acq_rel.gpu;");
        assert_eq!(
            scope("ld.acquire.gpu.global.u32 %r1, [%rd1];"),
            "ld.acquire.cta.global.u32 %r1, [%rd1];"
        );
        assert_eq!(
            scope("atom.global.add.u32 %r1, [%rd1], 1;"),
            "atom.cta.global.add.u32 %r1, [%rd1], 1;"
        );
        assert_eq!(
            scope("atom.acq_rel.global.add.u32 %r1, [%rd1], 1;"),
            "atom.acq_rel.cta.global.add.u32 %r1, [%rd1], 1;"
        );
        assert_eq!(scope("atom.shared.add.u32 %r1, [%rd1], 1;"), "");
        assert_eq!(scope("ld.global.u32 %r1, [%rd1];"), "");
    }

    #[test]
    fn orderings_go_down_one_step() {
        let order = |code| one(Operator::WeakenOrder, code);
        assert_eq!(order("fence.sc.gpu;"), "fence.acq_rel.gpu;");
        assert_eq!(order("fence.acq_rel.gpu;"), "");
        assert_eq!(
            order("st.release.gpu.global.u32 [%rd1], %r1;"),
            "st.relaxed.gpu.global.u32 [%rd1], %r1;"
        );
        assert_eq!(
            order("ld.relaxed.gpu.global.u64 %rd2, [%rd1];"),
            "ld.global.u64 %rd2, [%rd1];"
        );
        assert_eq!(
            order("ld.volatile.shared.u32 %r1, [%rd1];"),
            "ld.shared.u32 %r1, [%rd1];"
        );
        assert_eq!(
            order("atom.acq_rel.gpu.global.add.u32 %r1, [%rd1], 1;"),
            "atom.relaxed.gpu.global.add.u32 %r1, [%rd1], 1;"
        );
        assert_eq!(order("atom.relaxed.gpu.global.add.u32 %r1, [%rd1], 1;"), "");
    }

    #[test]
    fn a_store_goes_and_an_atomic_whose_result_is_read_stays() {
        let dropped = |code| apply(Operator::DropStore, code).len();
        assert_eq!(dropped("st.global.u32 [%rd1], %r1;"), 1);
        assert_eq!(dropped("st.param.u32 [%rd1], %r1;"), 0);
        assert_eq!(dropped("red.global.add.u32 [%rd1], 1;"), 1);
        assert_eq!(dropped("atom.global.add.u32 %r8, [%rd1], 1;"), 1);
        let read = "st.global.u32 [%rd1], %r8; atom.global.add.u32 %r8, [%rd1], 1;";
        assert_eq!(dropped(read), 0);
    }
}
