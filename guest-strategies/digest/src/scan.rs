//! Finds names in text: words that no dictionary holds.

/// Most bytes of a name. Longer words are encoded data or lines without spaces.
const LONGEST: usize = 120;

/// Iterates the names in a text, in order, with repetitions: paths and file names, addresses, symbols, ids,
/// and numbers of three and more digits. Keys of JSON are left out: they are the structure of data and not
/// data.
pub(crate) fn names(text: &str) -> impl Iterator<Item = &str> {
    Chunks { text, at: 0 }.flat_map(Chunk::names)
}

/// A run of characters that can be part of a name.
#[derive(Debug, Clone, Copy)]
struct Chunk<'a> {
    text: &'a str,
    /// Whether it is the key of a JSON member.
    is_key: bool,
    /// Whether it is one word of letters, digits and `_`.
    is_word: bool,
}

struct Chunks<'a> {
    text: &'a str,
    at: usize,
}

impl<'a> Iterator for Chunks<'a> {
    type Item = Chunk<'a>;

    fn next(&mut self) -> Option<Chunk<'a>> {
        let bytes = self.text.as_bytes();
        let belongs = |byte: &u8| KINDS[*byte as usize] != 0;
        loop {
            // Most words are plain and not names.
            let special = next_special(bytes, self.at)?;
            let before = bytes[self.at..special].iter().rev();
            let mut start = special - before.take_while(|byte| belongs(byte)).count();
            // Escapes of JSON within JSON: `\n` is not a letter of the word after it.
            let escapes = bytes[self.at..start].iter().rev();
            let escapes = escapes.take_while(|byte| **byte == b'\\').count();
            start += escapes % 2;
            let mut end = special;
            let mut kinds = 0;
            while let Some(byte) = bytes.get(end).filter(|byte| belongs(byte)) {
                kinds |= KINDS[*byte as usize];
                end += 1;
            }
            self.at = end;
            if start > special && next_special(&bytes[..end], start).is_none() {
                continue;
            }
            if end - start < 3 || end - start > 4 * LONGEST {
                continue;
            }
            let is_key = start > 0
                && bytes[start - 1] == b'"'
                && bytes.get(end) == Some(&b'"')
                && bytes.get(end + 1) == Some(&b':');
            return Some(Chunk {
                text: &self.text[start..end],
                is_key,
                is_word: kinds & JOINT == 0,
            });
        }
    }
}

/// Bytes that are compared at once.
const BLOCK: usize = 16;

/// Returns where the next byte is that can be part of a name and is not a lower-case letter.
fn next_special(bytes: &[u8], mut at: usize) -> Option<usize> {
    // As comparisons, of which a processor makes many at once; the table says the same.
    let is_special = |byte: u8| {
        byte.wrapping_sub(b'-') <= b':' - b'-'
            || byte.wrapping_sub(b'@') <= b'Z' - b'@'
            || byte == b'_'
            || byte == b'#'
    };
    while let Some(block) = bytes.get(at..at + BLOCK)
        && !block
            .iter()
            .fold(false, |any, byte| any | is_special(*byte))
    {
        at += BLOCK;
    }
    let rest = bytes.get(at..)?.iter();
    let special = rest
        .clone()
        .position(|byte| KINDS[*byte as usize] > PLAIN)?;
    Some(at + special)
}

/// Kinds of bytes that can be part of a name: lower-case letters, what else a word can have, and what joins words. Other
/// scripts separate words, as all other bytes do.
const PLAIN: u8 = 1;
const OF_WORD: u8 = 2;
const JOINT: u8 = 4;

/// The kind of each byte; 0 if it separates words.
static KINDS: [u8; 256] = {
    let mut kinds = [0; 256];
    let mut byte = 0;
    while byte < 256 {
        kinds[byte] = match byte as u8 {
            b'a'..=b'z' => PLAIN,
            b'A'..=b'Z' | b'0'..=b'9' | b'_' => OF_WORD,
            b'/' | b'.' | b'@' | b'-' | b':' | b'#' => JOINT,
            _ => 0,
        };
        byte += 1;
    }
    kinds
};

impl<'a> Chunk<'a> {
    fn names(self) -> Found<'a> {
        if self.is_word {
            return match !self.is_key && is_name(self.text) {
                true => Found::One(self.text),
                false => Found::None,
            };
        }
        let whole = self
            .text
            .trim_matches(|c: char| matches!(c, '.' | ':' | '-' | '#' | '@'));
        if whole.len() < 3 {
            return Found::None;
        }
        if let Some(whole) = path(whole).or_else(|| address(whole)) {
            return Found::One(whole);
        }
        if file(whole) {
            return Found::One(whole);
        }
        if self.is_key {
            return Found::None;
        }
        // `#W88-1`, `2024-05-17`, `card-991`: joined by hyphens and with a digit.
        if whole.contains('-') && is_id(whole) {
            return Found::One(whole);
        }
        if let Some(date) = date_of_time(whole) {
            return Found::One(date);
        }
        Found::Many(whole)
    }
}

/// The names of a chunk.
enum Found<'a> {
    None,
    One(&'a str),
    /// The rest of the chunk, to be split at all joints but `_`.
    Many(&'a str),
}

impl<'a> Iterator for Found<'a> {
    type Item = &'a str;

    fn next(&mut self) -> Option<&'a str> {
        loop {
            match std::mem::replace(self, Self::None) {
                Self::None => return None,
                Self::One(name) => return Some(name),
                Self::Many(rest) => {
                    let (word, rest) = match rest.find(['/', '.', '@', '-', ':', '#']) {
                        Some(at) => (&rest[..at], &rest[at + 1..]),
                        None => (rest, ""),
                    };
                    if !rest.is_empty() {
                        *self = Self::Many(rest);
                    }
                    if is_name(word) {
                        return Some(word);
                    }
                }
            }
        }
    }
}

/// Returns a path without the line number after it.
fn path(chunk: &str) -> Option<&str> {
    let slash = chunk.find('/')?;
    let path = match chunk.split_once(':') {
        // `https://…` is an address.
        Some((before, rest)) if rest.starts_with("//") && !before.is_empty() => chunk,
        Some((path, _)) if path.len() > slash => path,
        Some(_) => return None,
        None => chunk,
    };
    let mut segments = path.split('/').filter(|segment| !segment.is_empty());
    // Excludes `and/or` and `src/lib`: only a path with a file is worth its bytes.
    let names_a_file = segments
        .next_back()
        .is_some_and(|last| last.contains('.') || path.starts_with('/') || path.contains("://"));
    let is_path = names_a_file
        && segments.next().is_some()
        && path.len() <= LONGEST
        && path.bytes().any(|byte| byte.is_ascii_alphabetic());
    is_path.then(|| path.trim_end_matches(['.', '-', '/']))
}

/// Returns a chunk that is a mail address.
fn address(chunk: &str) -> Option<&str> {
    let (name, host) = chunk.split_once('@')?;
    (!name.is_empty() && host.contains('.') && chunk.len() <= LONGEST).then_some(chunk)
}

/// Returns the date of a chunk that is a point in time: `2024-05-17T06:33:04`.
fn date_of_time(chunk: &str) -> Option<&str> {
    const DATE: usize = 10;
    let date = chunk.get(..DATE)?;
    let is_date = |(at, byte): (usize, u8)| match at {
        4 | 7 => byte == b'-',
        _ => byte.is_ascii_digit(),
    };
    (date.bytes().enumerate().all(is_date)
        && chunk[DATE..].starts_with('T')
        && chunk
            .as_bytes()
            .get(DATE + 1)
            .is_some_and(u8::is_ascii_digit))
    .then_some(date)
}

/// Whether a chunk is a file name, by its ending.
fn file(chunk: &str) -> bool {
    const ENDINGS: [&str; 32] = [
        "rs", "py", "ts", "tsx", "js", "jsx", "go", "java", "kt", "c", "h", "cc", "cpp", "hpp",
        "cs", "rb", "php", "swift", "sh", "sql", "json", "jsonl", "toml", "yaml", "yml", "md",
        "txt", "lock", "html", "css", "csv", "xml",
    ];
    chunk.len() <= LONGEST
        && chunk.rsplit_once('.').is_some_and(|(stem, ending)| {
            !stem.is_empty() && !stem.contains([':', '#']) && ENDINGS.contains(&ending)
        })
}

fn is_id(chunk: &str) -> bool {
    chunk.len() <= 64
        && chunk.bytes().any(|byte| byte.is_ascii_digit())
        && !chunk.contains(['/', ':', '@', '.', '#'])
}

/// Whether a word is a symbol, an id or a number.
fn is_name(word: &str) -> bool {
    if word.len() < 3 || word.len() > LONGEST {
        return false;
    }
    let bytes = word.as_bytes();
    let digits = bytes.iter().filter(|byte| byte.is_ascii_digit()).count();
    if digits == bytes.len() {
        return digits <= 20;
    }
    let inner = bytes[1..].iter().any(u8::is_ascii_uppercase);
    let lower = bytes.iter().any(u8::is_ascii_lowercase);
    let joint = bytes[1..bytes.len() - 1].contains(&b'_');
    // `parse_line`, `parseLine`, `W7678`, `MAX_LINES`; not `THE` and not `x1`.
    joint && bytes.len() > 4 || inner && lower && bytes.len() > 4 || digits > 0 && bytes.len() > 3
}

#[cfg(test)]
mod tests {
    use super::*;

    fn found(text: &str) -> Vec<&str> {
        names(text).collect()
    }

    #[test]
    fn names_are_words_that_no_dictionary_holds() {
        let text = "Then parse_line in src/ledger.rs:41 calls readBody(THE, x1), see Cargo.toml and/or 4711. Done, well-known.";
        assert_eq!(
            found(text),
            [
                "parse_line",
                "src/ledger.rs",
                "readBody",
                "Cargo.toml",
                "4711"
            ]
        );
    }

    #[test]
    fn ids_stay_whole() {
        assert_eq!(
            found(
                "order #W88-1 of mia_li_3668 on 2024-05-17, card-991, a3f9c01; mia@post.example, HAT123 at 2024-05-14T06:33:04"
            ),
            [
                "W88-1",
                "mia_li_3668",
                "2024-05-17",
                "card-991",
                "a3f9c01",
                "mia@post.example",
                "HAT123",
                "2024-05-14"
            ]
        );
    }

    #[test]
    fn values_of_data_are_names_and_keys_are_not() {
        assert_eq!(
            found(r#"{"payment_id": "card_991", "note": "a\nparse_line"}"#),
            ["card_991", "parse_line"]
        );
    }

    #[test]
    fn joined_symbols_are_split() {
        assert_eq!(
            found("self.token_cache.getOrInsert std::path::PathBuf"),
            ["token_cache", "getOrInsert", "PathBuf"]
        );
    }

    #[test]
    fn addresses_and_absolute_paths_are_names() {
        assert_eq!(
            found("https://post.example/a/b.html, /srv/app/logs/ and src/lib"),
            ["https://post.example/a/b.html", "/srv/app/logs"]
        );
    }

    #[test]
    fn hostile_texts_are_read_without_panic() {
        for text in [
            "",
            "\\",
            "日本語_x1y2",
            "a\\é",
            "::::",
            "@@..//--",
            "#",
            "\u{0}/\u{0}",
        ] {
            let _ = found(text);
        }
        assert!(found(&"x_1/".repeat(10_000)).is_empty());
    }

    /// Reads a text byte by byte, as [`Chunks`] does in larger steps.
    fn chunks_one_by_one(text: &str) -> Vec<&str> {
        let bytes = text.as_bytes();
        let kind = |at: usize| KINDS[bytes[at] as usize];
        let (mut chunks, mut at) = (Vec::new(), 0);
        while at < bytes.len() {
            if kind(at) == 0 {
                let is_escape = bytes[at] == b'\\' && bytes.get(at + 1).is_some_and(u8::is_ascii);
                at += 1 + usize::from(is_escape);
                continue;
            }
            let start = at;
            while at < bytes.len() && kind(at) != 0 {
                at += 1;
            }
            let is_plain = (start..at).all(|at| kind(at) == PLAIN);
            if !is_plain && (3..=4 * LONGEST).contains(&(at - start)) {
                chunks.push(&text[start..at]);
            }
        }
        chunks
    }

    #[test]
    fn larger_steps_find_what_single_ones_do() {
        let pieces = [
            "a",
            "bc",
            "x_1",
            "Tide",
            "9",
            "/",
            ".",
            "\\",
            "\\\\",
            "\\n",
            " ",
            "\"",
            "日",
            "é",
            "lock",
            "@",
            "-",
            "#",
            ":",
            "\n",
            "a long run of plain words ",
            "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa",
        ];
        let mut random = 1_u64;
        for _ in 0..2_000 {
            let mut text = String::new();
            for _ in 0..30 {
                random = random
                    .wrapping_mul(6_364_136_223_846_793_005)
                    .wrapping_add(1);
                text.push_str(pieces[(random >> 33) as usize % pieces.len()]);
            }
            let chunks = Chunks { text: &text, at: 0 };
            let found: Vec<&str> = chunks.map(|chunk| chunk.text).collect();
            assert_eq!(found, chunks_one_by_one(&text), "{text}");
        }
    }
}
