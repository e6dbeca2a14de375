//! Which entries the model sees.

use std::collections::HashMap;

use super::entries::{Entry, Kind, Session};
use crate::model::log::LogFacts;

/// The entries on the way from the root to the newest one (LPI-1).
pub(super) fn path<'s, 'a>(session: &'s Session<'a>, facts: &mut LogFacts) -> Vec<&'s Entry<'a>> {
    let entries = &session.entries;
    if !session.is_tree {
        return entries.iter().collect();
    }
    let path: Vec<&Entry<'a>> = branch(entries)
        .into_iter()
        .filter_map(|index| entries.get(index))
        .collect();
    facts.other_branches = messages(entries.iter()).saturating_sub(messages(path.iter().copied()));
    path
}

/// What the model sees of a path, as the latest compaction cut it: its summary comes first, then what it
/// kept, then what follows it (LPI-2).
pub(super) fn chosen<'s, 'a>(path: &[&'s Entry<'a>], facts: &mut LogFacts) -> Vec<&'s Entry<'a>> {
    let is_compaction = |entry: &Entry<'_>| matches!(entry.kind, Kind::Compaction { .. });
    let Some(at) = path.iter().rposition(|entry| is_compaction(entry)) else {
        return path.to_vec();
    };
    let (before, rest) = path.split_at(at);
    let first_kept = rest
        .first()
        .and_then(|compaction| first_kept(compaction, before))
        .unwrap_or(before.len());
    let (gone, kept) = before.split_at(first_kept);
    facts.earlier_messages = messages(gone.iter().copied());
    // Earlier compactions among what was kept count no more.
    let kept = kept.iter().filter(|entry| !is_compaction(entry));
    let (compaction, after) = rest.split_at(1);
    compaction
        .iter()
        .chain(kept)
        .chain(after)
        .copied()
        .collect()
}

/// The place in `before`, a path, of the first entry that a compaction kept.
fn first_kept(compaction: &Entry<'_>, before: &[&Entry<'_>]) -> Option<usize> {
    let Kind::Compaction {
        first_kept_index,
        first_kept_id,
        ..
    } = &compaction.kind
    else {
        return None;
    };
    match (first_kept_id, first_kept_index) {
        (Some(id), _) => before
            .iter()
            .position(|entry| entry.id.as_ref() == Some(id)),
        (None, Some(first)) => Some(before.partition_point(|entry| entry.number < *first)),
        (None, None) => None,
    }
}

/// The way from the root to the last entry. A parent that is not there was a line that cannot be read, and
/// the way goes on before it (LPI-9); without such a line it ends there. So does one whose parent comes
/// no earlier, which no session has but a hostile one.
fn branch(entries: &[Entry<'_>]) -> Vec<usize> {
    let mut places: HashMap<&str, usize> = HashMap::new();
    let mut parents = Vec::with_capacity(entries.len());
    let mut leaf = None;
    for (index, entry) in entries.iter().enumerate() {
        parents.push(
            entry
                .parent
                .as_ref()
                .and_then(|id| places.get(&**id).copied().or(entry.before_gap)),
        );
        // The first line has the id of the session.
        if let Some(id) = &entry.id
            && entry.number > 0
        {
            places.insert(id, index);
            leaf = Some(index);
        }
    }
    let mut path = Vec::new();
    while let Some(index) = leaf {
        path.push(index);
        leaf = parents.get(index).copied().flatten();
    }
    path.reverse();
    path
}

fn messages<'s, 'a: 's>(entries: impl Iterator<Item = &'s Entry<'a>>) -> usize {
    entries
        .filter(|entry| matches!(entry.kind, Kind::Message(_)))
        .count()
}
