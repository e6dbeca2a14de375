//! Cuts outputs where the host allows excerpts and forbids other words.

use std::ops::Range;

use baler_strategy::{Content, excerpt};

use super::{Cutter, Reduced, Size, Smaller, bytes_of};

/// The fewest bytes that are kept at each end of a text, so that a run is never too short.
const LEAST_END: usize = 4 * excerpt::SHORTEST_RUN;

impl Cutter<'_> {
    /// Returns runs of an output of about this size: its beginning, its end, and the last error of the
    /// conversation if it is in it. `None` if they would not be smaller than the output.
    pub(super) fn excerpt(&self, index: usize, size: Size) -> Option<Reduced> {
        let output = &self.material.outputs[index];
        let text = self.whole_text(index)?;
        let error = self.material.notes.last_error_in(&output.text);
        let error = error.and_then(|error| line_with(&text, error));
        // What the host writes: its mark and its lines.
        let mark = self.situation.insertion_overhead;
        let own = mark.saturating_add(excerpt::tokens(self.conversation, &text, &[]));
        let room = bytes_of(output, size.tokens.saturating_sub(own)).min(size.bytes);
        let room = room.saturating_sub(error.as_ref().map_or(0, Range::len));
        let end = (room / 2).max(LEAST_END);
        let runs = excerpt::joined(excerpt::ends(&text, end, end), error);
        let tokens = mark.saturating_add(excerpt::tokens(self.conversation, &text, &runs));
        (tokens < output.tokens).then_some(Reduced {
            smaller: Smaller::Excerpt(runs),
            tokens,
            code: "cut",
            has_all: false,
        })
    }

    /// Reads the text of an output again. The material has only the ends of a long one.
    fn whole_text(&self, index: usize) -> Option<String> {
        let output = &self.material.outputs[index];
        let (_, mut messages) = self
            .conversation
            .read(output.unit..output.unit + 1)
            .next()?;
        let part = messages
            .get_mut(output.message)?
            .parts
            .get_mut(output.part)?;
        match &mut part.content {
            Content::Output(output) => Some(std::mem::take(&mut output.text)),
            _ => None,
        }
    }
}

/// Returns the last line that holds `words`, if it is long enough for a run.
fn line_with(text: &str, words: &str) -> Option<Range<usize>> {
    let found = text.rfind(words)?;
    let start = text[..found].rfind('\n').map_or(0, |end| end + 1);
    let end = found + words.len();
    let end = text[end..]
        .find('\n')
        .map_or(text.len(), |line| end + line + 1);
    (end - start >= excerpt::SHORTEST_RUN).then_some(start..end)
}
