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
}

struct Chunks<'a> {
    text: &'a str,
    at: usize,
}

impl<'a> Iterator for Chunks<'a> {
    type Item = Chunk<'a>;

    fn next(&mut self) -> Option<Chunk<'a>> {
        let bytes = self.text.as_bytes();
        let mut at = self.at;
        loop {
            while let Some(byte) = bytes.get(at)
                && KINDS[*byte as usize] == 0
            {
                // Escapes of JSON within JSON: `\n` is no letter of the word after it.
                let is_escape = *byte == b'\\' && bytes.get(at + 1).is_some_and(u8::is_ascii);
                at += 1 + usize::from(is_escape);
            }
            let start = at;
            let mut kinds = 0;
            while let Some(byte) = bytes.get(at)
                && KINDS[*byte as usize] != 0
            {
                kinds |= KINDS[*byte as usize];
                at += 1;
            }
            if start >= bytes.len() {
                self.at = bytes.len();
                return None;
            }
            // Most words are plain and not names.
            if kinds == PLAIN || at - start < 3 || at - start > 4 * LONGEST {
                continue;
            }
            self.at = at;
            let is_key = start > 0
                && bytes[start - 1] == b'"'
                && bytes.get(at) == Some(&b'"')
                && bytes.get(at + 1) == Some(&b':');
            return Some(Chunk {
                text: &self.text[start..at],
                is_key,
            });
        }
    }
}

/// Kinds of bytes that can be part of a name: lower-case letters, and other ASCII letters, digits and what joins them.
/// Other scripts separate words, as all other bytes do.
const PLAIN: u8 = 1;
const SPECIAL: u8 = 2;

/// The kind of each byte; 0 if it separates words.
static KINDS: [u8; 256] = {
    let mut kinds = [0; 256];
    let mut byte = 0;
    while byte < 256 {
        kinds[byte] = match byte as u8 {
            b'a'..=b'z' => PLAIN,
            b'A'..=b'Z' | b'0'..=b'9' => SPECIAL,
            b'_' | b'/' | b'.' | b'@' | b'-' | b':' | b'#' => SPECIAL,
            _ => 0,
        };
        byte += 1;
    }
    kinds
};

impl<'a> Chunk<'a> {
    fn names(self) -> Found<'a> {
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
                "order #W88-1 of mia_li_3668 on 2024-05-17, card-991, a3f9c01; mia@post.example, HAT123"
            ),
            [
                "W88-1",
                "mia_li_3668",
                "2024-05-17",
                "card-991",
                "a3f9c01",
                "mia@post.example",
                "HAT123"
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
}
