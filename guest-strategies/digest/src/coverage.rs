//! Chooses entries by what they add for their tokens, as summaries by budgeted submodular functions do (Lin and
//! Bilmes, 2010): again and again the entry that adds most per token, until none fits. An entry adds its own
//! worth, unless the same text is there already, and the worth of the names in it that nothing chosen before
//! has said. What an entry adds only falls as others are chosen, so a heap of last known values finds the best
//! one without looking at all (Minoux, 1978).

mod listing;
mod queue;
mod said;
mod worths;

pub(super) use listing::write_names;

use super::candidates::Candidates;
use super::names::{LostName, WeightedNames};
use super::section::Section;
use super::shares;
use super::writer::Writer;
use listing::Listing;
use queue::{Entry, Queue};
use said::{Said, plain};
use worths::Worths;

/// Entries in a row that may fail to fit before no more are tried.
const MISSES: usize = 40;

/// Fills the writer with the entries that add most for their tokens. Returns those of the names `lost` that are
/// worth to be written beside them, for which tokens are left.
pub(super) fn fill<'a>(
    writer: &mut Writer<'_, '_>,
    candidates: Candidates<'a>,
    names: WeightedNames<'a>,
    lost: &[LostName<'a>],
) -> Vec<LostName<'a>> {
    let mut worths = Worths::of(names, lost);
    let mut said = Said::default();
    for (section, text) in writer.texts() {
        said.say(section, &plain(text), &[]);
        if section == Section::Requests || section == Section::Said {
            said.say_sentences(text);
        }
    }
    // In fewer tokens a name says nothing.
    let listable = match writer.tokens >= shares::LEAST_FOR_NAMES {
        true => lost,
        false => &[],
    };
    let mut listing = Listing::of(names, &candidates.actions, listable, writer.tokens);
    let mut queue = Queue::default();
    for candidate in candidates.all {
        if !(writer.is_whole && candidate.section.is_replaced_by_story()) {
            let is_begun = writer.has(candidate.section, candidate.place);
            queue.push(Entry::of(candidate, &worths, &mut said, is_begun));
        }
    }
    let mut misses = 0;
    loop {
        let name = listing.per_token(&worths);
        let best = queue.best(&worths, &said);
        let room = f64::from(writer.tokens) - listing.tokens;
        let best = match (best, name) {
            (None, None) => break,
            (Some(best), name) if name.is_none_or(|name| name <= best.per_token) => best,
            (best, _) => {
                if let Some(best) = best {
                    queue.put_back(best);
                }
                listing.take(room);
                continue;
            }
        };
        let entry = queue.entry(&best);
        if !write(writer, entry, room.max(0.0) as u32) {
            misses += 1;
            if misses > MISSES {
                queue.give_up();
            }
            continue;
        }
        misses = 0;
        let candidate = &entry.candidate;
        said.say(candidate.section, &entry.plain, &entry.words);
        if matches!(candidate.section, Section::Requests | Section::Said) {
            said.say_sentences(&candidate.text);
        }
        worths.say(&entry.names);
        if let Some(longer) = entry.longer(&worths) {
            queue.push(longer);
        }
    }
    listing.left(&worths)
}

/// Writes an entry if it fits within `limit` tokens. Returns whether it does.
fn write(writer: &mut Writer<'_, '_>, entry: &Entry<'_>, mut limit: u32) -> bool {
    let candidate = &entry.candidate;
    let (section, place, text) = (candidate.section, candidate.place, &candidate.text);
    match entry.completes {
        true => writer.complete(section, place, text, limit),
        false => writer.add(section, place, text, &mut limit),
    }
}
