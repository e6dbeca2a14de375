//! Makes a text so small that a plan may write it: with the host's mark, it has to cost fewer tokens than the old one.

use std::ops::Range;

use baler_strategy::{Conversation, Run, Situation, excerpt};

use crate::hidden::REDACTED;

/// Bytes of a token, about, and tokens of the line about what is left out.
const BYTES_OF_TOKEN: usize = 4;
const LINE: u32 = 12;

/// Returns the text, with its middle left out as far as it takes to cost fewer than `tokens`; `None` if there is no
/// such text.
pub(crate) fn smaller_than(
    tokens: u32,
    text: String,
    conversation: &Conversation<'_>,
    situation: &Situation,
) -> Option<String> {
    // The mark in a text costs at most what that of an inserted message costs.
    let most = tokens.checked_sub(situation.insertion_overhead)?;
    let own = conversation.count(&text);
    if own < most {
        return Some(text);
    }
    let fits = |text: &str| conversation.count(text) < most;
    let mut missing = BYTES_OF_TOKEN * (own - most + LINE) as usize;
    while missing + 2 * excerpt::SHORTEST_RUN < text.len() {
        let half = (text.len() - missing) / 2;
        let cut = kept(&text, &excerpt::ends(&text, half, half));
        if fits(&cut) {
            return Some(cut);
        }
        missing += missing / 2;
    }
    fits(REDACTED).then(|| REDACTED.to_owned())
}

/// Returns these runs of a text, with a line for each gap.
pub(crate) fn excerpt_of(text: &str, runs: &[Run]) -> String {
    let runs: Vec<_> = runs
        .iter()
        .map(|run| run.start as usize..run.end as usize)
        .collect();
    kept(text, &runs)
}

fn kept(text: &str, runs: &[Range<usize>]) -> String {
    let mut written = String::with_capacity(text.len());
    let mut next = 0;
    for run in runs
        .iter()
        .cloned()
        .chain(std::iter::once(text.len()..text.len()))
    {
        if run.start > next {
            if !written.is_empty() && !written.ends_with('\n') {
                written.push('\n');
            }
            written.push_str(&format!("[… {} bytes left out …]\n", run.start - next));
        }
        next = run.end;
        written.push_str(text.get(run).unwrap_or_default());
    }
    written
}
