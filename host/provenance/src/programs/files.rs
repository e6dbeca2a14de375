//! Contents of files that Gemini CLI appends to a question, as texts of the same message.

/// Lines around the files. Each file is a separate part, or all are one text.
const START: &str = "--- Content from referenced files ---";
const END: &str = "--- End of content ---";

/// Position of the files in a unit.
#[derive(Debug)]
pub(super) struct Files {
    /// Index of the last text in which they may end: a file may contain such a line too.
    last: Option<usize>,
    /// Whether they began in an earlier text and have not ended.
    is_open: bool,
}

impl Files {
    pub(super) fn among<'t>(texts: impl Iterator<Item = (usize, &'t str)>) -> Self {
        let ends = texts.filter(|(_, text)| end(text).is_some());
        Self {
            last: ends.map(|(index, _)| index).last(),
            is_open: false,
        }
    }

    /// Splits the text with this index into what is before the files, the files, and what is after them;
    /// `None` if it contains none. Texts have to be passed in their order. Files begin only at a byte for
    /// which `is_own` returns true, that is, in the user's words.
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

/// Returns the start of the line that begins files.
fn start(text: &str, is_own: impl Fn(usize) -> bool) -> Option<usize> {
    text.match_indices(START)
        .map(|(at, _)| at)
        .find(|at| is_line(text, *at, START.len()) && is_own(*at))
}

/// Returns the end of the last line that ends files.
fn end(text: &str) -> Option<usize> {
    text.rmatch_indices(END)
        .map(|(at, _)| at)
        .find(|at| is_line(text, *at, END.len()))
        .map(|at| at + END.len())
}

/// Whether the `length` bytes from `at` are a line.
fn is_line(text: &str, at: usize, length: usize) -> bool {
    let begins = at == 0 || text[..at].ends_with('\n');
    begins && matches!(text.as_bytes().get(at + length), None | Some(b'\n' | b'\r'))
}
