//! The shortened text of an output.

use baler_digest::tells_of_error;

use super::UnseenOutput;
use crate::conversation::message::Content;
use crate::formats::json;
use crate::marks::{self, By, Purpose};
use crate::situation::Situation;

/// Lines above this size are taken apart, so that a text without line breaks has a first and a
/// last line too.
const PIECE: usize = 240;

/// Shares of the text for its first and its last lines; the rest is for lines that tell of errors.
const FIRST: (usize, usize) = (2, 5);
const LAST: (usize, usize) = (2, 5);

/// The most error lines between the first and the last ones.
const ERRORS: usize = 40;

/// Bytes of a line that says how many were left out.
const GAP: usize = 32;

/// How often the text is made again where it has more tokens for its bytes than the whole had.
const TRIES: usize = 8;

/// What the first line of a shortened output begins with.
const HEAD: &str = "[This output was too long for the context window and is shortened";

/// The text of an output in at most `cap` tokens, in its mark; none where it has no more already,
/// or would not become smaller.
pub(crate) fn shortened(situation: &Situation, output: &UnseenOutput, cap: u32) -> Option<String> {
    if output.tokens <= cap {
        return None;
    }
    let conversation = &situation.conversation;
    let message = conversation.messages(output.unit).get(output.message)?;
    let part = message.parts.get(output.part)?;
    let site = message.site(part)?;
    let Content::Output(found) = &part.content else {
        return None;
    };
    let opened = conversation.opened(message, part);
    let was_shortened = opened
        .as_ref()
        .is_some_and(|mark| mark.is_hosts && mark.purpose == Purpose::Rewritten);
    let text = match opened {
        Some(opened) => opened.text,
        None => found.text(conversation.source()).into_owned(),
    };
    let (head, body) = head(situation, output, &text, was_shortened);
    let most = output.bytes_at(cap);
    let write = |room: usize| {
        let text = format!("{head}{}", body_within(body, room));
        marks::wrap(
            conversation.key(),
            Purpose::Rewritten,
            site,
            By::Host,
            &text,
        )
    };
    let whole = text.len().max(1) as u128;
    let mut room = (whole * u128::from(cap) / u128::from(output.tokens)) as usize;
    for _ in 0..TRIES {
        let marked = write(room);
        let tokens = conversation.tokenizer().count(&marked);
        let bytes = json::encode(&marked).len();
        if tokens <= cap && bytes <= most {
            return (tokens < output.tokens).then_some(marked);
        }
        let by_tokens = room as u128 * u128::from(cap) / u128::from(tokens.max(1));
        let by_bytes = room as u128 * most as u128 / bytes.max(1) as u128;
        room = (by_tokens.min(by_bytes).min(room as u128) as usize) / 16 * 15;
    }
    let marked = write(0);
    (conversation.tokenizer().count(&marked) < output.tokens).then_some(marked)
}

/// What stands above the lines that are left, and the lines. A text that the host shortened before
/// keeps the line with the reference to the whole. Who else begins like that gets a line above it.
fn head<'a>(
    situation: &Situation,
    output: &UnseenOutput,
    text: &'a str,
    was_shortened: bool,
) -> (String, &'a str) {
    if was_shortened
        && text.starts_with(HEAD)
        && let Some((head, body)) = text.split_once('\n')
    {
        return (format!("{head}\n"), body);
    }
    let reference = situation
        .reference(output.unit)
        .map(|reference| format!("; whole: {reference}"))
        .unwrap_or_default();
    (format!("{HEAD}{reference}]\n"), text)
}

/// At most about `room` bytes of `text`: its first and its last lines, and lines between them
/// that tell of errors.
fn body_within(text: &str, room: usize) -> String {
    if text.len() <= room {
        return text.to_owned();
    }
    let share = |(part, of): (usize, usize)| room * part / of;
    let front = front(text, share(FIRST));
    let back = front.max(back(text, share(LAST)));
    let between = &text[front..back];
    let left = room
        .saturating_sub(front)
        .saturating_sub(text.len() - back)
        .saturating_sub(2 * GAP);
    let mut written = String::with_capacity(room + 4 * GAP);
    written.push_str(&text[..front]);
    let mut at = 0;
    for (start, end) in error_lines(between, left) {
        gap(&mut written, &between[at..start]);
        written.push_str(&between[start..end]);
        at = end;
    }
    gap(&mut written, &between[at..]);
    written.push_str(&text[back..]);
    written
}

/// Says how much was left out, where something was.
fn gap(written: &mut String, left_out: &str) {
    if left_out.is_empty() {
        return;
    }
    if !written.is_empty() && !written.ends_with('\n') {
        written.push('\n');
    }
    let lines = left_out.matches('\n').count();
    let amount = match lines {
        0 | 1 => format!("{} bytes", left_out.len()),
        _ => format!("{lines} lines"),
    };
    written.push_str(&format!("[… {amount} left out …]\n"));
}

/// The end of the lines that `text` begins with, in at most `room` bytes; of a long line its
/// beginning.
fn front(text: &str, room: usize) -> usize {
    let end = text.floor_char_boundary(room.min(text.len()));
    match text[..end].rfind('\n') {
        // A line break near the end is worth more than the rest of a line.
        Some(line) if end - line <= PIECE => line + 1,
        _ => end,
    }
}

/// The start of the lines that `text` ends with, in at most `room` bytes.
fn back(text: &str, room: usize) -> usize {
    let start = text.ceil_char_boundary(text.len() - room.min(text.len()));
    match text[start..].find('\n') {
        Some(line) if line < PIECE && start + line + 1 < text.len() => start + line + 1,
        _ => start,
    }
}

/// Lines that tell of errors, the last ones first in the choice, in the order of the text.
fn error_lines(text: &str, room: usize) -> Vec<(usize, usize)> {
    let mut found = Vec::new();
    let mut left = room;
    let mut end = text.len();
    for line in text.split_inclusive('\n').rev() {
        let start = end - line.len();
        if tells_of_error(line) {
            let stop = text.floor_char_boundary((start + PIECE).min(end));
            let cost = stop - start + GAP;
            if cost > left || found.len() == ERRORS {
                break;
            }
            left -= cost;
            found.push((start, stop));
        }
        end = start;
    }
    found.reverse();
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn body_keeps_first_last_and_error_lines_verbatim() {
        let mut lines: Vec<String> = (0..500).map(|line| format!("line {line} 平穏")).collect();
        lines[250] = "error[E0308]: mismatched types".to_owned();
        let text = lines.join("\n");
        let body = body_within(&text, 900);
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
        let body = body_within(&text, 150);
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
    fn body_of_one_long_line_keeps_its_two_ends() {
        let text = format!("begin{}end", "日本".repeat(10_000));
        let body = body_within(&text, 300);
        assert!(body.starts_with("begin") && body.ends_with("end"), "{body}");
        assert!(body.len() < 400, "{}", body.len());
    }

    #[test]
    fn body_without_room_is_one_gap() {
        assert_eq!(body_within("a\nb\nc\n", 0), "[… 3 lines left out …]\n");
    }
}
