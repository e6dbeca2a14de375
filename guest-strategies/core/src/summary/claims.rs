//! Checks an account against what the model read: names, paths, numbers and quotations in it have to occur there.
//!
//! Small models invent such things fluently, and a reader of the account cannot tell. What is told in other words is not
//! checked.

#[cfg(test)]
mod tests;

/// Fewest digits of a number that is looked up: an account may count what it tells.
const DIGITS: usize = 3;

/// Fewest letters of a name, as far as signs within it tell that it is one.
const NAME: usize = 3;

/// Fewest words of a quotation that is looked up, and how many of its pairs of neighbours have to occur, in percent: who
/// quotes may leave something out.
const QUOTATION: usize = 4;
const OF_QUOTATION: usize = 70;

/// Words from which on a text shows by them whether it repeats itself: at least one pair of neighbours in three is new.
const REPETITION: usize = 40;

/// Fewest letters of a word that says what a text is about, how many different ones a conversation has of which an account
/// takes up any, and how many it takes up.
const TELLING: usize = 5;
const OF_CONVERSATION: usize = 60;
const TAKEN_UP: usize = 2;

/// What a model read, by its words and pairs of neighbouring words.
#[derive(Debug, Default)]
pub struct Read {
    /// Their hashes, sorted.
    seen: Vec<u64>,
    /// How many different words say what it is about.
    telling: usize,
}

/// An account without the lines that claim what the model did not read.
#[derive(Debug, PartialEq, Eq)]
pub struct Checked {
    /// The other lines.
    pub text: String,
    /// How many lines were left out.
    pub left_out: usize,
}

impl Read {
    /// Collects what the model read.
    #[must_use]
    pub fn of(texts: &[&str]) -> Self {
        let mut seen = Vec::new();
        let mut telling = Vec::new();
        for text in texts {
            let mut before = 0;
            for word in spelled(text) {
                let word_alone = hash(word);
                seen.push(word_alone);
                seen.push(pair(before, word_alone));
                if is_telling(word) {
                    telling.push(word_alone);
                }
                before = word_alone;
            }
        }
        let seen = distinct(seen);
        let telling = distinct(telling).len();
        Self { seen, telling }
    }

    /// Returns the account without lines that claim what was not read.
    ///
    /// # Errors
    /// Says why the account is none: most of it was not read, it repeats itself, or it tells nothing of what was read.
    pub fn check(&self, account: &str) -> Result<Checked, &'static str> {
        if repeats_itself(account) {
            return Err("the answer repeats itself");
        }
        if self.telling >= OF_CONVERSATION && !self.is_about_it(account) {
            return Err("the answer tells nothing of the conversation");
        }
        let mut kept: Vec<&str> = Vec::new();
        let (mut left_out, mut bytes) = (0, 0);
        for line in account.lines() {
            match self.has_claims_of(line) {
                true => kept.push(line),
                false => {
                    left_out += 1;
                    bytes += line.len();
                }
            }
        }
        if bytes * 2 > account.len() {
            return Err("most of it names what the conversation does not have");
        }
        let text = kept.join("\n").trim().to_owned();
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
        let telling = spelled(account).filter(|word| is_telling(word) && self.has(word));
        distinct(telling.map(hash).collect()).len() >= TAKEN_UP
    }

    /// Whether all that a line claims was read.
    fn has_claims_of(&self, line: &str) -> bool {
        let mut tokens = line.split_whitespace();
        tokens.all(|token| self.has_names_of(token))
            && quotations(line).all(|quotation| self.has_quotation(quotation))
    }

    fn has_names_of(&self, token: &str) -> bool {
        // Numbers are grouped by some and not by others.
        let has_all = |token: &str| {
            let mut names = spelled(token).filter(|word| is_name(word));
            names.all(|name| self.has(name))
        };
        self.has_file_of(token) && (has_all(token) || has_all(&token.replace([',', '.'], "")))
    }

    /// Of a path the file with its extension counts, wherever the path begins.
    fn has_file_of(&self, token: &str) -> bool {
        let Some((_, file)) = token.rsplit_once('/') else {
            return true;
        };
        let words: Vec<&str> = spelled(file).collect();
        match &words[..] {
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
        words.len() < QUOTATION || found * 100 >= (words.len() - 1) * OF_QUOTATION
    }
}

/// Whether a word says what a text is about.
fn is_telling(word: &str) -> bool {
    word.chars().count() >= TELLING || word.chars().any(is_unspaced)
}

/// Whether the same words follow one another again and again.
fn repeats_itself(account: &str) -> bool {
    let words: Vec<u64> = spelled(account).map(hash).collect();
    let pairs = words.windows(2).map(|two| pair(two[0], two[1]));
    words.len() >= REPETITION && distinct(pairs.collect()).len() * 3 < words.len()
}

/// Iterates what stands in quotation marks on a line.
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

/// Whether a word is a name or a number that nobody writes by chance: `fill_lock`, `fillLock`, `a81c44`, `4200`.
fn is_name(word: &str) -> bool {
    let signs = word.trim_end_matches(char::is_alphabetic);
    if word.starts_with(|c: char| c.is_ascii_digit()) {
        // With a unit: `120ms`.
        return signs.len() >= DIGITS && signs.bytes().all(|byte| byte.is_ascii_digit());
    }
    let mut pairs = word.chars().zip(word.chars().skip(1));
    let is_joined = word.trim_matches('_').contains('_');
    let is_camel = pairs.any(|(one, next)| one.is_ascii_lowercase() && next.is_ascii_uppercase());
    let has_digit = word.bytes().any(|byte| byte.is_ascii_digit());
    word.chars().count() > NAME && (is_joined || is_camel || has_digit)
}

/// Iterates the words of a text as they are written. A sign of a script without spaces is a word.
fn spelled(text: &str) -> impl Iterator<Item = &str> {
    let mut rest = text;
    std::iter::from_fn(move || {
        let is_of_word = |c: char| c.is_alphanumeric() || c == '_';
        loop {
            let start = rest.find(|c: char| is_of_word(c) || c == '\\')?;
            rest = &rest[start..];
            match rest.strip_prefix('\\') {
                // A line break or a tab within JSON.
                Some(behind) => rest = behind.strip_prefix(['n', 't', 'r']).unwrap_or(behind),
                None => break,
            }
        }
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

/// Whether a sign is of a script that has no spaces between words.
fn is_unspaced(c: char) -> bool {
    matches!(c, '\u{e00}'..='\u{eff}' | '\u{1000}'..='\u{109f}' | '\u{1780}'..='\u{17ff}' | '\u{2e80}'..='\u{9fff}')
}

fn distinct(mut hashes: Vec<u64>) -> Vec<u64> {
    hashes.sort_unstable();
    hashes.dedup();
    hashes
}

/// FNV-1a of a word, whatever the case of its ASCII letters. What is read can at most make itself be found.
fn hash(word: &str) -> u64 {
    word.bytes().fold(0xcbf2_9ce4_8422_2325, |hash, byte| {
        (hash ^ u64::from(byte.to_ascii_lowercase())).wrapping_mul(0x0100_0000_01b3)
    })
}

/// The hash of two neighbouring words.
const fn pair(one: u64, next: u64) -> u64 {
    one.rotate_left(17).wrapping_mul(0x9e37_79b9_7f4a_7c15) ^ next
}
