//! Contents of files that Gemini CLI puts behind a question, as texts of the same message.

use crate::part::Part;

/// The lines around the files. Each file is a part of its own, or all is one text.
const START: &str = "--- Content from referenced files ---";
const END: &str = "--- End of content ---";

/// Where the files of a unit stand.
pub(super) struct Files {
    /// The last text in which they may end: a file may hold such a line too.
    last: Option<usize>,
    /// Whether they began in an earlier text and have not ended.
    is_open: bool,
}

impl Files {
    pub(super) fn among(parts: &[Part<'_>]) -> Self {
        let ends = |part: &Part<'_>| matches!(part, Part::User(text) if end(text).is_some());
        Self {
            last: parts.iter().rposition(ends),
            is_open: false,
        }
    }

    /// Splits the text with this index into what is before the files, the files, and what is behind them;
    /// `None` if it holds none. Texts come in their order. Files begin only where `is_own` says that what
    /// stands at a byte is the user's.
    pub(super) fn split<'a>(
        &mut self,
        index: usize,
        text: &'a str,
        is_own: impl Fn(usize) -> bool,
    ) -> Option<[&'a str; 3]> {
        let start = if self.is_open {
            0
        } else {
            start(text, is_own)?
        };
        let (before, rest) = text.split_at(start);
        let may_end = self.last.is_none_or(|last| last <= index);
        let end = end(rest).filter(|_| may_end);
        self.is_open = end.is_none();
        let (files, behind) = rest.split_at(end.unwrap_or(rest.len()));
        Some([before, files, behind])
    }
}

/// Where the line begins behind which there are files.
fn start(text: &str, is_own: impl Fn(usize) -> bool) -> Option<usize> {
    text.match_indices(START)
        .map(|(at, _)| at)
        .find(|at| is_line(text, *at, START.len()) && is_own(*at))
}

/// Where the last line ends that ends files.
fn end(text: &str) -> Option<usize> {
    text.rmatch_indices(END)
        .map(|(at, _)| at)
        .find(|at| is_line(text, *at, END.len()))
        .map(|at| at + END.len())
}

/// Whether so many bytes at `at` are a line.
fn is_line(text: &str, at: usize, length: usize) -> bool {
    let begins = at == 0 || text[..at].ends_with('\n');
    begins && matches!(text.as_bytes().get(at + length), None | Some(b'\n' | b'\r'))
}
