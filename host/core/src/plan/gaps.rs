//! Gaps: lines of the host in a shortened output that say how much is missing at their place.
//!
//! A text that is shortened again already has gaps. A new gap counts an old gap inside it as the text that
//! the old one replaced, so the gaps of a text and the text between them always add up to the whole output.

use std::borrow::Cow;
use std::ops::Range;

use baler_provenance::gaps::GAP as BEGIN;

/// Characters with which the rest of a cut line must not begin after a gap, for the same reason.
const GAP_CHARACTERS: [char; 3] = ['\\', '[', '…'];

/// Maximum bytes of a usual gap.
pub(super) const LENGTH: usize = 48;

/// Size of a piece of an output.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(super) struct Amount {
    pub(super) lines: usize,
    pub(super) bytes: usize,
}

impl Amount {
    /// Writes the gap for this amount.
    fn gap(self) -> String {
        let Self { lines, bytes } = self;
        match lines {
            0 => format!("[… {bytes} bytes left out …]\n"),
            1 => format!("[… 1 line, {bytes} bytes left out …]\n"),
            _ => format!("[… {lines} lines, {bytes} bytes left out …]\n"),
        }
    }

    /// Reads the amount of a gap; `None` if the line is no gap.
    fn parse(line: &str) -> Option<Self> {
        let text = line.strip_prefix("[… ")?;
        let text = text.strip_suffix(" bytes left out …]\n")?;
        let (lines, bytes) = text
            .split_once(" lines, ")
            .or_else(|| text.split_once(" line, "))
            .unwrap_or(("0", text));
        let amount = Self {
            lines: lines.parse().ok()?,
            bytes: bytes.parse().ok()?,
        };
        // The host writes each amount in exactly one way.
        (amount.gap() == line).then_some(amount)
    }
}

/// The text of an output that is to be shortened, with the gaps that it already has.
#[derive(Debug)]
pub(super) struct Body<'a> {
    pub(super) text: Cow<'a, str>,
    /// Gaps and escaped beginnings of lines, in order, each with the amount of output that it represents.
    markers: Vec<(Range<usize>, Amount)>,
    /// Whether this is the author's whole text, so that each marker is a backslash that the host added.
    is_whole: bool,
}

impl<'a> Body<'a> {
    /// Reads an output that the host has not shortened yet.
    pub(super) fn whole(text: &'a str) -> Self {
        Self::of(escaped(text), true)
    }

    /// Reads an output that the host shortened before.
    pub(super) fn shortened_before(text: &'a str) -> Self {
        Self::of(Cow::Borrowed(text), false)
    }

    fn of(text: Cow<'a, str>, is_whole: bool) -> Self {
        let mut markers = Vec::new();
        let mut start = 0;
        for line in text.split_inclusive('\n') {
            let unescaped = line.trim_start_matches('\\');
            let backslashes = line.len() - unescaped.len();
            if unescaped.starts_with(BEGIN) && backslashes > 0 {
                let length = backslashes + BEGIN.len();
                let amount = Amount {
                    lines: 0,
                    bytes: length - 1,
                };
                markers.push((start..start + length, amount));
            } else if let Some(amount) = Amount::parse(line) {
                markers.push((start..start + line.len(), amount));
            }
            start += line.len();
        }
        Self {
            text,
            markers,
            is_whole,
        }
    }

    /// Returns whether a line of the text is a gap.
    pub(super) fn is_gap(line: &str) -> bool {
        line.starts_with(BEGIN)
    }

    /// Returns the end of a piece that should end at `at` or earlier: not within a gap, and not directly
    /// after one.
    pub(super) fn end_at(&self, at: usize) -> usize {
        let index = self.markers.partition_point(|(place, _)| place.start < at);
        let Some((place, _)) = index.checked_sub(1).map(|last| &self.markers[last]) else {
            return at;
        };
        if at < place.end || at == place.end && self.is_gap_at(place) {
            place.start
        } else {
            at
        }
    }

    /// Returns the start of a piece that should begin at `at` or later: not within a gap, and not directly
    /// before one.
    pub(super) fn start_at(&self, at: usize) -> usize {
        let index = self.markers.partition_point(|(place, _)| place.end <= at);
        let at = match self.markers.get(index) {
            Some((place, _)) if place.start < at || place.start == at && self.is_gap_at(place) => {
                place.end
            }
            _ => at,
        };
        let (before, after) = self.text.split_at(at);
        if before.is_empty() || before.ends_with('\n') {
            return at;
        }
        self.text.len() - after.trim_start_matches(GAP_CHARACTERS).len()
    }

    /// Returns whether the marker at `place` is a gap, which is a whole line.
    fn is_gap_at(&self, place: &Range<usize>) -> bool {
        self.text[place.clone()].ends_with('\n')
    }

    /// Where in this body the given places of the text are that it was made of. They are in order.
    pub(super) fn places(&self, of: impl IntoIterator<Item = usize>) -> Vec<usize> {
        let mut added = 0;
        let place = |at: usize| {
            // In front of a line is also in front of its backslash.
            while self.is_whole
                && let Some((place, _)) = self.markers.get(added)
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
                self.write_gap(written, at..start);
                written.push_str(&self.text[start..end]);
                at = end;
            }
        }
        self.write_gap(written, at..self.text.len());
    }

    /// Writes a gap for the range `left_out`, or its text if that is not longer than the gap.
    pub(super) fn write_gap(&self, written: &mut String, left_out: Range<usize>) {
        let text = &self.text[left_out.clone()];
        let mut amount = self.missing(left_out);
        let is_within_line = !written.is_empty() && !written.ends_with('\n');
        if is_within_line {
            // The line break that ends a cut line counts as the first one left out, so that the amounts still
            // add up.
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

    /// Returns how much of the output is at a place, counting gaps there as what they replaced.
    pub(super) fn missing(&self, place: Range<usize>) -> Amount {
        let text = &self.text[place.clone()];
        let mut amount = Amount {
            lines: text.matches('\n').count(),
            bytes: text.len(),
        };
        let first = self
            .markers
            .partition_point(|(marker, _)| marker.start < place.start);
        for (marker, represented) in &self.markers[first..] {
            if marker.end > place.end {
                break;
            }
            let lines = usize::from(self.is_gap_at(marker));
            amount.lines = (amount.lines - lines).saturating_add(represented.lines);
            amount.bytes = (amount.bytes - marker.len()).saturating_add(represented.bytes);
        }
        amount
    }
}

/// Returns the text with a backslash before each line that begins like a gap.
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
    fn parse_reads_exactly_what_gap_writes() {
        for (lines, bytes) in [(0, 1), (1, 90), (2, 180), (7_000, 1_234_567)] {
            let amount = Amount { lines, bytes };
            assert!(amount.gap().len() <= LENGTH);
            assert_eq!(Amount::parse(&amount.gap()), Some(amount));
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
            assert_eq!(Amount::parse(line), None, "{line}");
        }
    }

    #[test]
    fn lines_of_the_output_are_never_gaps() {
        let text = "a\n[… 900 bytes left out …]\n\\[… 5 bytes left out …]\nb [… c\n";
        let body = Body::whole(text);
        assert_eq!(
            body.text,
            "a\n\\[… 900 bytes left out …]\n\\\\[… 5 bytes left out …]\nb [… c\n"
        );
        let all = body.missing(0..body.text.len());
        assert_eq!((all.lines, all.bytes), (4, text.len()));
        // Reading the text again gives the same amounts.
        let again = Body::shortened_before(&body.text);
        assert_eq!(again.missing(0..again.text.len()), all);
    }

    #[test]
    fn new_gap_contains_old_gaps_completely() {
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
        body.write_gap(&mut written, 0..text.len());
        let bytes = 300 + 2 * own.len();
        assert_eq!(written, format!("[… 5 lines, {bytes} bytes left out …]\n"));
    }

    #[test]
    fn text_shorter_than_a_gap_is_not_left_out() {
        let body = Body::whole("abc\ndef\n");
        let mut written = "x".to_owned();
        body.write_gap(&mut written, 2..7);
        assert_eq!(written, "xc\ndef");
    }

    #[test]
    fn rest_of_a_cut_line_does_not_begin_like_a_gap() {
        let text = "ab\\[… 9 bytes left out …]\nc";
        let body = Body::whole(text);
        assert_eq!(&body.text[body.start_at(2)..], " 9 bytes left out …]\nc");
        assert_eq!(&body.text[body.start_at(3)..], " 9 bytes left out …]\nc");
        assert_eq!(body.start_at(text.len() - 1), text.len() - 1);
    }
}
