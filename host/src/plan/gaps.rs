//! Gaps: lines of the host's that say how much of an output is missing where they stand.
//!
//! A text that is shortened once more has gaps already. What a new gap swallows counts as what it
//! stood for, so the gaps of a text and what stands between them always add up to the whole output.

use std::borrow::Cow;
use std::ops::Range;

/// How each gap begins. A line of the output's own that begins so gets a backslash, so that none of
/// it counts as a gap when the text is shortened again.
const BEGIN: &str = "[…";

/// What a line that is cut must not go on with behind a gap, for the same reason.
const SIGNS: [char; 3] = ['\\', '[', '…'];

/// Bytes of a gap, about.
pub(super) const LENGTH: usize = 48;

/// How much of an output.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(super) struct Amount {
    pub(super) lines: usize,
    pub(super) bytes: usize,
}

impl Amount {
    /// The gap that says so.
    fn gap(self) -> String {
        let Self { lines, bytes } = self;
        match lines {
            0 => format!("[… {bytes} bytes left out …]\n"),
            1 => format!("[… 1 line, {bytes} bytes left out …]\n"),
            _ => format!("[… {lines} lines, {bytes} bytes left out …]\n"),
        }
    }

    /// What a line says that is a gap.
    fn told(line: &str) -> Option<Self> {
        let said = line.strip_prefix("[… ")?;
        let said = said.strip_suffix(" bytes left out …]\n")?;
        let (lines, bytes) = said
            .split_once(" lines, ")
            .or_else(|| said.split_once(" line, "))
            .unwrap_or(("0", said));
        let amount = Self {
            lines: lines.parse().ok()?,
            bytes: bytes.parse().ok()?,
        };
        // Spelled in another way it is not the host's.
        (amount.gap() == line).then_some(amount)
    }
}

/// The text of an output that is to be shortened, with what is missing in it already.
#[derive(Debug)]
pub(super) struct Body<'a> {
    pub(super) text: Cow<'a, str>,
    /// Gaps, and beginnings of lines with a backslash of the host's, in order: each with what it
    /// stands for.
    stands_for: Vec<(Range<usize>, Amount)>,
    /// Whether the text is that of its author, and all that stands for something are backslashes of the host's.
    is_whole: bool,
}

impl<'a> Body<'a> {
    /// Of an output as its tool gave it back.
    pub(super) fn whole(text: &'a str) -> Self {
        Self::of(escaped(text), true)
    }

    /// Of one that the host shortened before.
    pub(super) fn shortened_before(text: &'a str) -> Self {
        Self::of(Cow::Borrowed(text), false)
    }

    fn of(text: Cow<'a, str>, is_whole: bool) -> Self {
        let mut stands_for = Vec::new();
        let mut start = 0;
        for line in text.split_inclusive('\n') {
            let behind = line.trim_start_matches('\\');
            let backslashes = line.len() - behind.len();
            if behind.starts_with(BEGIN) && backslashes > 0 {
                let length = backslashes + BEGIN.len();
                let amount = Amount {
                    lines: 0,
                    bytes: length - 1,
                };
                stands_for.push((start..start + length, amount));
            } else if let Some(amount) = Amount::told(line) {
                stands_for.push((start..start + line.len(), amount));
            }
            start += line.len();
        }
        Self {
            text,
            stands_for,
            is_whole,
        }
    }

    /// Whether a line of the text is a gap, rather than the output's own.
    pub(super) fn is_gap(line: &str) -> bool {
        line.starts_with(BEGIN)
    }

    /// Where a piece ends that should end at `at` at the latest: in front of a gap that would be cut,
    /// or have another one directly behind it.
    pub(super) fn end_at(&self, at: usize) -> usize {
        let index = self
            .stands_for
            .partition_point(|(place, _)| place.start < at);
        let Some((place, _)) = index.checked_sub(1).map(|last| &self.stands_for[last]) else {
            return at;
        };
        if at < place.end || at == place.end && self.is_line(place) {
            place.start
        } else {
            at
        }
    }

    /// Where a piece begins that should begin at `at` at the earliest: behind a gap that would be cut, or
    /// have another one directly in front of it.
    pub(super) fn start_at(&self, at: usize) -> usize {
        let index = self
            .stands_for
            .partition_point(|(place, _)| place.end <= at);
        let at = match self.stands_for.get(index) {
            Some((place, _)) if place.start < at || place.start == at && self.is_line(place) => {
                place.end
            }
            _ => at,
        };
        let (before, behind) = self.text.split_at(at);
        if before.is_empty() || before.ends_with('\n') {
            return at;
        }
        self.text.len() - behind.trim_start_matches(SIGNS).len()
    }

    /// Whether what stands at a place is a gap: all of a line.
    fn is_line(&self, place: &Range<usize>) -> bool {
        self.text[place.clone()].ends_with('\n')
    }

    /// Where in this body the given places of the text are that it was made of. They are in order.
    pub(super) fn places(&self, of: impl IntoIterator<Item = usize>) -> Vec<usize> {
        let mut added = 0;
        let place = |at: usize| {
            // In front of a line is also in front of its backslash.
            while self.is_whole
                && let Some((place, _)) = self.stands_for.get(added)
                && place.start - added < at
            {
                added += 1;
            }
            at + added
        };
        of.into_iter().map(place).collect()
    }

    /// Writes some runs of the text, which are in order, and a gap wherever text is missing. A run gives up
    /// what would cut a gap or make one.
    pub(super) fn write(&self, written: &mut String, runs: &[Range<usize>]) {
        let mut at = 0;
        for run in runs {
            let start = self.start_at(run.start).max(at);
            let end = self.end_at(run.end);
            // One that touches the last one goes on with it.
            let start = if run.start <= at { at } else { start };
            if start < end {
                self.leave_out(written, at..start);
                written.push_str(&self.text[start..end]);
                at = end;
            }
        }
        self.leave_out(written, at..self.text.len());
    }

    /// Says how much is left out, where something is; writes it where that takes no more room.
    pub(super) fn leave_out(&self, written: &mut String, left_out: Range<usize>) {
        let text = &self.text[left_out.clone()];
        let mut amount = self.missing(left_out);
        let is_within_line = !written.is_empty() && !written.ends_with('\n');
        if is_within_line {
            // The line break behind a line that is cut counts for one that is left out, so that the
            // sum stays the same.
            amount.bytes = amount.bytes.saturating_sub(1);
            amount.lines = amount.lines.saturating_sub(1);
        }
        let gap = amount.gap();
        if text.len() <= gap.len() {
            written.push_str(text);
            return;
        }
        if is_within_line {
            written.push('\n');
        }
        written.push_str(&gap);
    }

    /// How much of the output stands at a place, or was left out there before.
    pub(super) fn missing(&self, place: Range<usize>) -> Amount {
        let text = &self.text[place.clone()];
        let mut amount = Amount {
            lines: text.matches('\n').count(),
            bytes: text.len(),
        };
        let first = self
            .stands_for
            .partition_point(|(known, _)| known.start < place.start);
        for (known, stands_for) in &self.stands_for[first..] {
            if known.end > place.end {
                break;
            }
            let lines = usize::from(self.is_line(known));
            amount.lines = (amount.lines - lines).saturating_add(stands_for.lines);
            amount.bytes = (amount.bytes - known.len()).saturating_add(stands_for.bytes);
        }
        amount
    }
}

/// A text in which no line begins like a gap.
fn escaped(text: &str) -> Cow<'_, str> {
    if !text.contains(BEGIN) {
        return Cow::Borrowed(text);
    }
    let mut escaped = String::with_capacity(text.len() + BEGIN.len());
    for line in text.split_inclusive('\n') {
        if line.trim_start_matches('\\').starts_with(BEGIN) {
            escaped.push('\\');
        }
        escaped.push_str(line);
    }
    Cow::Owned(escaped)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_gap_says_what_it_was_made_of_and_nothing_else_is_one() {
        for (lines, bytes) in [(0, 1), (1, 90), (2, 180), (7_000, 1_234_567)] {
            let amount = Amount { lines, bytes };
            assert!(amount.gap().len() <= LENGTH);
            assert_eq!(Amount::told(&amount.gap()), Some(amount));
        }
        for line in [
            "[… 5 bytes left out …]",
            "[… 05 bytes left out …]\n",
            "[… +5 bytes left out …]\n",
            "[… 0 lines, 5 bytes left out …]\n",
            "[… 1 lines, 5 bytes left out …]\n",
            "[… 2 lines left out …]\n",
            "\\[… 5 bytes left out …]\n",
            "[… 5 bytes left out …]\r\n",
        ] {
            assert_eq!(Amount::told(line), None, "{line}");
        }
    }

    #[test]
    fn no_line_of_an_outputs_own_is_a_gap() {
        let text = "a\n[… 900 bytes left out …]\n\\[… 5 bytes left out …]\nb [… c\n";
        let body = Body::whole(text);
        assert_eq!(
            body.text,
            "a\n\\[… 900 bytes left out …]\n\\\\[… 5 bytes left out …]\nb [… c\n"
        );
        let all = body.missing(0..body.text.len());
        assert_eq!((all.lines, all.bytes), (4, text.len()));
        // Taken up again it is the same.
        let again = Body::shortened_before(&body.text);
        assert_eq!(again.missing(0..again.text.len()), all);
    }

    #[test]
    fn a_gap_swallows_gaps_whole() {
        let own = "one line of an output that is no gap\n";
        let text = format!("{own}[… 3 lines, 300 bytes left out …]\n{own}");
        let body = Body::shortened_before(&text);
        let gap = own.len()..text.len() - own.len();
        for at in gap.start + 1..=gap.end {
            assert_eq!(body.end_at(at), gap.start);
        }
        for at in gap.start..gap.end {
            assert_eq!(body.start_at(at), gap.end);
        }
        assert_eq!(body.end_at(gap.start), gap.start);
        assert_eq!(body.start_at(gap.end), gap.end);
        let mut written = String::new();
        body.leave_out(&mut written, 0..text.len());
        let bytes = 300 + 2 * own.len();
        assert_eq!(written, format!("[… 5 lines, {bytes} bytes left out …]\n"));
    }

    #[test]
    fn what_is_shorter_than_a_gap_is_not_left_out() {
        let body = Body::whole("abc\ndef\n");
        let mut written = "x".to_owned();
        body.leave_out(&mut written, 2..7);
        assert_eq!(written, "xc\ndef");
    }

    #[test]
    fn a_line_that_is_cut_goes_on_with_nothing_that_begins_a_gap() {
        let text = "ab\\[… 9 bytes left out …]\nc";
        let body = Body::whole(text);
        assert_eq!(&body.text[body.start_at(2)..], " 9 bytes left out …]\nc");
        assert_eq!(&body.text[body.start_at(3)..], " 9 bytes left out …]\nc");
        assert_eq!(body.start_at(text.len() - 1), text.len() - 1);
    }
}
