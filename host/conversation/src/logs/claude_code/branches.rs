//! Branches that were left: the user went back to an earlier message and went on from there.
//!
//! File order is the rule (LCC-6): the chain of parents forks at parallel calls too, where
//! nothing was left. So a branch counts as left only where all signs say so.

use std::collections::{HashMap, HashSet};

/// A line, as far as branches go.
#[derive(Debug, Clone, Copy)]
pub(super) struct Node {
    /// The index of its parent, which is always smaller.
    pub(super) parent: Option<usize>,
    pub(super) kind: Kind,
    /// The number of the session in which it is a prompt that hangs on nothing: the first one, or what the
    /// user wrote in its place after going back to it (LCC-19).
    pub(super) root: Option<usize>,
}

/// Where the conversation goes on, as the program says.
#[derive(Debug, Clone, Copy)]
pub(super) struct Leaf {
    pub(super) node: usize,
    /// How many nodes there were when it said so.
    pub(super) nodes: usize,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Kind {
    /// No message.
    Passing,
    /// A part of the response with this number.
    Reply(usize),
    /// Results of calls of that response.
    Results(usize),
    /// Text of the user.
    Typed,
    /// A message by the program itself.
    Other,
}

/// Lines that may be looked at for each line, so that a hostile log costs no more than that.
const EFFORT: usize = 64;

/// Which nodes are on a branch that was left.
pub(super) fn left(nodes: &[Node], leaf: Option<Leaf>) -> Vec<bool> {
    let family = Family::of(nodes);
    let mut left = vec![false; nodes.len()];
    // The newest root of each session.
    let mut roots: HashMap<usize, usize> = HashMap::new();
    // Messages of the main flow so far.
    let mut flow: Vec<usize> = Vec::new();
    let mut effort = nodes.len().saturating_mul(EFFORT);
    for (index, node) in nodes.iter().enumerate() {
        if let (Kind::Typed, Some(parent)) = (node.kind, node.parent) {
            let start = flow.partition_point(|message| *message <= parent);
            let cost = index - parent;
            if start < flow.len() && !left[parent] && cost <= effort {
                effort -= cost;
                if let Some(branch) = family.branch(parent, index, &flow[start..]) {
                    leave(&branch, start, &mut flow, &mut left);
                }
            }
        }
        let before = node.root.and_then(|session| roots.insert(session, index));
        if let Some(root) = before.filter(|root| !left[*root] && index - root <= effort) {
            effort -= index - root;
            let start = flow.partition_point(|message| *message < root);
            let is_live = |below: &HashSet<usize>| {
                leaf.is_some_and(|leaf| leaf.nodes > index && below.contains(&leaf.node))
            };
            if let Some(branch) = family.tree(root, index, &flow[start..], is_live) {
                leave(&branch, start, &mut flow, &mut left);
            }
        }
        if node.kind != Kind::Passing {
            flow.push(index);
        }
    }
    left
}

/// Takes a branch out of the flow, of which it holds nothing before `start`.
fn leave(branch: &HashSet<usize>, start: usize, flow: &mut Vec<usize>, left: &mut [bool]) {
    let after = flow.split_off(start);
    flow.extend(
        after
            .into_iter()
            .filter(|message| !branch.contains(message)),
    );
    for message in branch {
        left[*message] = true;
    }
}

struct Family<'n> {
    nodes: &'n [Node],
    /// The first node of each response.
    first_part: Vec<usize>,
    last_child: Vec<usize>,
}

impl<'n> Family<'n> {
    fn of(nodes: &'n [Node]) -> Self {
        let mut first_part = Vec::new();
        let mut last_child = vec![0; nodes.len()];
        for (index, node) in nodes.iter().enumerate() {
            // Numbers are given in the order of the first parts.
            if node.kind == Kind::Reply(first_part.len()) {
                first_part.push(index);
            }
            if let Some(parent) = node.parent {
                last_child[parent] = index;
            }
        }
        Self {
            nodes,
            first_part,
            last_child,
        }
    }

    /// The nodes between `parent` and its new child that were left with this child: all
    /// messages there, but for those of the response that `parent` belongs to. `None` if it
    /// is not certain that they were left.
    fn branch(&self, parent: usize, child: usize, between: &[usize]) -> Option<HashSet<usize>> {
        let mut below: HashSet<usize> = HashSet::from([parent]);
        for index in parent + 1..child {
            let node = self.nodes[index];
            let descends = node.parent.is_some_and(|parent| below.contains(&parent));
            if descends || self.is_batch(node.kind, parent) {
                below.insert(index);
            }
        }
        let branch: HashSet<usize> = between
            .iter()
            .copied()
            .filter(|index| !self.is_batch(self.nodes[*index].kind, parent))
            .collect();
        let has_reply = branch
            .iter()
            .any(|index| matches!(self.nodes[*index].kind, Kind::Reply(_)));
        let is_left = |index: &usize| below.contains(index) && self.last_child[*index] < child;
        (has_reply && branch.iter().all(is_left)).then_some(branch)
    }

    /// The nodes that hang on a root and were left with the next root of its session: all messages of its tree.
    /// `None` if it is not certain that they were left: the model never answered, something goes on
    /// with them, or somebody else's messages stand between.
    fn tree(
        &self,
        root: usize,
        next: usize,
        between: &[usize],
        is_live: impl Fn(&HashSet<usize>) -> bool,
    ) -> Option<HashSet<usize>> {
        let mut below: HashSet<usize> = HashSet::from([root]);
        for index in root + 1..next {
            let parent = self.nodes[index].parent;
            if parent.is_some_and(|parent| below.contains(&parent)) {
                below.insert(index);
            }
        }
        let goes_on = below.iter().any(|index| self.last_child[*index] > next);
        let kind = |index: &usize| self.nodes[*index].kind;
        let has_others = between
            .iter()
            .any(|index| !below.contains(index) && kind(index) != Kind::Other);
        if goes_on || has_others || is_live(&below) {
            return None;
        }
        let mut branch = below;
        branch.retain(|index| between.binary_search(index).is_ok());
        let has_reply = branch
            .iter()
            .any(|index| matches!(kind(index), Kind::Reply(_)));
        has_reply.then_some(branch)
    }

    /// Whether a node is a part of a response that began before `parent`, or its results.
    fn is_batch(&self, kind: Kind, parent: usize) -> bool {
        match kind {
            Kind::Reply(number) | Kind::Results(number) => self
                .first_part
                .get(number)
                .is_some_and(|first| *first <= parent),
            _ => false,
        }
    }
}
