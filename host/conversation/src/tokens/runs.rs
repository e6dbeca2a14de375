//! Long texts, which are counted in pieces. Runs without a word break such as base64 are counted by samples;
//! others, of white space, punctuation or letters of any script, are cut within.
//!
//! A vocabulary takes a second for a few megabytes of such runs. They hold no words whose exact number of tokens
//! would matter. And for each white space outside ASCII (or, DeepSeek's, before a digit) it looks through all
//! the rest that it got, so it may only get a little. No timeout covers the host's own counting.

use std::ops::Range;

/// Bytes from which on a run is sampled, and of the longest piece.
const LONG: usize = 4_096;

/// Bytes from which on a piece ends as soon as it can.
const PIECE: usize = 1_024;

/// Number of samples of a run, and the bytes of each.
const SAMPLES: usize = 8;
const SAMPLE: usize = 256;

/// Tokens of `text`, by the counts of its pieces.
pub(super) fn count(text: &str, exactly: impl Fn(&str) -> u64) -> u64 {
    if text.len() < LONG {
        return exactly(text);
    }
    let mut tokens = 0;
    let mut at = 0;
    for run in long_runs(text.as_bytes()) {
        tokens += in_pieces(text.get(at..run.start).unwrap_or_default(), &exactly);
        tokens += sampled(text.get(run.clone()).unwrap_or_default(), &exactly);
        at = run.end;
    }
    tokens + in_pieces(text.get(at..).unwrap_or_default(), &exactly)
}

/// Tokens of a text in pieces, of which none is longer than [`LONG`]. A piece of a long run is mostly the one
/// before it.
fn in_pieces(text: &str, exactly: &impl Fn(&str) -> u64) -> u64 {
    let mut tokens = 0;
    let mut last = ("", 0);
    let mut rest = text;
    while !rest.is_empty() {
        let (piece, behind) = rest.split_at(cut(rest));
        if piece != last.0 {
            last = (piece, exactly(piece));
        }
        tokens += last.1;
        rest = behind;
    }
    tokens
}

/// Where the first piece of a text ends: where every vocabulary parts two tokens. Where there is no such place a
/// cut may part a token, and so adds a few.
fn cut(text: &str) -> usize {
    if text.len() <= LONG {
        return text.len();
    }
    let from = text.ceil_char_boundary(PIECE);
    let end = text.floor_char_boundary(LONG);
    first_boundary(&text[from..end]).map_or(end, |boundary| from + boundary)
}

/// The first place in a text where every vocabulary parts two tokens.
fn first_boundary(text: &str) -> Option<usize> {
    let mut characters = text.char_indices();
    let (_, mut before) = characters.next()?;
    for (at, after) in characters {
        if is_boundary(before, after) {
            return Some(at);
        }
        before = after;
    }
    None
}

/// Whether no token goes from one of these characters to the other. In doubt it may.
///
/// In every vocabulary white space is at most the beginning of a token, or all of it, but for the line breaks and
/// slashes that end punctuation. That the text goes on matters to the token before only where that is white space,
/// and then not after a line break; the vocabularies of GPT-3 alone part that one from the white space before it.
fn is_boundary(before: char, after: char) -> bool {
    let is_letter = |character: char| {
        character.is_ascii_alphanumeric()
            || matches!(character, 'ぁ'..='ゖ' | 'ァ'..='ヺ' | '一'..='\u{9fff}' | '가'..='힣')
    };
    match (before, after) {
        // Punctuation goes on over line breaks and slashes after it.
        (_, '\r' | '\n') => is_letter(before),
        _ if after.is_whitespace() => !before.is_whitespace(),
        ('\n', _) => after != '/',
        // `'s` belongs to its word.
        _ => {
            let ends_word = after.is_ascii_punctuation() && after != '\'';
            is_letter(before) && (ends_word || matches!(after, '、' | '。' | '，' | '？' | '！'))
        }
    }
}

/// The runs of at least [`LONG`] bytes of letters, digits and what base64 has beside them.
fn long_runs(bytes: &[u8]) -> Vec<Range<usize>> {
    let is_inside =
        |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'+' | b'/' | b'=' | b'-' | b'_');
    let mut runs = Vec::new();
    let mut at = 0;
    // A long run has something at every LONG / 2 bytes: so most of a text is never looked at.
    while at < bytes.len() {
        if !is_inside(bytes[at]) {
            at += LONG / 2;
            continue;
        }
        let start = bytes[..at]
            .iter()
            .rposition(|byte| !is_inside(*byte))
            .map_or(0, |before| before + 1);
        let end = bytes[at..]
            .iter()
            .position(|byte| !is_inside(*byte))
            .map_or(bytes.len(), |length| at + length);
        if end - start >= LONG {
            runs.push(start..end);
        }
        at = end + LONG / 2;
    }
    runs
}

fn sampled(run: &str, exactly: &impl Fn(&str) -> u64) -> u64 {
    let step = (run.len() - SAMPLE) / (SAMPLES - 1);
    let tokens: u64 = (0..SAMPLES)
        .map(|sample| {
            let start = sample * step;
            exactly(run.get(start..start + SAMPLE).unwrap_or_default())
        })
        .sum();
    tokens * run.len() as u64 / (SAMPLES * SAMPLE) as u64
}

#[cfg(test)]
mod tests {
    use super::*;

    fn exactly(text: &str) -> u64 {
        exactly_by("o200k_base", text)
    }

    fn exactly_by(vocabulary: &str, text: &str) -> u64 {
        tiktoken::get_encoding(vocabulary).map_or(0, |encoding| encoding.count(text) as u64)
    }

    /// Letters and digits without order, as base64 has them.
    fn base64(bytes: usize) -> String {
        const DIGITS: &[u8] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
        let mut state = 1u64;
        (0..bytes)
            .map(|_| {
                state ^= state << 13;
                state ^= state >> 7;
                state ^= state << 17;
                char::from(DIGITS[(state >> 33) as usize % 64])
            })
            .collect()
    }

    #[test]
    fn long_run_is_counted_nearly_as_if_it_were_counted_whole() {
        for run in [base64(30_000), "a".repeat(20_000), "0f3e".repeat(5_000)] {
            let text = format!("The picture is {run} and ends there.");
            let (by_samples, whole) = (count(&text, exactly), exactly(&text));
            let off = by_samples.abs_diff(whole) as f64 / whole as f64;
            assert!(off < 0.05, "{by_samples} for {whole}");
        }
    }

    #[test]
    fn text_with_words_is_counted_exactly() {
        let text = "Überall dieselbe Tarif-Tabelle: 日本語 🦀, parse(&input[41..])?\n".repeat(400);
        assert_eq!(count(&text, exactly), exactly(&text));
        let lines = format!("{}\n", base64(76)).repeat(400);
        assert_eq!(count(&lines, exactly), exactly(&lines));
    }

    #[test]
    fn long_runs_of_any_kind_are_counted_in_short_pieces() {
        for run in [
            " ", "\n", "<", "潮", "🦀", "e\u{301}", "\u{a0} ", "Ⓐ!", " \t",
        ] {
            let run = run.repeat(100_000 / run.len());
            let text = format!("The picture is {run} and ends there.");
            let longest = std::cell::Cell::new(0);
            let by_pieces = count(&text, |piece| {
                longest.set(longest.get().max(piece.len()));
                exactly(piece)
            });
            // After the last cut the ordinary words follow.
            assert!(longest.get() < 2 * LONG, "{} of {run:.4}", longest.get());
            let cuts = (text.len() / LONG + 1) as u64;
            let off = by_pieces.abs_diff(exactly(&text));
            assert!(off <= cuts * 4, "{off} off in {run:.4}");
        }
    }

    #[test]
    fn cut_between_words_changes_no_count() {
        for vocabulary in ["o200k_base", "cl100k_base", "deepseek_v3"] {
            for words in [
                "Wort\u{a0}% ",
                "</ab>\u{a0}",
                "港口\u{3000}7",
                "ab\u{2028}- ",
                "name    12\n",
                "ab  日",
                "{\r\n\r\n\tif (a) {}\n",
                "}\n\n}\n",
                "It's 5 o'clock.\n",
            ] {
                let text = words.repeat(20_000 / words.len());
                let pieces = std::cell::Cell::new(0);
                let tokens = count(&text, |piece| {
                    pieces.set(pieces.get() + 1);
                    exactly_by(vocabulary, piece)
                });
                assert!(tokens > 0 && pieces.get() > 1, "{words:?}");
                let whole = exactly_by(vocabulary, &text);
                assert_eq!(tokens, whole, "{words:?} by {vocabulary}");
            }
        }
    }

    #[test]
    fn vocabulary_never_gets_a_long_text() {
        // After each such white space it looks through all that it got.
        for (vocabulary, word, next) in [
            ("o200k_base", "</ab>", "\u{a0}</ab>"),
            ("o200k_base", "港口", "\u{3000}7 港口"),
            ("deepseek_v3", "ab", "  1ab"),
        ] {
            let text = format!("{word}{}", next.repeat(50_000));
            let longest = std::cell::Cell::new(0);
            let tokens = count(&text, |piece| {
                longest.set(longest.get().max(piece.len()));
                exactly_by(vocabulary, piece)
            });
            assert!(longest.get() <= LONG, "{} of {next:?}", longest.get());
            let by_words = exactly_by(vocabulary, word) + 50_000 * exactly_by(vocabulary, next);
            assert!(tokens >= 50_000);
            assert_eq!(tokens, by_words, "{next:?}");
        }
    }

    #[test]
    fn equal_pieces_are_counted_once() {
        let calls = std::cell::Cell::new(0);
        let tokens = count(&" ".repeat(LONG * 100), |_| {
            calls.set(calls.get() + 1);
            7
        });
        assert_eq!((tokens, calls.get()), (700, 1));
    }

    #[test]
    fn runs_are_found_wherever_they_lie() {
        let run = "x".repeat(LONG);
        for (before, after) in [(0, 0), (1, 1), (2_047, 3), (2_048, 5_000), (5_000, 2_049)] {
            let text = format!("{}{run}{}", " ".repeat(before), " ".repeat(after));
            assert_eq!(
                long_runs(text.as_bytes()),
                std::slice::from_ref(&(before..before + LONG)),
                "{before}, {after}"
            );
        }
        assert!(long_runs("x".repeat(LONG - 1).as_bytes()).is_empty());
    }
}
