//! Sentences of a text, wherever its lines break.
//!
//! A line break within a paragraph ends nothing: half a rule can say the opposite of the whole.

mod dates;
mod ending;
mod places;

use crate::{rules, text};
use ending::{ENDS, Sentences, goes_on, is_unspaced_end};
use places::{Places, introduces, tag, tell_below};

/// The most bytes of a sentence of several lines, and of a rule with its list. Lines that are more than
/// that without a full stop are no prose, and stand for themselves.
pub(crate) const MOST: usize = 2_000;

/// The most bytes of a sentence that are looked at for what it says: more than of any that is told.
const LOOKED_AT: usize = 4 << 10;

/// Bytes of a list behind its rule that stand in one entry, as a rule. A longer entry would take all of its
/// rules with it where there is no room for it.
const LIST: usize = 350;

/// Most bytes of what is repeated before each rule of a list or paragraph. More would take more room than the rules.
const REPEATED: usize = LIST / 2;

/// Most bytes of a sentence that introduces a list. Half of a sentence's, so that its list fits beside it.
const INTRO: usize = MOST / 2;

/// Columns by which code is indented, and those of a tab.
const CODE: usize = 4;

/// The part of a sentence that is looked at for what it says. A line without a full stop is a sentence of any length,
/// and whoever reads a text can break off between sentences only.
pub(crate) fn beginning(sentence: &str) -> &str {
    &sentence[..sentence.floor_char_boundary(LOOKED_AT)]
}

/// Tells the sentences of `text` one after the other, each on one line and without the mark of its
/// item. They read as they stand in `text`, but for line breaks, which become spaces.
///
/// Lines of a paragraph or of an item of a list belong together; headings, rows of tables, tags and indented
/// code stand for themselves. Code between fences and quotations hold no sentence. A sentence with a rule that ends with a colon holds the list or
/// the code that follows; of a long list each part stands behind that sentence, and so does each item that is a rule itself.
pub fn each_sentence(text: &str, tell: &mut dyn FnMut(&str)) {
    each_sentence_until(&|| false, text, tell);
}

/// The same, until `stop` says so: what follows is not told then, nor the rest of what was being read.
pub(crate) fn each_sentence_until(stop: &dyn Fn() -> bool, text: &str, tell: &mut dyn FnMut(&str)) {
    let text = text::dedented(text);
    read(stop, text.trim(), None, tell);
}

/// The same, where a sentence with a rule stands behind the heading, the intro of a list or the tag that it is
/// below. Returns whether that is all that the text says: code and quotations are passed over.
pub(crate) fn each_in_place(
    stop: &dyn Fn() -> bool,
    text: &str,
    tell: &mut dyn FnMut(&str),
) -> bool {
    let text = text::dedented(text);
    let text = text.trim();
    read(stop, text, Some(Places::of(text)), tell)
}

fn read(
    stop: &dyn Fn() -> bool,
    text: &str,
    places: Option<Places>,
    tell: &mut dyn FnMut(&str),
) -> bool {
    let mut reader = Reader {
        stop,
        tell,
        places,
        block: String::new(),
        own: None,
        item: None,
        list: None,
        fence: None,
        is_heading: false,
        is_after_blank: false,
        is_in_code: false,
        is_all: true,
    };
    for line in text.lines() {
        if stop() {
            return false;
        }
        reader.read(text::clean(line).trim_end());
    }
    reader.end();
    reader.is_all
}

struct Reader<'t> {
    stop: &'t dyn Fn() -> bool,
    tell: &'t mut dyn FnMut(&str),
    /// Where that line stands; none where nobody asks.
    places: Option<Places>,
    /// The lines of the paragraph or item so far.
    block: String,
    /// The mark of the item that the block began as.
    own: Option<Mark>,
    /// The mark of the newest item, as long as its list may go on.
    item: Option<Mark>,
    /// The list that the block holds behind a rule.
    list: Option<List>,
    fence: Option<Fence>,
    /// The block is a heading, which ends with its line.
    is_heading: bool,
    is_after_blank: bool,
    is_in_code: bool,
    /// Nothing was passed over.
    is_all: bool,
}

/// A list behind a rule.
#[derive(Clone, Copy)]
struct List {
    /// Bytes of the rule.
    rule: usize,
    first: Mark,
    /// Where the newest of its own items begins in the block.
    item: usize,
}

/// One line, as the reader sees it.
#[derive(Clone, Copy)]
struct Line<'l> {
    /// The line without its indentation.
    bare: &'l str,
    /// Columns of its indentation.
    indent: usize,
    is_after_blank: bool,
    is_quoted: bool,
    /// Whether it is indented code.
    is_code: bool,
}

impl Reader<'_> {
    fn read(&mut self, line: &str) {
        let bare = line.trim_start();
        let columns = |c: char| if c == '\t' { CODE } else { 1 };
        let indent: usize = line[..line.len() - bare.len()].chars().map(columns).sum();
        if let Some(fence) = self.fence {
            self.read_fenced(fence, bare);
            return;
        }
        // An empty line of a quotation is one, too.
        if bare.trim_matches(['>', ' ']).is_empty() {
            self.is_after_blank = true;
            return;
        }
        let is_after_blank = std::mem::take(&mut self.is_after_blank);
        let was_in_code = std::mem::take(&mut self.is_in_code);
        let line = Line {
            bare,
            indent,
            is_after_blank,
            is_quoted: bare.starts_with(QUOTE),
            is_code: (is_after_blank || was_in_code) && indent >= CODE && self.item.is_none(),
        };
        self.end_list_before(line);
        if let Some(fence) = Fence::of(bare) {
            self.read_passed_over(fence.mark(indent), bare);
            self.fence = Some(fence);
        } else if line.is_quoted {
            if self.block.len() > MOST {
                self.end();
            }
            self.read_passed_over(Mark::quote(indent), bare);
        } else if line.is_code && Mark::of(bare, indent).is_none() && self.takes(Mark::code(indent))
        {
            // A comment in code may look like a heading.
            self.is_in_code = true;
            self.push_item(Mark::code(indent), bare);
        } else if stands_alone(bare) {
            self.read_alone(bare, is_after_blank);
        } else if let Some(mark) =
            Mark::of(bare, indent).filter(|mark| self.is_item(mark, is_after_blank))
        {
            self.read_item(mark, bare);
        } else if line.is_code {
            self.is_in_code = true;
            self.end();
            self.tell_alone(bare);
        } else {
            self.read_text(line);
        }
    }

    /// Ends a quotation or code below a rule if the line is not part of it.
    fn end_list_before(&mut self, line: Line<'_>) {
        let goes_on = |list: List| match list.first.sign {
            QUOTE => line.is_quoted,
            CODE_SIGN => line.is_code,
            _ => true,
        };
        if self.list.is_some_and(|list| !goes_on(list)) {
            self.end();
        }
    }

    /// Reads a line of a quotation, or a fence: it counts only below a rule, and is passed over otherwise.
    fn read_passed_over(&mut self, mark: Mark, bare: &str) {
        if self.takes(mark) {
            self.push(bare);
        } else {
            self.end();
            self.is_all = false;
        }
    }

    /// Reads a line that begins an item of a list.
    fn read_item(&mut self, mark: Mark, bare: &str) {
        if self.takes(mark) {
            self.push_item(mark, bare);
        } else {
            let intro = self.intro(mark);
            self.end();
            if let Some(places) = &mut self.places {
                places.enter(mark.indent, intro);
            }
            self.own = Some(mark);
            self.push(bare[mark.length..].trim_start());
        }
        self.item = Some(mark);
    }

    /// Reads a line of a paragraph or an item, which continues the block or begins a paragraph.
    fn read_text(&mut self, line: Line<'_>) {
        let Line { bare, indent, .. } = line;
        let is_new = if self.is_heading {
            true
        } else if line.is_after_blank {
            indent == 0 || self.list.is_none()
        } else {
            indent == 0 && self.item.is_some() && self.is_ended_before(bare)
        };
        if is_new {
            let intro = self.intro_of_paragraph(indent);
            self.end();
            if indent == 0 {
                self.leave_lists();
            }
            if let Some(places) = &mut self.places
                && !intro.is_empty()
            {
                places.enter(indent, intro);
            }
        }
        self.push(bare);
    }

    fn read_fenced(&mut self, fence: Fence, bare: &str) {
        // One that is never closed would take all that follows into the rule above it.
        if self.block.len() > MOST {
            self.end();
        }
        if self.list.is_none() {
            self.is_all = false;
        } else if !bare.is_empty() {
            self.push(bare);
        }
        if fence.is_closed_by(bare) {
            self.fence = None;
            if self.list.is_some_and(|list| list.first.sign == fence.sign) {
                self.end();
            }
        }
    }

    /// Reads a line that belongs to no paragraph.
    fn read_alone(&mut self, bare: &str, is_after_blank: bool) {
        let is_below_text = !is_after_blank && !self.block.is_empty() && self.own.is_none();
        let underlines = is_below_text && self.list.is_none() && bare.starts_with(['-', '=']);
        if underlines && self.places.is_some() {
            self.is_heading = true;
            return;
        }
        self.end();
        self.leave_lists();
        let Some(places) = &mut self.places else {
            self.tell_alone(bare);
            return;
        };
        if let Some(tag) = tag(bare) {
            places.pass(tag);
        } else if is_heading(bare) {
            self.push(bare);
            self.is_heading = true;
        } else {
            self.tell_alone(bare);
        }
    }

    fn leave_lists(&mut self) {
        self.item = None;
        if let Some(places) = &mut self.places {
            places.leave_lists();
        }
    }

    /// What introduces the list that an item begins; empty where nothing does, or more than an intro says.
    fn intro(&self, mark: Mark) -> String {
        if self.list.is_some() || !self.is_below(mark) {
            return String::new();
        }
        let last = Sentences::of(&self.block, self.stop)
            .last()
            .unwrap_or_default();
        if last.len() > INTRO {
            return String::new();
        }
        on_one_line(last.trim())
    }

    /// What introduces the paragraph that begins so many columns from the left: a heading, or a short sentence that
    /// ends with a colon. Each rule of the paragraph stands behind it.
    fn intro_of_paragraph(&self, indent: usize) -> String {
        if self.places.is_none() || !self.is_heading && !self.has_colon() {
            return String::new();
        }
        let mut intro = self.intro(Mark::code(indent));
        if intro.len() > REPEATED {
            intro.clear();
        }
        intro
    }

    fn has_colon(&self) -> bool {
        let emphasis = ['*', '_'];
        self.block.trim_end_matches(emphasis).ends_with([':', '：'])
    }

    fn is_below(&self, mark: Mark) -> bool {
        self.own.is_none_or(|own| mark.indent > own.indent)
    }

    fn above(&self) -> String {
        let places = self.places.as_ref();
        places.map(Places::above).unwrap_or_default()
    }

    /// Whether a mark begins an item. In the middle of a paragraph a number may be one of its words.
    fn is_item(&self, mark: &Mark, is_after_blank: bool) -> bool {
        let goes_on = |item: Mark| item.sign == mark.sign && mark.indent <= item.indent;
        mark.interrupts
            || is_after_blank
            || self.is_heading
            || self.block.is_empty()
            || self.item.is_some_and(goes_on)
    }

    /// Whether an item belongs to a rule above it, which the block ends with from then on.
    fn takes(&mut self, mark: Mark) -> bool {
        if let Some(List { first, .. }) = self.list {
            return match self.own {
                Some(own) => mark.indent > own.indent,
                None => mark.sign == first.sign || mark.indent > first.indent,
            };
        }
        if !self.is_below(mark) || self.block.is_empty() {
            return false;
        }
        let has_colon = self.has_colon();
        let is_item = self.places.is_some() && !matches!(mark.sign, '`' | '~' | QUOTE | CODE_SIGN);
        if !has_colon && !is_item {
            return false;
        }
        let last = Sentences::of(&self.block, self.stop)
            .last()
            .unwrap_or_default();
        let last = last.trim_start();
        if last.len() > INTRO {
            return false;
        }
        let before = self.block.len() - last.len();
        let above = self.above();
        let is_rule =
            rules::strength(last).is_some() && (has_colon || introduces(last, self.is_heading));
        // So many words before each of its rules would take more room than these.
        let is_long = is_item && above.len() + last.len() > REPEATED;
        if !is_rule && !is_long {
            return false;
        }
        let rule = format!("{above}{last}");
        tell_sentences(&self.block[..before], self.stop, &mut |sentence| {
            tell_below(&above, sentence, self.tell);
        });
        self.list = Some(List {
            rule: rule.len(),
            first: mark,
            item: rule.len(),
        });
        self.block = rule;
        true
    }

    /// Whether a line that could go on with an item is a new paragraph.
    fn is_ended_before(&self, line: &str) -> bool {
        let Some(last) = self.block.chars().next_back() else {
            return false;
        };
        let at = self.block.len() - last.len_utf8();
        match last {
            ',' | ';' | ':' | '-' | '–' => false,
            _ if ENDS.contains(&last) => !goes_on(&self.block[..at], last, line),
            _ => is_unspaced_end(last) || is_capitalised(line),
        }
    }

    fn push(&mut self, line: &str) {
        if !self.block.is_empty() {
            self.block.push('\n');
        }
        self.block.push_str(line);
    }

    /// Adds an item to the list behind a rule.
    fn push_item(&mut self, mark: Mark, line: &str) {
        if let Some(mut list) = self.list {
            let is_own = mark.indent <= list.first.indent;
            if is_own {
                self.tell_item(list);
            }
            if self.block.len() > list.rule
                && self.block.len() + line.len() >= LIST.max(2 * list.rule)
            {
                (self.tell)(&on_one_line(&self.block));
                self.block.truncate(list.rule);
            }
            if is_own || list.item > self.block.len() {
                list.item = self.block.len();
            }
            self.list = Some(list);
        }
        self.push(line);
    }

    /// Tells the newest item alone behind the rule above its list, if it is a rule itself: who has no room for
    /// the list may have some for it. Not without what stands above, which may turn it round: `Never do these:`.
    fn tell_item(&mut self, list: List) {
        let item = &self.block[list.item..];
        if list.rule > REPEATED || rules::strength(item.trim_start()).is_none() {
            return;
        }
        let alone = format!("{}{item}", &self.block[..list.rule]);
        if list.item > list.rule {
            (self.tell)(&on_one_line(&self.block[..list.item]));
        }
        (self.tell)(&on_one_line(&alone));
        self.block.truncate(list.rule);
    }

    fn tell_alone(&mut self, line: &str) {
        let above = self.above();
        tell_sentences(line, self.stop, &mut |sentence| {
            tell_below(&above, sentence, self.tell);
        });
    }

    /// Tells what was read of the paragraph or item.
    fn end(&mut self) {
        if let Some(list) = self.list.take() {
            self.tell_item(list);
            if self.block.len() > list.rule {
                (self.tell)(&on_one_line(&self.block));
            }
        } else {
            let above = self.above();
            tell_sentences(&self.block, self.stop, &mut |sentence| {
                tell_below(&above, sentence, self.tell);
            });
        }
        self.block.clear();
        self.own = None;
        self.is_heading = false;
    }
}

/// Where the last sentence, paragraph or line before an item ends within the first `limit` bytes; none where none does.
pub(crate) fn last_end(text: &str, limit: usize) -> Option<usize> {
    let head = &text[..text.floor_char_boundary(limit)];
    head.char_indices().rev().find_map(|(at, sign)| {
        let end = at + sign.len_utf8();
        let behind = &text[end..];
        let is_end = if sign == '\n' {
            let next = behind.trim_start_matches(' ');
            next.starts_with(['\n', '-', '*', '•'])
                || next.starts_with(|c: char| c.is_ascii_digit())
        } else if ENDS.contains(&sign) {
            let line = text[..at].rfind('\n').map_or(0, |line| line + 1);
            behind.starts_with(char::is_whitespace) && !goes_on(&text[line..at], sign, behind)
        } else {
            is_unspaced_end(sign)
        };
        is_end.then_some(end)
    })
}

fn tell_sentences(block: &str, stop: &dyn Fn() -> bool, tell: &mut dyn FnMut(&str)) {
    for sentence in Sentences::of(block, stop).map(str::trim) {
        if sentence.len() > MOST {
            let lines = sentence.lines().take_while(|_| !stop());
            lines.for_each(&mut *tell);
        } else if !sentence.is_empty() {
            tell(&on_one_line(sentence));
        }
    }
}

fn on_one_line(lines: &str) -> String {
    lines.replace('\n', " ")
}

/// What stands before each line of a quotation.
const QUOTE: char = '>';

/// What stands before a line of indented code.
const CODE_SIGN: char = ' ';

/// What stands before an item of a list.
#[derive(Clone, Copy)]
struct Mark {
    /// Columns before it.
    indent: usize,
    /// `-`, or what stands behind its number.
    sign: char,
    /// Bytes of it.
    length: usize,
    /// It begins a list in the middle of a paragraph, too.
    interrupts: bool,
}

impl Mark {
    /// A quotation below a rule is taken like a list.
    const fn quote(indent: usize) -> Self {
        Self {
            indent,
            sign: QUOTE,
            length: 0,
            interrupts: true,
        }
    }

    /// So is indented code, line by line.
    const fn code(indent: usize) -> Self {
        Self {
            indent,
            sign: CODE_SIGN,
            length: 0,
            interrupts: true,
        }
    }

    fn of(bare: &str, indent: usize) -> Option<Self> {
        let digits = bare.bytes().take_while(u8::is_ascii_digit).count();
        let sign = bare[digits..].chars().next()?;
        let is_mark = match digits {
            0 => matches!(sign, '-' | '*' | '+' | '•'),
            1..=9 => matches!(sign, '.' | ')'),
            _ => false,
        };
        let length = digits + sign.len_utf8();
        (is_mark && bare[length..].starts_with([' ', '\t'])).then_some(Self {
            indent,
            sign,
            length,
            interrupts: digits == 0 || &bare[..digits] == "1",
        })
    }
}

/// What stands above and below lines of code.
#[derive(Clone, Copy)]
struct Fence {
    sign: char,
    length: usize,
}

impl Fence {
    fn of(bare: &str) -> Option<Self> {
        let sign = bare.chars().next().filter(|c| matches!(c, '`' | '~'))?;
        let behind = bare.trim_start_matches(sign);
        let length = bare.len() - behind.len();
        // Code within a line begins like one, too.
        (length >= 3 && !behind.contains('`')).then_some(Self { sign, length })
    }

    fn is_closed_by(self, bare: &str) -> bool {
        bare.len() >= self.length && bare.chars().all(|c| c == self.sign)
    }

    /// Code below a rule is taken like a list.
    const fn mark(self, indent: usize) -> Mark {
        Mark {
            indent,
            sign: self.sign,
            length: self.length,
            interrupts: true,
        }
    }
}

/// Whether a line belongs to no other: a heading, what underlines one, a row of a table, a tag.
fn stands_alone(bare: &str) -> bool {
    let is_rule = |sign| bare.len() >= 3 && bare.chars().all(|c| c == sign);
    is_heading(bare)
        || bare.starts_with('|')
        || tag(bare).is_some()
        || ['-', '=', '*', '_'].into_iter().any(is_rule)
}

fn is_heading(bare: &str) -> bool {
    let behind = bare.trim_start_matches('#');
    matches!(bare.len() - behind.len(), 1..=6) && behind.starts_with(' ')
}

/// Whether a line begins with a word in upper case, as a sentence does; an id has more than one letter
/// of it.
fn is_capitalised(line: &str) -> bool {
    let mut letters = line.chars();
    letters.next().is_some_and(char::is_uppercase)
        && letters
            .next()
            .is_some_and(|c| c.is_lowercase() || c.is_whitespace())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sentences(text: &str) -> Vec<String> {
        let mut found = Vec::new();
        each_sentence(text, &mut |sentence| found.push(sentence.to_owned()));
        found
    }

    #[test]
    fn text_divides_into_sentences() {
        assert_eq!(
            sentences("Use v1.2 of lib.rs. Why? Do it!\n- Never push\n\nお願い。必ずテスト！"),
            [
                "Use v1.2 of lib.rs.",
                "Why?",
                "Do it!",
                "Never push",
                "お願い。",
                "必ずテスト！"
            ]
        );
    }

    #[test]
    fn a_line_break_within_a_paragraph_ends_no_sentence() {
        assert_eq!(
            sentences(
                "Mend the tariff. Do not\nuse the production account HX-77120; only\r\nthe test account TS-11 is yours.\n\nThe limit is\n42. Push"
            ),
            [
                "Mend the tariff.",
                "Do not use the production account HX-77120; only the test account TS-11 is yours.",
                "The limit is 42.",
                "Push"
            ]
        );
    }

    #[test]
    fn items_headings_rows_and_code_stand_for_themselves() {
        assert_eq!(
            sentences(
                "# To do\nMend it\nsoon\n1. Read\n   the books\n2. Never push\n* ask\n\n    let a = 1;\n\nRules\n-----\n| a | b |\n| c | d |\n```sh\nls\ncat a\n```\nDone\n\n    ls\n    cat b"
            ),
            [
                "# To do",
                "Mend it soon",
                "Read the books",
                "Never push",
                "ask",
                "let a = 1;",
                "Rules",
                "-----",
                "| a | b |",
                "| c | d |",
                "Done",
                "ls",
                "cat b"
            ]
        );
    }

    #[test]
    fn a_text_that_is_indented_as_a_whole_is_no_code() {
        assert_eq!(
            sentences(
                "\n    Mend it.\n\n    Do not\n    use HX.\n\n    - ask\n    - read\n      it\n\n    Run this:\n\n        ls\n        cat a\n"
            ),
            [
                "Mend it.",
                "Do not use HX.",
                "ask",
                "read it",
                "Run this:",
                "ls",
                "cat a"
            ]
        );
    }

    #[test]
    fn a_rule_that_ends_with_a_colon_keeps_its_list() {
        assert_eq!(
            sentences(
                "Mend it. **Never do these:**\n\n- push to\n  main\n  1. nor a branch\n\n- use only HX-1\nUse no new libs. Do this:\n- read\n- write"
            ),
            [
                "Mend it.",
                "**Never do these:** - push to main 1. nor a branch",
                "**Never do these:** - use only HX-1",
                "Use no new libs.",
                "Do this:",
                "read",
                "write"
            ]
        );
        assert_eq!(
            sentences(
                "- Do not use:\n  - HX\n  - BX\n- Mend it\n\nNever run this:\n```\nrm a\n```\nThen push."
            ),
            [
                "Do not use: - HX - BX",
                "Mend it",
                "Never run this: ``` rm a ```",
                "Then push."
            ]
        );
    }

    #[test]
    fn a_rule_that_ends_with_a_colon_keeps_its_indented_code() {
        assert_eq!(
            sentences(
                "Never run this:\n\n    npm install --only=prod\n    npm ci\n    # twice\n\n    npm start\nThen sign.\n\nRun this:\n\n    ls --only=a"
            ),
            [
                "Never run this: npm install --only=prod",
                "Never run this: npm ci # twice npm start",
                "Then sign.",
                "Run this:",
                "ls --only=a"
            ]
        );
    }

    #[test]
    fn an_item_that_is_a_rule_itself_is_one_behind_that_of_its_list() {
        let rules = "Rules you must always follow:\n- Sign the log.\n- Moor at pier 4,\n  never at pier 5.\n- In fog:\n  - use only the horn\n- Count the crew\n- Greet the pilot\n\nDone.";
        assert_eq!(
            sentences(rules),
            [
                "Rules you must always follow: - Sign the log.",
                "Rules you must always follow: - Moor at pier 4, never at pier 5.",
                "Rules you must always follow: - In fog: - use only the horn",
                "Rules you must always follow: - Count the crew - Greet the pilot",
                "Done."
            ]
        );
        // So many words above each item would take more room than the items.
        let above = format!("In the harbour you must {}:", "look around and ".repeat(12));
        let items = "- never whistle\n- use only the horn";
        assert_eq!(
            sentences(&format!("{above}\n{items}")),
            [format!("{above} {}", items.replace('\n', " "))]
        );
    }

    #[test]
    fn parts_of_a_long_list_stand_behind_its_rule() {
        let items: String = (0..200)
            .map(|n| format!("- use account {n:03}\n"))
            .collect();
        let found = sentences(&format!("Never do these:\n{items}"));
        assert!(found.len() > 1);
        for part in &found {
            assert!(part.len() <= LIST && part.starts_with("Never do these: - use"));
        }
        let items: usize = found
            .iter()
            .map(|part| part.matches("account").count())
            .sum();
        assert_eq!(items, 200);
    }

    #[test]
    fn lines_without_end_are_no_sentence() {
        let log = "a line of a log\n".repeat(200);
        let found = sentences(&format!("{log}never push"));
        assert_eq!(found.len(), 201);
        assert_eq!(found[200], "never push");
    }
}
