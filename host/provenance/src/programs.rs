//! Separates what programs write into the user's turns from the user's own words.
//!
//! The client of an agent writes outputs of commands, reminders, notices and contents of files into the
//! user's turns. None of it may become the user's rule or request: whoever can make a command print a line
//! could then give orders for as long as the conversation lasts. All that is known of such texts is here:
//! tags in [`TAGS`], texts without tags in `beginnings`, files next to a question in `files`; and which outputs of tools are
//! the user's words, in `answers`.
//! `docs/wire-formats.md` says which program writes which, and how that is known.

mod answers;
mod beginnings;
mod files;
#[cfg(test)]
mod tests;

use std::ops::Range;

pub use answers::{asks_user, begins_like_a_refusal, is_refusal_with_reason};

use crate::gaps;

/// Tag that a reader of session logs puts around a program's text if only the record of the log identifies
/// it.
pub const INSERTED: &str = "inserted-by-program";

/// What is between the tags of a pair.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum TagContent {
    /// Text of a command, a file or another agent, or names from elsewhere, which may contain any tag. The
    /// program writes such texts one after the other, so the last closing tag of any of them ends them all.
    Output,
    /// The program's own words, before or after what the user says.
    Words,
    /// Text that the user typed; only the tags are the program's.
    Typed,
}

use TagContent::{Output, Typed, Words};

/// Tags with which programs mark what they write as the user, in lower case. After a space follows the
/// beginning of an attribute that the opening tag must have; a star matches the rest of a name. Names that
/// people use in their own prompts (`context`, `rules`, `task`) are left out.
const TAGS: [(&str, TagContent); 76] = [
    // Claude Code
    ("bash-stdout", Output),
    ("bash-stderr", Output),
    ("local-command-stdout", Output),
    ("local-command-stderr", Output),
    ("task-notification", Output),
    ("teammate-message", Output),
    ("agent-message", Output),
    ("cross-session-message", Output),
    ("channel source=", Output),
    ("new-diagnostics", Output),
    ("user-prompt-submit-hook", Output),
    ("session-start-hook", Output),
    ("post-tool-use-hook", Output),
    ("ide_selection", Output),
    ("available-deferred-tools", Output),
    ("github-webhook-activity", Output),
    ("mcp-resource-update", Output),
    ("mcp-polling-update", Output),
    ("persisted-output", Output),
    ("fork-boilerplate", Words),
    ("bash-input", Words),
    ("command-name", Words),
    ("command-message", Words),
    ("local-command-caveat", Words),
    (REMINDER, Words),
    ("ide_opened_file", Words),
    ("command-args", Typed),
    // Codex
    ("user_shell_command", Output),
    ("subagent_notification", Output),
    ("user_instructions", Output),
    ("skill", Output),
    ("skills_instructions", Output),
    ("user_action", Output),
    ("hook_prompt", Output),
    ("environment_context", Output),
    ("recommended_plugins", Output),
    ("external_*", Output),
    ("additional_context", Output),
    ("extension_context", Output),
    ("component_context", Output),
    ("codex_internal_context", Output),
    ("goal_context", Output),
    ("agent_message_board_notification", Output),
    ("next_prompt_suggestion", Words),
    ("turn_aborted", Words),
    // Gemini CLI and Qwen Code
    ("hook_context", Output),
    ("session_context", Output),
    ("state_snapshot", Output),
    // Cline and Roo Code
    ("environment_details", Output),
    ("file_content path=", Output),
    ("folder_content path=", Output),
    ("url_content url=", Output),
    ("workspace_diagnostics", Output),
    ("terminal_output", Output),
    ("git_working_state", Output),
    ("git_commit hash=", Output),
    // What the user answered to a call.
    ("feedback", Typed),
    // Cursor, Copilot CLI
    ("system_notification", Output),
    ("open_and_recently_viewed_files", Output),
    ("project_layout", Output),
    ("git_status", Output),
    ("attached_files", Output),
    ("agent_transcripts", Output),
    ("agent_skills", Output),
    ("mcp_file_system", Output),
    ("system_reminder", Words),
    ("current_datetime", Words),
    // Copilot in VS Code
    ("environment_info", Output),
    ("workspace_info", Output),
    ("editorcontext", Output),
    ("reminderinstructions", Words),
    // Agents without calls: what their tools gave back
    ("tool_response", Output),
    ("tool_result", Output),
    ("function_results", Output),
    // Goose
    ("info-msg", Output),
    // baler's readers of logs
    (INSERTED, Output),
];

/// Tag around what the user typed while the model worked, and its first line, which distinguishes it from
/// other reminders.
const REMINDER: &str = "system-reminder";
const TYPED_LATE: [&str; 2] = [
    // Claude Code
    "The user sent a new message while you were working:",
    // opencode
    "The user sent the following message:",
];

/// What a program appends to what the user typed there, the words that a user is least likely to write first.
const BEHIND_TYPED: [&str; 3] = [
    // opencode
    "\n\nPlease address this message",
    // Claude Code, and its old versions
    "\n\nThis is how Claude Code",
    "\n\nIMPORTANT:",
];

/// Beginnings of lines that a program writes directly after its text, without a tag.
const NOTICES: [&str; 5] = [
    // pi
    "(command cancelled)",
    "Command exited with code ",
    "[Output truncated. Full output: ",
    // Claude Code
    "Read the output file to retrieve the result: ",
    "Full transcript available at: ",
];

/// Whether a program wrote all of a text.
#[must_use]
pub fn is_by_program(text: &str) -> bool {
    let parted = ByAuthor::of(text);
    !parted.programs.is_empty() && parted.own.iter().all(|own| own.trim().is_empty())
}

/// Returns the user's own words of a text of the user's role, without what programs wrote. Contents of files
/// that extend over several parts are recognised only by [`by_author`], which sees all parts.
#[must_use]
pub fn own_words(text: &str) -> String {
    ByAuthor::of(text).own.join("\n")
}

/// Returns where in a text of the user's role programs wrote, in order.
#[must_use]
pub fn programs_in(text: &str) -> Vec<Range<usize>> {
    let parted = ByAuthor::of(text);
    let programs = parted.programs.into_iter();
    programs.map(|program| place_of(program, text)).collect()
}

/// Returns where a piece of a text is in it.
fn place_of(piece: &str, text: &str) -> Range<usize> {
    let start = piece.as_ptr().addr() - text.as_ptr().addr();
    start..start + piece.len()
}

/// Separates the texts of one message of the user's role by author: one result for each text, in order. Pass
/// an empty text for a part that is not text.
#[must_use]
pub fn by_author<'a>(texts: &[&'a str]) -> Vec<ByAuthor<'a>> {
    let mut separator = Separator::among(texts.iter().copied().enumerate());
    let texts = texts.iter().enumerate();
    texts
        .map(|(index, &text)| separator.separate(index, text))
        .collect()
}

/// Separates the texts of the user's role in one message one by one, by what came before each.
#[derive(Debug)]
pub struct Separator<'a> {
    files: files::Files,
    above: beginnings::Above<'a>,
}

impl<'a> Separator<'a> {
    /// For a message with these texts, each with its index among the parts.
    pub fn among<'t>(texts: impl Iterator<Item = (usize, &'t str)>) -> Self {
        Self {
            files: files::Files::among(texts),
            above: beginnings::Above::default(),
        }
    }

    /// Separates the text with this index. Texts have to be passed in their order.
    pub fn separate(&mut self, index: usize, text: &'a str) -> ByAuthor<'a> {
        let parted = match self.above.end(text) {
            0 => ByAuthor::of(text),
            end => ByAuthor::behind(text, end),
        };
        // Files do not begin in what a program wrote: an output may contain such a line. Pieces are in order,
        // and many.
        let is_own = |at: usize| {
            let next = parted
                .own
                .partition_point(|own| place_of(own, text).end <= at);
            let own = parted.own.get(next);
            own.is_some_and(|own| place_of(own, text).start <= at)
        };
        let Some([before, files, behind]) = self.files.split(index, text, is_own) else {
            return parted;
        };
        let [mut all, behind] = [before, behind].map(ByAuthor::of);
        all.programs.push(files);
        all.own.extend(behind.own);
        all.programs.extend(behind.programs);
        all
    }

    /// Something else than a text of the user's role stands here.
    pub fn pass(&mut self) {
        self.above = beginnings::Above::default();
    }
}

/// A text of the user's role, separated by author.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct ByAuthor<'a> {
    /// What the user said, in order.
    pub own: Vec<&'a str>,
    /// What programs wrote, in order.
    pub programs: Vec<&'a str>,
}

impl<'a> ByAuthor<'a> {
    /// Returns what the user said; `None` if that is nothing.
    #[must_use]
    pub fn own_words(&self) -> Option<String> {
        joined(&self.own)
    }

    /// Returns what programs wrote; `None` if that is nothing.
    #[must_use]
    pub fn by_programs(&self) -> Option<String> {
        joined(&self.programs)
    }

    fn of(text: &'a str) -> Self {
        // The first line of an excerpt is the host's; what it is about begins below it.
        let head = gaps::head_length(text);
        Self::behind(text, head + beginnings::end(&text[head..]))
    }

    /// Separates a text of which a program wrote all up to `at`.
    fn behind(text: &'a str, mut at: usize) -> Self {
        let mut parted = Self::default();
        if at > 0 {
            at = behind_notices(text, at);
            parted.programs.push(&text[..at]);
        }
        let mut tags = Tags { text, at };
        // The user's words between tags end with the closing one.
        let mut is_typed = false;
        // Families without a closing tag from here on, which need not be searched again.
        let mut unclosed: Vec<&str> = Vec::new();
        while let Some(tag) = tags.next() {
            let begins = !tag.closes && begins_line(&text[at..tag.start]);
            let end = match tag.holds {
                Typed if begins => {
                    is_typed = true;
                    tag.end
                }
                Typed if tag.closes && is_typed => {
                    is_typed = false;
                    tag.end
                }
                Output | Words if begins => {
                    let is_in_sentence = goes_on(&text[tag.end..]);
                    if is_in_sentence && unclosed.contains(&family(&tag)) {
                        continue;
                    }
                    match end_of(text, &tag) {
                        Some(end) => end,
                        // The user speaks of the tag.
                        None if is_in_sentence => {
                            unclosed.push(family(&tag));
                            continue;
                        }
                        // The text was cut off, and the rest was the program's too.
                        None => text.len(),
                    }
                }
                // The user speaks of the tag.
                _ => continue,
            };
            parted.own.push(&text[at..tag.start]);
            let mut begin = tag.start;
            if let Some(typed) = typed_late(text, &tag, end) {
                parted.programs.push(&text[begin..typed.start]);
                begin = typed.end;
                parted.own.push(&text[typed]);
            }
            parted.programs.push(&text[begin..end]);
            at = end;
            tags.at = end;
        }
        parted.own.push(&text[at..]);
        parted
    }
}

/// Joins the pieces that are not blank; `None` if all are.
fn joined(pieces: &[&str]) -> Option<String> {
    let pieces: Vec<&str> = pieces
        .iter()
        .map(|piece| piece.trim())
        .filter(|piece| !piece.is_empty())
        .collect();
    (!pieces.is_empty()).then(|| pieces.join("\n"))
}

/// Whether what follows `before` is at the beginning of a line, or directly after what a program wrote, which
/// ends where `before` begins.
fn begins_line(before: &str) -> bool {
    let mut back = before.chars().rev();
    back.find(|c| *c == '\n' || !c.is_whitespace())
        .is_none_or(|c| c == '\n')
}

/// Whether a sentence about a tag continues after it on the same line. A program writes its text directly
/// after the tag, or on a new line.
fn goes_on(behind: &str) -> bool {
    let said = behind.trim_start_matches([' ', '\t']);
    if said.len() == behind.len() {
        return said.starts_with([',', ':', ';']);
    }
    !said.is_empty() && !said.starts_with(['\r', '\n'])
}

/// Returns the end of a program's text that begins with `tag`; `None` if no closing tag ends it.
fn end_of(text: &str, tag: &Tag) -> Option<usize> {
    if tag.holds == Output {
        return end_of_outputs(text, tag.end).map(|end| behind_notices(text, end));
    }
    end_of_words(text, tag)
}

/// Returns the family of a tag: tags that the same closing tag can end.
fn family(tag: &Tag) -> &'static str {
    if tag.holds == Output { "" } else { tag.name }
}

/// Returns the end of outputs of which one begins before `at`: the last closing tag of any output.
fn end_of_outputs(text: &str, at: usize) -> Option<usize> {
    Tags { text, at }
        .filter(|tag| tag.closes && tag.holds == Output)
        .last()
        .map(|tag| tag.end)
}

/// Returns the end of a program's words that begin with `tag`: its closing tag. Superfluous closing tags
/// belong to them as well, from a text that the program quotes.
fn end_of_words(text: &str, tag: &Tag) -> Option<usize> {
    let mut depth = 1_usize;
    let mut end = None;
    let same = Tags { text, at: tag.end }.filter(|other| other.name == tag.name);
    for other in same {
        if other.closes {
            depth = depth.saturating_sub(1);
            end = Some(other.end);
        } else if depth == 0 {
            break;
        } else if begins_line(&text[tag.end..other.start]) {
            depth += 1;
        }
    }
    end
}

/// Returns the range of the user's own words in the reminder from `tag` to `end`: from below its first line
/// to the last words of the program, since the user may write such words, too.
fn typed_late(text: &str, tag: &Tag, end: usize) -> Option<Range<usize>> {
    if tag.name != REMINDER {
        return None;
    }
    let inside = text[tag.end..end].trim_start_matches(['\r', '\n']);
    let behind = TYPED_LATE
        .iter()
        .find_map(|line| inside.strip_prefix(*line))?;
    let typed = behind.trim_start_matches('\r').strip_prefix('\n')?;
    let start = end - typed.len();
    // Anything may follow a superfluous closing tag.
    let closing = Tags { text, at: start }.find(|other| other.closes && other.name == REMINDER);
    let typed = &text[start..closing.map_or(end, |closing| closing.start.min(end))];
    let behind = BEHIND_TYPED
        .iter()
        .find_map(|words| typed.rfind(*words))
        .unwrap_or(typed.len());
    Some(start..start + behind)
}

/// Returns the end of the lines that a program wrote directly after `end`.
fn behind_notices(text: &str, mut end: usize) -> usize {
    loop {
        let rest = text[end..].trim_start();
        if !NOTICES.iter().any(|notice| rest.starts_with(notice)) {
            return end;
        }
        end = text.len() - rest.len() + rest.find('\n').unwrap_or(rest.len());
    }
}

/// A tag of [`TAGS`] in a text.
struct Tag {
    start: usize,
    end: usize,
    name: &'static str,
    holds: TagContent,
    closes: bool,
}

/// Whether the tag with this name, and this behind it, is one of the table's.
fn is_of_table(known: &str, name: &str, behind: &str, closes: bool) -> bool {
    if let Some(start) = known.strip_suffix('*') {
        let head = name.get(..start.len());
        return head.is_some_and(|head| head.eq_ignore_ascii_case(start));
    }
    let (known, attribute) = known.split_once(' ').unwrap_or((known, ""));
    let ends = behind
        .chars()
        .next()
        .is_none_or(|c| matches!(c, '>' | '/') || c.is_whitespace());
    ends && known.eq_ignore_ascii_case(name)
        && (closes || behind.trim_start().starts_with(attribute))
}

/// The tags of [`TAGS`] in a text, from `at` on, in any case and with any attributes.
struct Tags<'a> {
    text: &'a str,
    at: usize,
}

impl Iterator for Tags<'_> {
    type Item = Tag;

    fn next(&mut self) -> Option<Tag> {
        loop {
            let start = self.at + self.text.get(self.at..)?.find('<')?;
            self.at = start + 1;
            let inside = &self.text[self.at..];
            let bare = inside.strip_prefix('/').unwrap_or(inside);
            let is_of_name = |c: char| c.is_ascii_alphanumeric() || matches!(c, '-' | '_');
            let length = bare.find(|c: char| !is_of_name(c)).unwrap_or(bare.len());
            let (name, behind) = bare.split_at(length);
            let closes = bare.len() < inside.len();
            // A text may consist of brackets: two letters, which all names have, exclude most of them.
            let [first, second, ..] = name.as_bytes() else {
                continue;
            };
            let begins = [first.to_ascii_lowercase(), second.to_ascii_lowercase()];
            let known = TAGS.iter().find(|(known, _)| {
                known.as_bytes().starts_with(&begins) && is_of_table(known, name, behind, closes)
            });
            let Some(&(name, holds)) = known else {
                continue;
            };
            // A bracket in an attribute, or none at the end, makes it no less a tag.
            let attributes = behind
                .find(['<', '>'])
                .filter(|at| behind[*at..].starts_with('>'))
                .map_or(0, |at| at + 1);
            self.at = self.text.len() - behind.len() + attributes;
            return Some(Tag {
                start,
                end: self.at,
                name,
                holds,
                closes,
            });
        }
    }
}
