//! Marks for the cache that the service refuses (BED-10).

use crate::formats::anthropic::rules::CACHE_MARKS;
use crate::formats::bedrock_converse::read::is_cache_point;
use crate::formats::rules::common::cache_marks;
use crate::repair::{Draft, Reading};

const DONE: &str = "a `cachePoint` was removed";

/// Takes marks off that directly follow reasoning. They stand beside what is signed and are no part of it, so
/// this is done in sealed messages too.
pub(super) fn remove_behind_reasoning(reading: &Reading, draft: &mut Draft<'_>) {
    for (index, message) in reading.each() {
        let pairs = message.parts.windows(2).enumerate();
        let misplaced: Vec<usize> = pairs
            .filter(|(_, pair)| pair[0].content.is_thinking() && is_cache_point(&pair[1].content))
            .map(|(before, _)| before + 1)
            .collect();
        if !misplaced.is_empty() {
            draft.cut_parts(index, &misplaced, DONE);
        }
    }
}

/// Takes the oldest marks off, of which there are too many.
pub(super) fn remove_old(reading: &Reading, draft: &mut Draft<'_>) {
    let marks = cache_marks(&reading.envelope, &reading.messages);
    let mut left = usize::try_from(marks.saturating_sub(CACHE_MARKS)).unwrap_or(usize::MAX);
    for (index, message) in reading.each() {
        if left == 0 {
            return;
        }
        if message.opaque || message.cache_marks == 0 {
            continue;
        }
        let mut points = message.parts_where(|part| is_cache_point(&part.content));
        points.truncate(left);
        if draft.cut_parts(index, &points, DONE) {
            left -= points.len();
        }
    }
}
