//! Which entries the model sees.

use std::collections::HashMap;

use super::entries::{Entry, Kind, Session};
use crate::model::log::LogFacts;

/// The entries on the way from the root to the newest one, cut by the latest compaction: its
/// summary comes first, then what it kept, then what follows it (LPI-1, LPI-2).
pub(super) fn chosen<'s, 'a>(session: &'s Session<'a>, facts: &mut LogFacts) -> Vec<&'s Entry<'a>> {
    let entries = &session.entries;
    let path = if session.is_tree {
        let path = branch(entries);
        let others = messages(entries.iter()).saturating_sub(messages(of(entries, &path)));
        facts.other_branches = others;
        path
    } else {
        (0..entries.len()).collect()
    };
    let compaction = path.iter().rposition(|index| {
        matches!(
            entries.get(*index).map(|entry| &entry.kind),
            Some(Kind::Compaction { .. })
        )
    });
    let Some(at) = compaction else {
        return of(entries, &path).collect();
    };
    let (before, rest) = path.split_at(at);
    let first_kept = rest
        .first()
        .and_then(|index| first_kept(entries, *index, before))
        .unwrap_or(before.len());
    let (gone, kept) = before.split_at(first_kept);
    facts.earlier_messages = messages(of(entries, gone));
    // Earlier compactions among what was kept count no more.
    let kept = of(entries, kept).filter(|entry| !matches!(entry.kind, Kind::Compaction { .. }));
    let (compaction, after) = rest.split_at(1);
    of(entries, compaction)
        .chain(kept)
        .chain(of(entries, after))
        .collect()
}

/// The place in `before`, a path, of the first entry that a compaction kept.
fn first_kept(entries: &[Entry<'_>], compaction: usize, before: &[usize]) -> Option<usize> {
    let Kind::Compaction {
        first_kept_index,
        first_kept_id,
        ..
    } = &entries.get(compaction)?.kind
    else {
        return None;
    };
    match (first_kept_id, first_kept_index) {
        (Some(id), _) => before.iter().position(|index| {
            entries
                .get(*index)
                .is_some_and(|e| e.id.as_ref() == Some(id))
        }),
        (None, Some(first)) => Some(before.partition_point(|index| {
            entries
                .get(*index)
                .is_some_and(|entry| entry.number < *first)
        })),
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

fn of<'s, 'a>(entries: &'s [Entry<'a>], path: &[usize]) -> impl Iterator<Item = &'s Entry<'a>> {
    path.iter().filter_map(|index| entries.get(*index))
}

fn messages<'s, 'a: 's>(entries: impl Iterator<Item = &'s Entry<'a>>) -> usize {
    entries
        .filter(|entry| matches!(entry.kind, Kind::Message(_)))
        .count()
}
