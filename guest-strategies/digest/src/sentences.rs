//! Divides a text into sentences, wherever its lines break.
//!
//! A line break within a paragraph ends no sentence: half a rule can say the opposite of the whole.

mod context;
mod dates;
mod ending;

use crate::{rules, text};
use context::{Context, emit_below, introduces, tag};
use ending::{ENDS, Sentences, goes_on, is_unspaced_end};

/// Most bytes of a sentence of several lines, and of a rule with its list. Longer runs of lines without a
/// full stop are not prose, and each line counts as a sentence.
pub(crate) const MOST: usize = 2_000;

/// Most bytes of a sentence that are examined for what it says: more than any digest quotes.
const LOOKED_AT: usize = 4 << 10;

/// Usual most bytes of an entry that consists of a rule and its list. If a longer entry does not fit, all of
/// its rules are lost.
const LIST: usize = 350;

/// Most bytes of what is repeated before each rule of a list or paragraph. More would take more room than the
/// rules.
const REPEATED: usize = LIST / 2;

/// Most bytes of a sentence that introduces a list. Half of a sentence's, so that its list fits beside it.
const INTRO: usize = MOST / 2;

/// Columns by which code is indented, and columns of a tab.
const CODE: usize = 4;

/// Returns the part of a sentence that is examined for what it says. A line without a full stop is a sentence
/// of any length.
pub(crate) fn beginning(sentence: &str) -> &str {
    &sentence[..sentence.floor_char_boundary(LOOKED_AT)]
}

/// Passes the sentences of `text` to `emit` one after the other, each on one line and without the mark of its
/// list item. They are quoted word for word; only line breaks become spaces.
///
/// Lines of a paragraph or a list item are joined. Headings, table rows, tags and lines of indented code are
/// separate. Code between fences and quotations contain no sentences. A rule that ends with a colon is joined
/// with the list or code that follows. If the list is long, the rule is repeated before each part of it, and
/// before each item that is a rule itself.
pub fn each_sentence(text: &str, emit: &mut dyn FnMut(&str)) {
    let text = text::dedented(text);
    read(text.trim(), None, emit);
}

/// Does the same, but puts before each rule the heading, the introduction of a list and the tag that it is
/// below. Returns whether the sentences are all of the text: code and quotations are left out.
pub(crate) fn each_in_context(text: &str, emit: &mut dyn FnMut(&str)) -> bool {
    let text = text::dedented(text);
    let text = text.trim();
    read(text, Some(Context::of(text)), emit)
}

fn read(text: &str, context: Option<Context>, emit: &mut dyn FnMut(&str)) -> bool {
    let mut reader = Reader {
        emit,
        context,
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
        reader.read(text::clean(line).trim_end());
    }
    reader.end();
    reader.is_all
}

struct Reader<'t> {
    emit: &'t mut dyn FnMut(&str),
    /// Headings and tags above the current line; `None` if rules are quoted without them.
    context: Option<Context>,
    /// Lines of the current paragraph or item.
    block: String,
    /// Mark of the item that the block began as.
    own: Option<Mark>,
    /// Mark of the newest item, as long as its list may continue.
    item: Option<Mark>,
    /// The list after a rule in the block.
    list: Option<List>,
    fence: Option<Fence>,
    /// Whether the block is a heading, which ends with its line.
    is_heading: bool,
    is_after_blank: bool,
    is_in_code: bool,
    /// Whether nothing was left out.
    is_all: bool,
}

/// A list after a rule.
#[derive(Clone, Copy)]
struct List {
    /// Bytes of the rule.
    rule: usize,
    first: Mark,
    /// Start of its newest own item in the block.
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
        } else if line.is_code
            && Mark::of(bare, indent).is_none()
            && self.joins_rule(Mark::code(indent))
        {
            // A comment in code may look like a heading.
            self.is_in_code = true;
            self.push_item(Mark::code(indent), bare);
        } else if stands_alone(bare) {
            self.read_single_line(bare, is_after_blank);
        } else if let Some(mark) =
            Mark::of(bare, indent).filter(|mark| self.is_item(mark, is_after_blank))
        {
            self.read_item(mark, bare);
        } else if line.is_code {
            self.is_in_code = true;
            self.end();
            self.emit_line(bare);
        } else {
            self.read_text(line);
        }
    }

    /// Ends a quotation or code below a rule if the line does not belong to it.
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

    /// Reads a fence or a line of a quotation, which counts only below a rule.
    fn read_passed_over(&mut self, mark: Mark, bare: &str) {
        if self.joins_rule(mark) {
            self.push(bare);
        } else {
            self.end();
            self.is_all = false;
        }
    }

    /// Reads a line that begins an item of a list.
    fn read_item(&mut self, mark: Mark, bare: &str) {
        if self.joins_rule(mark) {
            self.push_item(mark, bare);
        } else {
            let intro = self.intro(mark);
            self.end();
            if let Some(context) = &mut self.context {
                context.enter(mark.indent, intro);
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
            if let Some(context) = &mut self.context
                && !intro.is_empty()
            {
                context.enter(indent, intro);
            }
        }
        self.push(bare);
    }

    fn read_fenced(&mut self, fence: Fence, bare: &str) {
        // A fence that is never closed would add all that follows to the rule above it.
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
    fn read_single_line(&mut self, bare: &str, is_after_blank: bool) {
        let is_below_text = !is_after_blank && !self.block.is_empty() && self.own.is_none();
        let underlines = is_below_text && self.list.is_none() && bare.starts_with(['-', '=']);
        if underlines && self.context.is_some() {
            self.is_heading = true;
            return;
        }
        self.end();
        self.leave_lists();
        let Some(context) = &mut self.context else {
            self.emit_line(bare);
            return;
        };
        if let Some(tag) = tag(bare) {
            context.pass(tag);
        } else if is_heading(bare) {
            self.push(bare);
            self.is_heading = true;
        } else {
            self.emit_line(bare);
        }
    }

    fn leave_lists(&mut self) {
        self.item = None;
        if let Some(context) = &mut self.context {
            context.leave_lists();
        }
    }

    /// Returns what introduces the list that an item begins; empty if nothing does, or a text that is too
    /// long.
    fn intro(&self, mark: Mark) -> String {
        if self.list.is_some() || !self.is_below(mark) {
            return String::new();
        }
        let last = Sentences::of(&self.block).last().unwrap_or_default();
        if last.len() > INTRO {
            return String::new();
        }
        on_one_line(last.trim())
    }

    /// Returns what introduces the paragraph that begins at column `indent`: a heading, or a short sentence
    /// that ends with a colon. It is put before each rule of the paragraph.
    fn intro_of_paragraph(&self, indent: usize) -> String {
        if self.context.is_none() || !self.is_heading && !self.has_colon() {
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
        let context = self.context.as_ref();
        context.map(Context::above).unwrap_or_default()
    }

    /// Whether a mark begins an item. In a paragraph a number may be a word.
    fn is_item(&self, mark: &Mark, is_after_blank: bool) -> bool {
        let goes_on = |item: Mark| item.sign == mark.sign && mark.indent <= item.indent;
        mark.interrupts
            || is_after_blank
            || self.is_heading
            || self.block.is_empty()
            || self.item.is_some_and(goes_on)
    }

    /// Whether an item belongs to a rule above it. If so, emits what precedes the rule, so that the block
    /// begins with it.
    fn joins_rule(&mut self, mark: Mark) -> bool {
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
        let is_item = self.context.is_some() && !matches!(mark.sign, '`' | '~' | QUOTE | CODE_SIGN);
        if !has_colon && !is_item {
            return false;
        }
        let last = Sentences::of(&self.block).last().unwrap_or_default();
        let last = last.trim_start();
        if last.len() > INTRO {
            return false;
        }
        let before = self.block.len() - last.len();
        let above = self.above();
        let is_rule =
            rules::strength(last).is_some() && (has_colon || introduces(last, self.is_heading));
        // Repeated before each rule, a text this long would be longer than the rules.
        let is_long = is_item && above.len() + last.len() > REPEATED;
        if !is_rule && !is_long {
            return false;
        }
        let rule = format!("{above}{last}");
        emit_sentences(&self.block[..before], &mut |sentence| {
            emit_below(&above, sentence, self.emit);
        });
        self.list = Some(List {
            rule: rule.len(),
            first: mark,
            item: rule.len(),
        });
        self.block = rule;
        true
    }

    /// Whether a line that could continue an item begins a paragraph.
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

    /// Adds an item to the list after a rule.
    fn push_item(&mut self, mark: Mark, line: &str) {
        if let Some(mut list) = self.list {
            let is_own = mark.indent <= list.first.indent;
            if is_own {
                self.emit_item(list);
            }
            if self.block.len() > list.rule
                && self.block.len() + line.len() >= LIST.max(2 * list.rule)
            {
                (self.emit)(&on_one_line(&self.block));
                self.block.truncate(list.rule);
            }
            if is_own || list.item > self.block.len() {
                list.item = self.block.len();
            }
            self.list = Some(list);
        }
        self.push(line);
    }

    /// Emits the newest item alone after the rule above its list, if it is a rule itself: it may fit where
    /// the list does not. The rule above is needed, because it may reverse the meaning: `Never do these:`.
    fn emit_item(&mut self, list: List) {
        let item = &self.block[list.item..];
        if list.rule > REPEATED || rules::strength(item.trim_start()).is_none() {
            return;
        }
        let alone = format!("{}{item}", &self.block[..list.rule]);
        if list.item > list.rule {
            (self.emit)(&on_one_line(&self.block[..list.item]));
        }
        (self.emit)(&on_one_line(&alone));
        self.block.truncate(list.rule);
    }

    fn emit_line(&mut self, line: &str) {
        let above = self.above();
        emit_sentences(line, &mut |sentence| {
            emit_below(&above, sentence, self.emit);
        });
    }

    /// Emits what was read of the paragraph or item.
    fn end(&mut self) {
        if let Some(list) = self.list.take() {
            self.emit_item(list);
            if self.block.len() > list.rule {
                (self.emit)(&on_one_line(&self.block));
            }
        } else {
            let above = self.above();
            emit_sentences(&self.block, &mut |sentence| {
                emit_below(&above, sentence, self.emit);
            });
        }
        self.block.clear();
        self.own = None;
        self.is_heading = false;
    }
}

/// Returns where the last sentence, paragraph or line before an item ends within the first `limit` bytes;
/// `None` if none does.
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

fn emit_sentences(block: &str, emit: &mut dyn FnMut(&str)) {
    for sentence in Sentences::of(block).map(str::trim) {
        if sentence.len() > MOST {
            sentence.lines().for_each(&mut *emit);
        } else if !sentence.is_empty() {
            emit(&on_one_line(sentence));
        }
    }
}

fn on_one_line(lines: &str) -> String {
    lines.replace('\n', " ")
}

/// Begins each line of a quotation.
const QUOTE: char = '>';

/// Begins a line of indented code.
const CODE_SIGN: char = ' ';

/// The mark of a list item.
#[derive(Clone, Copy)]
struct Mark {
    /// Columns before the mark.
    indent: usize,
    /// `-` or the like, or what follows its number.
    sign: char,
    /// Bytes of the mark.
    length: usize,
    /// Whether it begins a list also within a paragraph.
    interrupts: bool,
}

impl Mark {
    /// Returns the mark of a quotation, which is read like a list below a rule.
    const fn quote(indent: usize) -> Self {
        Self {
            indent,
            sign: QUOTE,
            length: 0,
            interrupts: true,
        }
    }

    /// Returns the mark of a line of indented code, which is read like a list item below a rule.
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

/// The line above or below a block of code.
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
        // Code within a line also begins with such signs.
        (length >= 3 && !behind.contains('`')).then_some(Self { sign, length })
    }

    fn is_closed_by(self, bare: &str) -> bool {
        bare.len() >= self.length && bare.chars().all(|c| c == self.sign)
    }

    /// Returns the mark of a block of code, which is read like a list below a rule.
    const fn mark(self, indent: usize) -> Mark {
        Mark {
            indent,
            sign: self.sign,
            length: self.length,
            interrupts: true,
        }
    }
}

/// Whether a line is separate from others: a heading or its underline, a table row, a tag.
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

/// Whether a line begins with a capitalised word, as a sentence does; an id has more than one capital.
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
    fn items_headings_rows_and_lines_of_code_are_separate() {
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
    fn a_text_that_is_indented_as_a_whole_is_not_code() {
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
    fn an_item_that_is_a_rule_follows_the_rule_of_its_list() {
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
    fn each_part_of_a_long_list_follows_its_rule() {
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
    fn many_lines_without_a_full_stop_are_separate() {
        let log = "a line of a log\n".repeat(200);
        let found = sentences(&format!("{log}never push"));
        assert_eq!(found.len(), 201);
        assert_eq!(found[200], "never push");
    }
}
