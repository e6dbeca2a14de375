//! Shortens a text that must stay.

mod speakers;

use std::ops::Range;

use baler_digest::{mentions_error, pastes_in, reports_error, rules_in};
use baler_provenance::{own_words, programs_in};

use baler_conversation::json;
use baler_conversation::marks::{self, By, Purpose};

use crate::plan::excerpt::{Excerptable, text_of};
use crate::plan::gaps::{self, Body};
use crate::situation::Situation;
use crate::text_limits::{Kind, LongText};

/// Maximum bytes of a line that mentions an error.
const ERROR_LINE_BYTES: usize = 240;

/// Maximum bytes lost by cutting at a line break; also at most a quarter of the share. Otherwise the cut is
/// within a line, so that a text without line breaks keeps its two ends, and one of long lines is not cut to
/// nothing.
const LINE: usize = 120;

/// Share of an output for its first lines, and for its last ones. The rest is for errors.
const ENDS_OF_OUTPUT: (usize, usize) = (2, 5);

/// Share of a user's text for its first lines, and for its last ones. The rest is for its rules and pasted errors.
const ENDS_OF_MESSAGE: (usize, usize) = (1, 8);

/// Maximum number of lines of either kind that matter between the first and the last ones.
const MAX_LINES: usize = 40;

/// Maximum number of tries, each of which writes the text and counts its tokens. One try is enough if the
/// tokens are spread evenly over the bytes.
const TRIES: usize = 12;

/// Number of tries that scale the result of the previous try. Later tries halve the interval, which also
/// works if one part of the text has far more tokens for its bytes than another.
const GUESSES: usize = 4;

/// Returns a text in at most `cap` tokens, in its mark, and its tokens. `None` if it has no more than that
/// already, or would not become smaller.
pub(crate) fn shortened(situation: &Situation, long: &LongText, cap: u32) -> Option<(String, u32)> {
    let cap = long.limit_at(cap);
    if long.tokens <= cap {
        return None;
    }
    let conversation = &situation.conversation;
    let message = conversation.messages(long.unit).get(long.message)?;
    let part = message.parts.get(long.part)?;
    let site = message.site(part)?;
    let (text, earlier) = text_of(conversation, message, part)?;
    let Excerptable { head, body, .. } = Excerptable::of(situation, long.unit, &text, earlier);
    let choice = match long.kind {
        Kind::Users => Choice::of_user(&body),
        Kind::Unseen | Kind::Beside => Choice::of_output(&body),
    };
    let write = |room: usize| {
        let text = format!("{head}{}", choice.body_within(&body, room));
        let marked = marks::wrap(conversation.key(), Purpose::Excerpt, site, By::Host, &text);
        let tokens = conversation.tokenizer().count(&marked);
        (marked, tokens)
    };
    longest_that_fits(situation, long, cap, body.text.len(), &write)
        .or_else(|| Some(write(0)).filter(|(_, tokens)| *tokens < long.tokens))
}

/// Searches the longest text with at most `cap` tokens. `write` makes the text with a body of about the given
/// number of bytes, and counts its tokens; `length` are the bytes of the whole body. `None` if no text fits.
fn longest_that_fits(
    situation: &Situation,
    long: &LongText,
    cap: u32,
    length: usize,
    write: &impl Fn(usize) -> (String, u32),
) -> Option<(String, u32)> {
    // Bytes count only if the conversation has too many of them: otherwise a dense text may keep all of its
    // own.
    let is_over_bytes = situation.conversation.bytes() > situation.limits.bytes;
    let max_bytes = is_over_bytes.then(|| long.bytes_at(cap));
    // Bytes of a body that fits, and of one that is too large.
    let (mut low, mut high) = (0, length);
    let mut best: Option<(String, u32)> = None;
    let mut room = scaled(high, cap as usize, long.tokens as usize);
    for attempt in 0..TRIES {
        // Each try counts a text that may have megabytes.
        if situation.is_over() {
            break;
        }
        let (marked, tokens) = write(room);
        let bytes = max_bytes.map_or(0, |_| json::encode(&marked).len());
        let mut guess = scaled(room, cap as usize, tokens as usize);
        let mut is_full = is_most_of(tokens as usize, cap as usize);
        let mut fits = tokens <= cap;
        if let Some(max_bytes) = max_bytes {
            guess = guess.min(scaled(room, max_bytes, bytes));
            is_full |= is_most_of(bytes, max_bytes);
            fits &= bytes <= max_bytes;
        }
        if fits {
            low = room;
            if best.as_ref().is_none_or(|(_, best)| tokens > *best) {
                best = Some((marked, tokens));
            }
            if is_full {
                break;
            }
        } else {
            high = room;
        }
        let is_between = low < guess && guess < high;
        room = if attempt < GUESSES && is_between {
            guess
        } else {
            low + (high - low) / 2
        };
        if room == low {
            break;
        }
    }
    best
}

/// Scales `room` by `part / whole`, and a little less: tokens are not spread evenly over a text.
fn scaled(room: usize, part: usize, whole: usize) -> usize {
    let share = room as u128 * part as u128 / whole.max(1) as u128 * 15 / 16;
    usize::try_from(share).unwrap_or(usize::MAX)
}

/// Returns whether another try would gain little.
fn is_most_of(found: usize, most: usize) -> bool {
    found >= most / 8 * 7
}

/// What a shortened text keeps besides its first and last lines.
struct Choice {
    /// Lines that matter most, in order.
    lines: Vec<(usize, usize)>,
    /// Lines that matter next, in order.
    next: Vec<(usize, usize)>,
    /// Where the user's own sentences are, in order: neither a program's nor pasted.
    sentences: Vec<(usize, usize)>,
    /// Where programs wrote in a text of the user's role, in order.
    programs: Vec<Range<usize>>,
    /// The user's own words in it, if programs wrote there too.
    own: String,
    /// Shares of the text for its first and for its last lines.
    ends: (usize, usize),
    /// Where the section ends that comes before all others.
    section: usize,
}

impl Choice {
    /// Of an output: its errors, and the last line with a word for one. Other such lines are mostly source code.
    fn of_output(body: &Body<'_>) -> Self {
        let last = lines(body, ERROR_LINE_BYTES, mentions_error).pop();
        let mut lines = lines(body, ERROR_LINE_BYTES, reports_error);
        lines.extend(last);
        lines.sort_unstable();
        lines.dedup();
        Self {
            lines,
            next: Vec::new(),
            sentences: Vec::new(),
            programs: Vec::new(),
            own: String::new(),
            ends: ENDS_OF_OUTPUT,
            section: 0,
        }
    }

    /// Of a user's text: the user's sentences if all of them fit, then its rules, and then errors that were pasted. What
    /// programs wrote in it must not become the user's words.
    fn of_user(body: &Body<'_>) -> Self {
        let programs = programs_in(&body.text);
        // Binary search: a text may have many of both.
        let is_own = |at: usize| {
            let next = programs.partition_point(|program| program.end <= at);
            programs.get(next).is_none_or(|program| at < program.start)
        };
        let section = first_section(&body.text);
        let is_own_section = programs.first().is_none_or(|first| section <= first.start);
        let section = if is_own_section { section } else { 0 };
        let rules = rules_in(&body.text).into_iter();
        let rules = rules
            .map(|rule| (rule.start, rule.end))
            .filter(|(start, _)| is_own(*start))
            .collect();
        let own = if programs.is_empty() {
            String::new()
        } else {
            own_words(&body.text)
        };
        Self {
            lines: rules,
            next: match programs.is_empty() {
                true => lines(body, ERROR_LINE_BYTES, reports_error),
                false => Vec::new(),
            },
            sentences: sentences(&body.text, &programs),
            programs,
            own,
            ends: ENDS_OF_MESSAGE,
            section,
        }
    }

    /// Returns about `room` bytes of `body`: its first and last lines, and between them the newest of the
    /// lines that matter most, then of those that matter next.
    fn body_within(&self, body: &Body<'_>, room: usize) -> String {
        let text = &*body.text;
        if text.len() <= room {
            return text.to_owned();
        }
        let share = |(part, of): (usize, usize)| room * part / of;
        let first = front(body, share(self.ends));
        let last = first.max(back(body, share(self.ends)));
        let left = room.saturating_sub(first).saturating_sub(text.len() - last);
        let used = |lines: &[(usize, usize)]| -> usize {
            let bytes = lines.iter().map(|(start, end)| end - start + gaps::LENGTH);
            bytes.sum()
        };
        let sentences = within(&self.sentences, first..last);
        let all_fit = !sentences.is_empty() && used(&sentences) <= left;
        let mut lines = match all_fit {
            true => sentences,
            false => Vec::new(),
        };
        // A rule may look like a part of what was pasted.
        let left_for_rules = left.saturating_sub(used(&lines));
        let rules = newest(&self.lines, text, first..last, left_for_rules);
        lines.extend(apart(rules, &lines));
        lines.sort_unstable();
        let left_for_next = left.saturating_sub(used(&lines)) / 2;
        let next = newest(&self.next, text, first..last, left_for_next);
        let next = apart(next, &lines);
        lines.extend(next);
        lines.sort_unstable();
        // First and last lines get what the lines between them do not use.
        let used = used(&lines);
        let more = left.saturating_sub(used + 2 * gaps::LENGTH);
        let of_section = self.section.saturating_sub(share(self.ends));
        let of_section = if of_section <= more { of_section } else { 0 };
        let of_first = of_section.max(more / 2);
        let first = front(body, share(self.ends) + of_first);
        let last = first.max(back(body, share(self.ends) + more - of_first));
        let mut runs = Vec::with_capacity(lines.len() + 2);
        runs.push(0..first);
        runs.extend(
            lines
                .into_iter()
                .map(|(start, end)| start..end.min(last))
                .filter(|run| !run.is_empty()),
        );
        runs.push(last..text.len());
        let written = |runs: &[Range<usize>]| {
            let mut written = String::with_capacity(room + 4 * gaps::LENGTH);
            body.write(&mut written, runs);
            written
        };
        if self.programs.is_empty() {
            return written(&runs);
        }
        [
            speakers::with_tags(text, &runs, &self.programs),
            speakers::without_programs(&runs, &self.programs),
        ]
        .iter()
        .map(|runs| written(runs))
        .find(|written| speakers::keeps(&self.own, written))
        .unwrap_or_else(|| written(&[]))
    }
}

/// Returns where the user's own sentences are in a text, without the blank lines around them.
fn sentences(text: &str, programs: &[Range<usize>]) -> Vec<(usize, usize)> {
    let mut others = pastes_in(text);
    others.extend_from_slice(programs);
    others.sort_unstable_by_key(|other| other.start);
    others.push(text.len()..text.len());
    let mut found = Vec::new();
    let mut at = 0;
    for other in others {
        let own = text.get(at..other.start.max(at)).unwrap_or_default();
        let said = own.trim();
        if !said.is_empty() {
            let start = at + own.len() - own.trim_start().len();
            // With its line break, so that the gap begins a line.
            let behind = own[own.trim_end().len()..]
                .find('\n')
                .map_or(0, |end| end + 1);
            let end = at + own.trim_end().len() + behind;
            found.push((start, end));
        }
        at = at.max(other.end);
    }
    found
}

/// Returns those of `more` that overlap none of `lines`.
fn apart(more: Vec<(usize, usize)>, lines: &[(usize, usize)]) -> Vec<(usize, usize)> {
    let is_apart = |(start, end): &(usize, usize)| {
        let mut known = lines.iter();
        !known.any(|(from, to)| start < to && from < end)
    };
    more.into_iter().filter(is_apart).collect()
}

/// Returns the parts of these places within `between`.
fn within(places: &[(usize, usize)], between: Range<usize>) -> Vec<(usize, usize)> {
    let clipped = places
        .iter()
        .map(|(start, end)| (*start.max(&between.start), *end.min(&between.end)));
    clipped.filter(|(start, end)| start < end).collect()
}

/// Returns where the section ends that a text begins with, if it begins with a tag: in templates, what is to be done stands
/// there, and then how. 0 if it begins with anything else.
fn first_section(text: &str) -> usize {
    let end = || {
        let (name, _) = text.trim_start().strip_prefix('<')?.split_once('>')?;
        let is_name = |c: char| c.is_ascii_alphanumeric() || matches!(c, '_' | '-');
        let tag = format!("</{name}>");
        let end = text.find(&tag)? + tag.len();
        // First lines are cut at line breaks.
        let end = end + usize::from(text[end..].starts_with('\n'));
        let is_one_of_several = !text[end..].trim().is_empty();
        (is_one_of_several && name.chars().all(is_name)).then_some(end)
    };
    end().unwrap_or(0)
}

/// Returns the end of the first lines, in at most `room` bytes. A long line is cut.
fn front(body: &Body<'_>, room: usize) -> usize {
    let text = &*body.text;
    let end = text.floor_char_boundary(room.min(text.len()));
    let end = match text[..end].rfind('\n') {
        // A cut at a line break is worth the loss of a few bytes.
        Some(line) if end - line <= LINE.min(room / 4) => line + 1,
        _ => end,
    };
    body.end_at(end)
}

/// Returns the start of the last lines, in at most `room` bytes.
fn back(body: &Body<'_>, room: usize) -> usize {
    let text = &*body.text;
    let start = text.ceil_char_boundary(text.len() - room.min(text.len()));
    let start = match text[start..].find('\n') {
        Some(line) if line < LINE.min(room / 4) && start + line + 1 < text.len() => {
            start + line + 1
        }
        _ => start,
    };
    body.start_at(start)
}

/// Returns where the lines of a text are that `matters` says matter, each cut to `most` bytes.
fn lines(body: &Body<'_>, most: usize, matters: impl Fn(&str) -> bool) -> Vec<(usize, usize)> {
    let text = &*body.text;
    let mut found = Vec::new();
    let mut start = 0;
    for line in text.split_inclusive('\n') {
        let is_gap = Body::is_gap(line);
        // Many programs wrap an output in JSON, where its line breaks are escaped.
        for line in line.split_inclusive("\\n") {
            let end = start + line.len();
            if !is_gap && matters(line) {
                found.push((start, text.floor_char_boundary(end.min(start + most))));
            }
            start = end;
        }
    }
    found
}

/// Returns the last of these lines within `between` that fit `room` bytes, in the order of the text. The very
/// last one is probably what the model works on, so it is cut rather than left out.
fn newest(
    errors: &[(usize, usize)],
    text: &str,
    between: Range<usize>,
    room: usize,
) -> Vec<(usize, usize)> {
    let mut found = Vec::new();
    let mut left = room;
    let count = errors.partition_point(|(start, _)| *start < between.end);
    for (start, end) in errors[..count].iter().rev() {
        let (start, end) = (*start.max(&between.start), *end.min(&between.end));
        if end <= start || left < gaps::LENGTH || found.len() == MAX_LINES {
            break;
        }
        let (end, cost) = if found.is_empty() {
            let end = text.floor_char_boundary(end.min(start + left));
            (end, end - start)
        } else {
            (end, end - start + gaps::LENGTH)
        };
        if cost > left {
            break;
        }
        left -= cost;
        found.push((start, end));
    }
    found.reverse();
    found
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::request::Request;
    use baler_conversation::Format;

    fn output_within(text: &str, room: usize) -> String {
        let body = Body::whole(text);
        Choice::of_output(&body).body_within(&body, room)
    }

    #[test]
    fn of_an_output_reports_of_errors_stay_and_source_code_does_not() {
        let source =
            "    let error = tide();\n    if failed(error) {\n        sound();\n    }\n".repeat(40);
        let quiet = "all is quiet\n".repeat(60);
        let report = "src/tide.rs:4:1: E12 no tide";
        let shown = output_within(&format!("{source}{report}\n{source}{quiet}"), 900);
        assert!(shown.contains(report), "{shown}");
        // The beginning stays, whatever it is.
        let (_, behind) = shown.split_once("left out").unwrap_or_default();
        assert!(!behind.contains("failed(error)"), "{shown}");
        assert!(behind.ends_with("quiet\n"), "{shown}");
    }

    #[test]
    fn of_a_users_text_rules_come_first_and_then_pasted_errors() {
        let talk = "The tide is low and the quay is dry today.\n".repeat(40);
        let text = format!(
            "{talk}Never moor at pier 5.\n{talk}bench/tide.py:399:58: E226 missing space\n{talk}"
        );
        let body = Body::whole(&text);
        let shown = |room: usize| Choice::of_user(&body).body_within(&body, room);
        for line in [
            "Never moor at pier 5.",
            "bench/tide.py:399:58: E226 missing space",
        ] {
            assert!(shown(700).contains(line), "{}", shown(700));
        }
        let small = shown(90);
        assert!(small.contains("Never moor at pier 5."), "{small}");
        assert!(!small.contains("E226"), "{small}");
    }

    #[test]
    fn rule_that_looks_like_a_part_of_what_was_pasted_stays_beside_sentences() {
        let log = |from: usize| -> String {
            let line = |at: usize| format!("10:{at}:00 gauge={at} depth=4.{at}m\n");
            (from..from + 60).map(line).collect()
        };
        let rule = "NEVER edit src/gen/*.rs (see build.rs:42)!";
        let text = format!("{}\nNote this one.\n{rule}\n\n{}", log(0), log(60));
        let body = Body::whole(&text);
        let shown = Choice::of_user(&body).body_within(&body, 900);
        assert!(shown.contains("Note this one."), "{shown}");
        assert!(shown.contains(rule), "{shown}");
    }

    #[test]
    fn the_section_that_a_template_begins_with_comes_before_its_end() {
        let how = "The tide is low and the quay is dry today.\n".repeat(40);
        let task = "The quay is wet.\n".repeat(20);
        let text = format!("<task>\n{task}Mend the sluice.\n</task>\n<how>\n{how}</how>\n");
        let shown = |text: &str| {
            let body = Body::whole(text);
            Choice::of_user(&body).body_within(&body, 700)
        };
        assert!(shown(&text).contains("Mend the sluice.\n</task>"));
        let untagged = text.replace("<task>", "Task:");
        assert!(!shown(&untagged).contains("Mend the sluice."));
        for text in [
            "",
            "<",
            "<a>",
            "<a>x</a>\n",
            "<a b>x</a b>",
            "< a>x</ a>",
            "x<a></a>",
        ] {
            assert_eq!(first_section(text), 0, "{text}");
        }
        assert_eq!(first_section("\n<a_b>x</a_b>y"), 13);
    }

    /// Shortens an output of this text, the newest of a conversation, to each of `caps`, and returns the
    /// tokens.
    fn shortened_to(text: &str, caps: impl Fn(u32) -> Vec<u32>) -> Vec<(u32, Option<u32>)> {
        let call =
            json!({"id": "a", "type": "function", "function": {"name": "f", "arguments": "{}"}});
        let body = json!({"model": "gpt-4o", "messages": [
            {"role": "user", "content": "Sound the harbour."},
            {"role": "assistant", "content": null, "tool_calls": [call]},
            {"role": "tool", "tool_call_id": "a", "content": text}]});
        let conversation = crate::sample::conversation(&body.to_string(), Some(Format::OpenAiChat))
            .expect("reads");
        let situation = Situation::new(&conversation, &Request::default(), false);
        let output = situation.stay.shortening.texts()[0];
        let tokens = |cap| {
            let (text, tokens) = shortened(&situation, &output, cap)?;
            assert_eq!(conversation.tokenizer().count(&text), tokens);
            Some(tokens)
        };
        let caps = caps(output.tokens).into_iter();
        caps.map(|cap| (cap, tokens(cap))).collect()
    }

    /// A part of the text has a hundred times as many tokens for its bytes as the rest.
    #[test]
    fn text_of_two_densities_is_shortened_to_half_of_its_cap_at_least() {
        let digits = |number: u64| number.wrapping_mul(0x9e37_79b9_7f4a_7c15);
        let dense = |lines: u64| -> String {
            (0..lines)
                .map(|line| format!("{:016x}{:016x}\n", digits(line), digits(line + lines)))
                .collect()
        };
        let sparse = |lines: usize| format!("{}\n", "=".repeat(200)).repeat(lines);
        for (few, many) in [(40, 50), (40, 500), (400, 100)] {
            let (dense, sparse) = (dense(few), sparse(many));
            for text in [
                format!("{dense}{sparse}"),
                format!("{sparse}{dense}"),
                format!("{sparse}{dense}{sparse}"),
                format!("{dense}{sparse}{dense}"),
            ] {
                let caps = |whole: u32| -> Vec<u32> {
                    let least = crate::text_limits::LEAST_TOKENS;
                    assert!(whole > least, "{few} and {many} lines have {whole} tokens");
                    let step = (whole - least).div_ceil(11).max(1);
                    (least..whole).step_by(step as usize).collect()
                };
                for (cap, tokens) in shortened_to(&text, caps) {
                    let tokens = tokens.expect("it has more");
                    assert!(
                        tokens <= cap && tokens >= cap / 2,
                        "{few} and {many} lines, {cap}: {tokens}"
                    );
                }
            }
        }
    }

    #[test]
    fn last_error_line_is_kept_though_not_all_of_them_fit() {
        let mut lines: Vec<String> = (0..300).map(|row| format!("row {row}")).collect();
        for (row, line) in lines.iter_mut().enumerate().take(151).skip(100) {
            *line = format!("error: berth {row} has no depth in the chart, and nobody sounded it");
        }
        let text = lines.join("\n");
        for room in [300, 900] {
            let body = output_within(&text, room);
            assert!(body.len() < room + 100, "{}", body.len());
            assert!(
                body.contains("error: berth 150 has no depth in the"),
                "{body}"
            );
            assert!(!body.contains("error: berth 100 "), "{body}");
        }
    }

    #[test]
    fn error_line_of_an_output_that_is_wrapped_in_json_is_kept() {
        let mut lines: Vec<String> = (0..300)
            .map(|row| format!("row {row} of the chart"))
            .collect();
        lines[150] = "error: berth 150 has no depth".to_owned();
        let text = json!({"output": lines.join("\n"), "metadata": {"exit_code": 1}}).to_string();
        let body = output_within(&text, 900);
        assert!(body.len() < 1_000, "{}", body.len());
        assert!(body.contains("error: berth 150 has no depth"), "{body}");
    }

    #[test]
    fn rule_within_a_long_paragraph_is_kept_as_a_whole() {
        let tide = "The tide turns twice a day, and the boats wait for it at the quay. ".repeat(40);
        let rule = "Never moor at berth 19 when the wind comes\nfrom the north.";
        let text = format!("Sound the harbour.\n{tide}{rule} {tide}\nBegin at noon.");
        let body = Body::whole(&text);
        let kept = Choice::of_user(&body).body_within(&body, 600);
        assert!(kept.len() < 700, "{}", kept.len());
        assert!(kept.contains(rule), "{kept}");
        assert!(kept.starts_with("Sound the harbour.\n"), "{kept}");
        assert!(kept.ends_with("Begin at noon."), "{kept}");
    }

    #[test]
    fn body_keeps_first_last_and_error_lines_verbatim() {
        let mut lines: Vec<String> = (0..500).map(|line| format!("line {line} 平穏")).collect();
        lines[250] = "error[E0308]: mismatched types".to_owned();
        let text = lines.join("\n");
        let body = output_within(&text, 900);
        assert!(body.len() < 1_000, "{}", body.len());
        assert!(body.starts_with("line 0 平穏\nline 1 平穏\n"), "{body}");
        assert!(body.ends_with("line 498 平穏\nline 499 平穏"), "{body}");
        assert!(
            body.contains("\nerror[E0308]: mismatched types\n"),
            "{body}"
        );
        for line in body.lines().filter(|line| !line.starts_with("[…")) {
            assert!(lines.iter().any(|own| own == line), "{line}");
        }
    }

    #[test]
    fn body_says_how_much_is_missing_between_two_lines() {
        let text: String = (0..100).map(|line| format!("{line}\n")).collect();
        let body = output_within(&text, 150);
        let kept = body.lines().filter(|line| !line.starts_with('[')).count();
        let missing: usize = body
            .lines()
            .filter_map(|line| {
                line.strip_prefix("[… ")?
                    .split(' ')
                    .next()?
                    .parse::<usize>()
                    .ok()
            })
            .sum();
        assert_eq!(kept + missing, 100, "{body}");
    }

    #[test]
    fn gaps_of_a_body_that_is_shortened_again_and_again_add_up_to_the_whole() {
        let joined = |line: &dyn Fn(usize) -> String| -> String { (0..300).map(line).collect() };
        let crlf = joined(&|row| format!("row {row} 平穏\r\n"));
        let long = "日本".repeat(3_000);
        let gaps = joined(&|row| format!("[… {row} lines, 700 bytes left out …]\n"));
        let errors = joined(&|row| format!("error: row {row} [… 5 bytes left out …]\n"));
        let mixed = format!("{crlf}{long}\n\\{gaps}{long}{errors}{gaps}");
        for text in [crlf, long, gaps, errors, mixed] {
            let mut written: Option<String> = None;
            for room in [9_000, 4_000, 2_001, 900, 303, 60, 0] {
                let next = {
                    let body = match &written {
                        Some(written) => Body::shortened_before(written),
                        None => Body::whole(&text),
                    };
                    Choice::of_output(&body).body_within(&body, room)
                };
                let all = Body::shortened_before(&next).missing(0..next.len());
                assert_eq!(all.bytes, text.len(), "{room}: {next}");
                written = Some(next);
            }
        }
    }

    #[test]
    fn body_of_one_long_line_keeps_its_two_ends() {
        let text = format!("begin{}end", "日本".repeat(10_000));
        let body = output_within(&text, 300);
        assert!(body.starts_with("begin") && body.ends_with("end"), "{body}");
        assert!(body.len() < 400, "{}", body.len());
    }

    #[test]
    fn body_without_room_is_one_gap() {
        let text = "a line\n".repeat(20);
        assert_eq!(
            output_within(&text, 0),
            "[… 20 lines, 140 bytes left out …]\n"
        );
    }
}
