//! What releases pass on, as a graph: a node is what one thread knew when it released, and joins tie nodes together.
//!
//! Knowledge of other blocks is asked for only where an access meets one of another block, so nodes are searched then.

use std::collections::HashMap;

use super::super::program::Scope;

/// Nodes of one launch; past them its detection ends.
const MAX_NODES: usize = 1 << 22;
/// Nodes searched one by one before all that a root leads to are gathered.
const SEARCHED: usize = 64;
/// Nodes gathered for one root; what is not among them counts as known.
const GATHERED: usize = 1 << 16;

/// Nodes that a launch's searches may visit in all, some tenths of a second; past them its detection ends. A
/// single-pass scan over 4096 tiles visits 190,000.
const MAX_VISITS: u64 = 1 << 24;

/// Number of a node; 0 is none.
pub type NodeId = u32;

/// Accesses of lanes of one warp, before a time of their block.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Extra {
    pub warp: usize,
    pub lanes: u32,
    pub before: u32,
}

/// What is known of one block's accesses: all before one time, and more of some lanes.
#[derive(Clone, Debug, Default)]
pub struct Known {
    pub all: u32,
    pub extras: Vec<Extra>,
}

/// One access to be found.
#[derive(Clone, Copy, Debug)]
pub struct Sought {
    pub block: u32,
    pub warp: usize,
    /// The lane that made it, or those that may have.
    pub lanes: u32,
    pub time: u32,
}

impl Known {
    pub fn has(&self, sought: Sought) -> bool {
        sought.time < self.all
            || self.extras.iter().any(|extra| {
                extra.warp == sought.warp
                    && extra.lanes & sought.lanes != 0
                    && sought.time < extra.before
            })
    }

    pub fn add(&mut self, extra: Extra) {
        let same = |old: &&mut Extra| old.warp == extra.warp && old.lanes == extra.lanes;
        match self.extras.iter_mut().find(same) {
            Some(old) => old.before = old.before.max(extra.before),
            None => self.extras.push(extra),
        }
    }

    pub fn join(&mut self, other: &Self) {
        self.all = self.all.max(other.all);
        other.extras.iter().for_each(|&extra| self.add(extra));
        let all = self.all;
        self.extras.retain(|extra| extra.before > all);
    }
}

#[derive(Debug)]
struct Node {
    block: u32,
    known: Known,
    /// Whose fence made it, for findings.
    fence: Option<(Extra, Scope)>,
    parents: [NodeId; 2],
}

/// The nodes of one launch.
#[derive(Debug, Default)]
pub struct Nodes {
    nodes: Vec<Node>,
    /// Whether there were too many.
    pub full: bool,
    seen: Vec<u32>,
    search: u32,
    visits: u64,
    stack: Vec<NodeId>,
    gathered: Gathered,
}

/// What one root leads to.
#[derive(Debug, Default)]
struct Gathered {
    root: NodeId,
    by_block: HashMap<u32, Vec<NodeId>>,
    /// The same, by node.
    among: Vec<bool>,
    count: usize,
    complete: bool,
}

/// What to do after a node.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Visit {
    GoOn,
    /// Without what it leads to.
    Pass,
    Stop,
}

/// The block of a node that joins others.
const NO_BLOCK: u32 = u32::MAX;

impl Nodes {
    pub fn clear(&mut self) {
        self.nodes.clear();
        self.seen.clear();
        self.gathered = Gathered::default();
        (self.search, self.visits, self.full) = (0, 0, false);
    }

    pub fn is_empty(&self) -> bool {
        self.nodes.is_empty()
    }

    /// What lanes knew of their block, and had acquired, at a fence; without what they did themselves.
    pub fn fence(
        &mut self,
        block: u32,
        known: Known,
        acquired: NodeId,
        fence: (Extra, Scope),
    ) -> NodeId {
        self.add(Node {
            block,
            known,
            fence: Some(fence),
            parents: [acquired, 0],
        })
    }

    /// What one lane has released by a fence: what it did, and what the fence's node says.
    pub fn release(&mut self, block: u32, own: Extra, fence: NodeId) -> NodeId {
        let mut known = Known::default();
        known.add(own);
        self.add(Node {
            block,
            known,
            fence: None,
            parents: [fence, 0],
        })
    }

    /// The widest scope of a fence that a thread made after an access of its own.
    pub fn fenced(&self, sought: Sought) -> Scope {
        let after = |(extra, scope): (Extra, Scope)| {
            let own = extra.warp == sought.warp && extra.lanes & sought.lanes != 0;
            (own && sought.time < extra.before).then_some(scope)
        };
        let of_block = self.nodes.iter().filter(|node| node.block == sought.block);
        let scopes = of_block.filter_map(|node| node.fence.and_then(after));
        scopes.max().unwrap_or(Scope::Weak)
    }

    /// Both of two.
    pub fn join(&mut self, a: NodeId, b: NodeId) -> NodeId {
        if a == b || b == 0 {
            return a;
        }
        if a == 0 || self.leads_to(b, a) {
            return b;
        }
        if self.leads_to(a, b) {
            return a;
        }
        self.add(Node {
            block: NO_BLOCK,
            known: Known::default(),
            fence: None,
            parents: [a, b],
        })
    }

    fn leads_to(&self, from: NodeId, to: NodeId) -> bool {
        self.nodes[from as usize - 1].parents.contains(&to)
    }

    fn add(&mut self, node: Node) -> NodeId {
        if self.nodes.len() >= MAX_NODES {
            self.full = true;
            return 0;
        }
        self.nodes.push(node);
        self.seen.push(0);
        self.nodes.len() as NodeId
    }

    fn holds(&self, id: NodeId, sought: Sought) -> bool {
        let node = &self.nodes[id as usize - 1];
        node.block == sought.block && node.known.has(sought)
    }

    /// Whether an access is known through a node or what it leads to.
    pub fn know(&mut self, root: NodeId, sought: Sought) -> bool {
        if root == 0 {
            return false;
        }
        if self.gathered.root != root {
            match self.search(root, sought) {
                Some(found) => return found,
                None => self.gather(root),
            }
        }
        if !self.gathered.complete {
            return true;
        }
        let there = self.gathered.by_block.get(&sought.block);
        let there = there.map_or(&[][..], Vec::as_slice);
        self.visits += there.len() as u64;
        // The newest knows the most.
        there.iter().rev().any(|&id| self.holds(id, sought))
    }

    /// Looks at the nearest few nodes, newest first; none if there are more.
    fn search(&mut self, root: NodeId, sought: Sought) -> Option<bool> {
        let mut found = false;
        let mut left = SEARCHED;
        self.walk(root, |this, id| {
            left -= 1;
            found = this.holds(id, sought);
            if !found && left > 0 {
                Visit::GoOn
            } else {
                Visit::Stop
            }
        });
        (found || left > 0).then_some(found)
    }

    /// Gathers what a root leads to. Who acquires more leads to what it led to before: then only what is new is
    /// visited.
    fn gather(&mut self, root: NodeId) {
        let mut gathered = std::mem::take(&mut self.gathered);
        if gathered.root == 0 || !self.gather_into(&mut gathered, root) {
            gathered = Gathered::default();
            self.gather_into(&mut gathered, root);
        }
        gathered.root = root;
        self.gathered = gathered;
    }

    /// Adds what a root leads to; false if the root gathered before is not among it.
    fn gather_into(&mut self, gathered: &mut Gathered, root: NodeId) -> bool {
        gathered.among.resize(self.nodes.len(), false);
        let before = gathered.root;
        let mut reached = before == 0;
        let mut new = Vec::new();
        let room = GATHERED - gathered.count;
        self.walk(root, |_, id| {
            if gathered.among[id as usize - 1] {
                reached |= id == before;
                return Visit::Pass;
            }
            new.push(id);
            if new.len() < room {
                Visit::GoOn
            } else {
                Visit::Stop
            }
        });
        if !reached {
            return false;
        }
        gathered.complete = new.len() < room;
        gathered.count += new.len();
        for id in new {
            gathered.among[id as usize - 1] = true;
            let block = self.nodes[id as usize - 1].block;
            if block != NO_BLOCK {
                gathered.by_block.entry(block).or_default().push(id);
            }
        }
        true
    }

    /// Visits each node that a root leads to once, until told to stop.
    fn walk(&mut self, root: NodeId, mut visit: impl FnMut(&Self, NodeId) -> Visit) {
        self.search += 1;
        let mut stack = std::mem::take(&mut self.stack);
        stack.clear();
        stack.push(root);
        while let Some(id) = stack.pop() {
            let seen = &mut self.seen[id as usize - 1];
            if std::mem::replace(seen, self.search) == self.search {
                continue;
            }
            self.visits += 1;
            match visit(self, id) {
                Visit::GoOn => {}
                Visit::Pass => continue,
                Visit::Stop => break,
            }
            let parents = self.nodes[id as usize - 1].parents;
            stack.extend(parents.into_iter().filter(|&parent| parent != 0));
        }
        self.stack = stack;
        self.full |= self.visits >= MAX_VISITS;
    }
}
