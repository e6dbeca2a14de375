//! Branches that were left: the user went back to an earlier message and went on from there.
//!
//! File order is the rule (LCC-6): the chain of parents forks at parallel calls too, where
//! nothing was left. So a branch counts as left only where all signs say so.

use std::collections::HashSet;

/// A line, as far as branches go.
#[derive(Debug, Clone, Copy)]
pub(super) struct Node {
    /// The index of its parent, which is always smaller.
    pub(super) parent: Option<usize>,
    pub(super) kind: Kind,
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
pub(super) fn left(nodes: &[Node]) -> Vec<bool> {
    let family = Family::of(nodes);
    let mut left = vec![false; nodes.len()];
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
                    let after = flow.split_off(start);
                    flow.extend(
                        after
                            .into_iter()
                            .filter(|message| !branch.contains(message)),
                    );
                    for message in branch {
                        left[message] = true;
                    }
                }
            }
        }
        if node.kind != Kind::Passing {
            flow.push(index);
        }
    }
    left
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
    /// messages there, but for those of the response that `parent` belongs to. None where it
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
