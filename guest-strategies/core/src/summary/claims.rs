//! Checks a model's summary against the text that the model read: names, paths, numbers and quotations must occur there.
//!
//! Small models invent them, and a reader of the summary cannot tell. Paraphrases are not checked.

#[cfg(test)]
mod tests;

/// Fewest digits of a number that is looked up: a summary may count and round.
const DIGITS: usize = 4;

/// A name has more characters than this. The stem of a file name has at least as many.
const NAME: usize = 3;

/// Fewest words of a quotation that is looked up, how many of its pairs of neighbours have to occur, in percent, and how many
/// may be missing in any case: a quotation may leave something out or correct a word.
const QUOTATION: usize = 4;
const OF_QUOTATION: usize = 70;
const CHANGED: usize = 2;

/// Fewest words of a text that can repeat itself. It does if fewer than one in [`NEW`] of its pairs of neighbouring words
/// are distinct; of a list of files with the same remark, one in four are.
const REPETITION: usize = 40;
const NEW: usize = 8;

/// Fewest bytes of a line that is checked sentence by sentence.
const PARAGRAPH: usize = 300;

/// Fewest letters of a word that says what a text is about. A summary must have at least [`TAKEN_UP`] different ones of a
/// conversation that has at least [`OF_CONVERSATION`].
const TELLING: usize = 5;
const OF_CONVERSATION: usize = 60;
const TAKEN_UP: usize = 2;

/// Number of new hashes after which duplicates are removed.
const ROOM: usize = 1 << 16;

/// The text that a model read, as hashes of its words and of its pairs of neighbouring words.
#[derive(Debug, Default)]
pub struct Read {
    /// All hashes, sorted.
    seen: Vec<u64>,
    /// The hashes of words that say what the conversation is about, sorted.
    telling: Vec<u64>,
}

/// A summary without the claims that the model did not read.
#[derive(Debug, PartialEq, Eq)]
pub struct Checked {
    /// The text without these lines and sentences.
    pub text: String,
    /// The number of lines that were removed or shortened.
    pub left_out: usize,
}

impl Read {
    /// Reads the instructions, whose words do not show what the conversation is about, and the conversation.
    #[must_use]
    pub fn of(instructions: &[&str], conversation: &[&str]) -> Self {
        let mut own = Self::default();
        own.collect(instructions);
        let mut read = Self::default();
        read.collect(conversation);
        read.telling
            .retain(|word| own.seen.binary_search(word).is_err());
        read.seen.append(&mut own.seen);
        read.seen = distinct(read.seen);
        read
    }

    fn collect(&mut self, texts: &[&str]) {
        for text in texts {
            self.collect_words(spelled(text));
            if text.contains('\\') {
                // In JSON a line break is a letter behind this sign; in a path on Windows, read above, it is not.
                let breaks = ["\\n", "\\t", "\\r"];
                let unescaped = breaks
                    .iter()
                    .fold((*text).to_owned(), |text, sign| text.replace(sign, " "));
                self.collect_words(spelled(&unescaped));
            }
            let numbers = text.split_whitespace().map(digits);
            let numbers = numbers.filter(|digits| digits.len() >= DIGITS);
            self.seen.extend(numbers.map(|digits| hash(&digits)));
        }
        self.seen = distinct(std::mem::take(&mut self.seen));
        self.telling = distinct(std::mem::take(&mut self.telling));
    }

    fn collect_words<'t>(&mut self, words: impl Iterator<Item = &'t str>) {
        let mut before = 0;
        let mut room = ROOM;
        for word in words {
            let alone = hash(word);
            self.seen.extend([alone, pair(before, alone)]);
            if is_telling(word) {
                self.telling.push(alone);
            }
            before = alone;
            // Most words repeat. A guest has little memory.
            if self.seen.len() > room {
                self.seen = distinct(std::mem::take(&mut self.seen));
                self.telling = distinct(std::mem::take(&mut self.telling));
                room = self.seen.len() * 2 + ROOM;
            }
        }
    }

    /// Returns the summary without lines, or sentences of long lines, that claim what the model did not read.
    ///
    /// # Errors
    /// Returns why the answer is not a summary: most of its claims were not read, it repeats itself, or it has too few words
    /// of the conversation.
    pub fn check(&self, account: &str) -> Result<Checked, &'static str> {
        if repeats_itself(account) {
            return Err("the answer repeats itself");
        }
        let mut text = String::with_capacity(account.len());
        let mut left_out = 0;
        for line in account.lines() {
            let founded: String = sentences(line)
                .filter(|sentence| self.has_claims_of(sentence))
                .collect();
            left_out += usize::from(founded.len() < line.len());
            if founded.len() == line.len() || !founded.trim().is_empty() {
                text.push_str(&founded);
                text.push('\n');
            }
        }
        let text = text.trim().to_owned();
        if text.len() * 2 < account.trim().len() {
            return Err("most of it names what the conversation does not have");
        }
        if self.telling.len() >= OF_CONVERSATION && !self.is_about_it(&text) {
            return Err("the answer tells nothing of the conversation");
        }
        Ok(Checked { text, left_out })
    }

    fn has(&self, word: &str) -> bool {
        self.seen.binary_search(&hash(word)).is_ok()
    }

    fn has_pair(&self, one: &str, next: &str) -> bool {
        let pair = pair(hash(one), hash(next));
        self.seen.binary_search(&pair).is_ok()
    }

    fn is_about_it(&self, account: &str) -> bool {
        let telling = spelled(account).map(hash);
        let telling = telling.filter(|word| self.telling.binary_search(word).is_ok());
        distinct(telling.collect()).len() >= TAKEN_UP
    }

    /// Whether all claims of a line or a sentence were read.
    fn has_claims_of(&self, line: &str) -> bool {
        let mut tokens = line.split_whitespace();
        tokens.all(|token| self.has_names_of(token))
            && quotations(line).all(|quotation| self.has_quotation(quotation))
    }

    fn has_names_of(&self, token: &str) -> bool {
        // Digits may be grouped, and a unit may follow a space or not.
        let has =
            |name: &str| self.has(name) || self.has(&digits(name)) || self.has(&digits(token));
        let mut names = spelled(token).filter(|word| is_name(word));
        self.has_file_of(token) && names.all(has)
    }

    /// Whether the file name of a path was read, with its extension. Its folders may be absolute or relative.
    fn has_file_of(&self, token: &str) -> bool {
        let Some((_, file)) = token.rsplit_once('/') else {
            return true;
        };
        let words: Vec<&str> = spelled(file).collect();
        match &words[..] {
            _ if file.contains(['{', '*', '?', ',']) => true,
            [name, ending, ..] if name.len() >= NAME && file.contains('.') => {
                self.has_pair(name, ending)
            }
            _ => true,
        }
    }

    fn has_quotation(&self, quotation: &str) -> bool {
        let words: Vec<&str> = spelled(quotation).collect();
        let pairs = words.windows(2);
        let found = pairs.filter(|pair| self.has_pair(pair[0], pair[1])).count();
        let all = words.len().saturating_sub(1);
        words.len() < QUOTATION || found + CHANGED >= all || found * 100 >= all * OF_QUOTATION
    }
}

/// Whether a word says what a text is about.
fn is_telling(word: &str) -> bool {
    word.chars().count() >= TELLING || word.chars().any(is_unspaced)
}

/// Whether a text repeats a few sequences of words.
fn repeats_itself(account: &str) -> bool {
    // Single characters of a script without spaces form the same pairs in any text.
    let words = spelled(account).filter(|word| !word.starts_with(is_unspaced));
    let words: Vec<u64> = words.map(hash).collect();
    let pairs = words.windows(2).map(|two| pair(two[0], two[1]));
    words.len() >= REPETITION && distinct(pairs.collect()).len() * NEW < words.len()
}

/// Iterates the sentences of a long line, with the spaces between them, or returns a short line as a whole. Joined, they are
/// the line again, which those of [`baler_digest::each_sentence`] are not.
fn sentences(line: &str) -> impl Iterator<Item = &str> {
    let ends = |c: char| matches!(c, '。' | '！' | '？');
    let mut rest = line;
    std::iter::from_fn(move || {
        let is_short = line.len() < PARAGRAPH;
        let end = rest.char_indices().find_map(|(at, c)| {
            let behind = at + c.len_utf8();
            let is_end = ends(c) || matches!(c, '.' | '!' | '?') && rest[behind..].starts_with(' ');
            (is_end && !is_short).then_some(behind)
        });
        let (sentence, behind) = rest.split_at(end.unwrap_or(rest.len()));
        rest = behind;
        (!sentence.is_empty()).then_some(sentence)
    })
}

/// Returns the digits of a text.
fn digits(text: &str) -> String {
    text.chars().filter(char::is_ascii_digit).collect()
}

/// Iterates the texts in quotation marks on a line.
fn quotations(line: &str) -> impl Iterator<Item = &str> {
    const MARKS: [(char, char); 4] = [('"', '"'), ('“', '”'), ('「', '」'), ('«', '»')];
    MARKS.into_iter().flat_map(move |(open, close)| {
        let mut rest = line;
        std::iter::from_fn(move || {
            let (_, behind) = rest.split_once(open)?;
            let (quotation, behind) = behind.split_once(close)?;
            rest = behind;
            Some(quotation)
        })
    })
}

/// Whether a word is a name or a number that must have been read: `fill_lock`, `fillLock`, `a81c44`, `4200`.
fn is_name(word: &str) -> bool {
    let signs = word.trim_end_matches(char::is_alphabetic);
    if word.starts_with(|c: char| c.is_ascii_digit()) {
        // With a unit: `120ms`.
        return signs.len() >= DIGITS && signs.bytes().all(|byte| byte.is_ascii_digit());
    }
    let kinds = |of: fn(&u8, &u8) -> bool| {
        let bytes = word.as_bytes();
        bytes.windows(2).filter(|two| of(&two[0], &two[1])).count()
    };
    let is_joined = word.trim_matches('_').contains('_');
    // `TypeScript` and `SHA256` need not have occurred.
    let is_camel = word.starts_with(|c: char| c.is_ascii_lowercase())
        && kinds(|one, next| one.is_ascii_lowercase() && next.is_ascii_uppercase()) > 0;
    let is_id = kinds(|one, next| one.is_ascii_digit() != next.is_ascii_digit()) > 1;
    word.chars().count() > NAME && (is_joined || is_camel || is_id)
}

/// Iterates the words of a text in their spelling. A character of a script without spaces is a word.
fn spelled(text: &str) -> impl Iterator<Item = &str> {
    let mut rest = text;
    std::iter::from_fn(move || {
        let is_of_word = |c: char| c.is_alphanumeric() || c == '_';
        rest = &rest[rest.find(is_of_word)?..];
        let end = match rest.chars().next() {
            Some(first) if is_unspaced(first) => first.len_utf8(),
            _ => rest
                .find(|c: char| !is_of_word(c) || is_unspaced(c))
                .unwrap_or(rest.len()),
        };
        let (word, behind) = rest.split_at(end);
        rest = behind;
        Some(word)
    })
}

/// Whether a character belongs to a script without spaces between words.
fn is_unspaced(c: char) -> bool {
    matches!(c, '\u{e00}'..='\u{eff}' | '\u{1000}'..='\u{109f}' | '\u{1780}'..='\u{17ff}' | '\u{2e80}'..='\u{9fff}')
}

/// Returns the hashes sorted, without duplicates.
fn distinct(mut hashes: Vec<u64>) -> Vec<u64> {
    hashes.sort_unstable();
    hashes.dedup();
    hashes
}

/// Returns the FNV-1a hash of a word, ignoring the case of ASCII letters. A collision only lets a claim pass.
fn hash(word: &str) -> u64 {
    word.bytes().fold(0xcbf2_9ce4_8422_2325, |hash, byte| {
        (hash ^ u64::from(byte.to_ascii_lowercase())).wrapping_mul(0x0100_0000_01b3)
    })
}

/// Returns the hash of two neighbouring words.
const fn pair(one: u64, next: u64) -> u64 {
    one.rotate_left(17).wrapping_mul(0x9e37_79b9_7f4a_7c15) ^ next
}
