//! Finds the ends of the sentences of a paragraph.
//!
//! In doubt a sentence does not end: joining two sentences does less harm than splitting one.

use std::ops::Range;

use super::dates;

/// Most bytes in brackets or quotes that are not divided, and of a sentence that continues with any word in
/// lower case. Otherwise a bracket that is never closed would join all that follows, and so would a user who
/// begins every sentence in lower case.
const FAR: usize = 400;

/// Number of opening signs before a closing one that are compared with it.
const NESTED: usize = 8;

/// Most letters of a word that counts as an abbreviation before a number: `max. 3`, `Art. 5`.
const SHORT: usize = 4;

/// Signs that end a sentence if white space follows.
pub(super) const ENDS: [char; 4] = ['.', '!', '?', '؟'];

/// Brackets and quotes.
const PAIRS: &[(char, char)] = &[
    ('(', ')'),
    ('[', ']'),
    ('{', '}'),
    ('"', '"'),
    ('`', '`'),
    ('“', '”'),
    ('„', '“'),
    ('„', '”'),
    ('‘', '’'),
    ('«', '»'),
    ('»', '«'),
    ('（', '）'),
    ('［', '］'),
    ('「', '」'),
    ('『', '』'),
    ('【', '】'),
    ('《', '》'),
    ('〈', '〉'),
];

/// Words behind which a dot ends no sentence; so do single letters, as in `e.g.` and `J. Smith`. English,
/// German, Spanish (`EE. UU.` is two words), French, and Russian in both cases, as only those of ASCII are
/// looked past.
const SHORT_FORMS: [&str; 51] = [
    "dr", "mr", "mrs", "ms", "prof", "st", "vs", "etc", "no", "nr", "approx", "ca", "cf", "eg",
    "ie", "fig", "incl", "excl", "inc", "ltd", "corp", "bzw", "usw", "hrn", "abt", "inkl", "exkl",
    "zzgl", "bzgl", "evtl", "ggf", "bspw", "vgl", "vorh", "mio", "mrd", "mwst", "dipl", "sr",
    "sra", "srta", "ee", "uu", "mme", "mlle", "ул", "Ул", "тов", "Тов", "гр", "Гр",
];

/// Abbreviations that in another case are words that may end a sentence.
const SHORT_NAMES: [&str; 4] = ["Fa", "Fr", "Hr", "Co"];

/// Iterates the sentences of a paragraph, unchanged.
pub(super) struct Sentences<'a> {
    text: &'a str,
    /// Start of the next sentence.
    at: usize,
    /// Ranges in brackets or quotes.
    enclosed: Vec<Range<usize>>,
}

impl<'a> Sentences<'a> {
    pub(super) fn of(text: &'a str) -> Self {
        Self {
            text,
            at: 0,
            enclosed: enclosed(text),
        }
    }

    fn is_enclosed(&self, at: usize) -> bool {
        let next = self.enclosed.partition_point(|range| range.end <= at);
        let next = self.enclosed.get(next);
        next.is_some_and(|range| range.start < at)
    }
}

impl<'a> Iterator for Sentences<'a> {
    type Item = &'a str;

    fn next(&mut self) -> Option<&'a str> {
        let text = self.text;
        let rest = &text[self.at..];
        if rest.is_empty() {
            return None;
        }
        let end = rest
            .char_indices()
            .find(|&(at, sign)| ends(rest, at, sign) && !self.is_enclosed(self.at + at))
            .map_or(rest.len(), |(at, sign)| at + sign.len_utf8());
        self.at += end;
        Some(&rest[..end])
    }
}

/// Whether a sign ends a sentence whatever follows it.
pub(super) const fn is_unspaced_end(sign: char) -> bool {
    matches!(sign, '。' | '｡' | '！' | '？')
}

/// Returns the ranges in brackets or quotes, in order, without those within others.
fn enclosed(text: &str) -> Vec<Range<usize>> {
    let mut enclosed: Vec<Range<usize>> = Vec::new();
    let mut open: Vec<(usize, char)> = Vec::new();
    let mut next = ' ';
    for (at, sign) in text.char_indices() {
        let before = std::mem::replace(&mut next, sign);
        if sign.is_alphanumeric() || sign.is_whitespace() {
            continue;
        }
        // Whether a straight quote opens or closes shows in what precedes it.
        let is_straight = matches!(sign, '"' | '`');
        let newest = open.len().saturating_sub(NESTED);
        let own = open[newest..]
            .iter()
            .rposition(|(_, opening)| PAIRS.contains(&(*opening, sign)))
            .filter(|_| !is_straight || !before.is_whitespace());
        if let Some(own) = own {
            let (start, _) = open[newest + own];
            open.truncate(newest + own);
            if at - start <= FAR {
                let within = enclosed.partition_point(|range| range.start < start);
                enclosed.truncate(within);
                enclosed.push(start..at);
            }
        } else if PAIRS.iter().any(|(opening, _)| *opening == sign)
            && !(is_straight && before.is_alphanumeric())
        {
            open.push((at, sign));
        }
    }
    enclosed
}

/// Whether the sign at a place ends the sentence that `text` begins with.
fn ends(text: &str, at: usize, sign: char) -> bool {
    if !ENDS.contains(&sign) {
        return is_unspaced_end(sign);
    }
    let behind = &text[at + sign.len_utf8()..];
    // A dot within a name or a number ends nothing.
    behind.chars().next().is_none_or(char::is_whitespace) && !goes_on(&text[..at], sign, behind)
}

/// Whether a sentence continues after one of [`ENDS`].
pub(super) fn goes_on(before: &str, sign: char, behind: &str) -> bool {
    let behind = behind.trim_start();
    let is_followed = behind.starts_with(char::is_lowercase);
    is_followed && before.len() <= FAR || sign == '.' && is_shortened(before, behind, is_followed)
}

/// Whether a dot belongs to the word before it.
fn is_shortened(before: &str, behind: &str, is_followed: bool) -> bool {
    let word = before
        .rsplit(char::is_whitespace)
        .next()
        .unwrap_or_default();
    let bare = word.trim_start_matches(|c: char| !c.is_alphanumeric());
    // `Do not ... push`
    if bare.is_empty() || bare.ends_with('.') {
        return is_followed;
    }
    // Measured from the word backward: otherwise leading white space would be scanned for each number.
    let in_front = &before[..before.len() - word.len()];
    // `am 24. Dezember`
    if bare.starts_with(|c: char| c.is_ascii_digit()) && dates::is_ordinal(in_front, bare, behind) {
        return true;
    }
    // `2. Push`, `the 3. of May`
    if bare
        .bytes()
        .all(|byte| byte.is_ascii_digit() || byte == b'.')
    {
        return is_followed || in_front.trim_end().is_empty();
    }
    let is_letter = |part: &str| {
        let mut letters = part.chars();
        letters.next().is_some_and(char::is_alphabetic) && letters.next().is_none()
    };
    if bare.split('.').all(is_letter) {
        return true;
    }
    let is_short = bare.chars().all(char::is_alphabetic) && bare.chars().count() <= SHORT;
    is_short && behind.starts_with(|c: char| c.is_ascii_digit())
        || SHORT_FORMS
            .iter()
            .any(|known| known.eq_ignore_ascii_case(bare))
        || SHORT_NAMES.contains(&bare)
}

#[cfg(test)]
mod tests {
    use super::{FAR, Sentences};

    fn sentences(text: &str) -> Vec<&str> {
        Sentences::of(text).map(str::trim).collect()
    }

    #[test]
    fn an_abbreviation_ends_no_sentence() {
        for sentence in [
            "You must ask Dr. Holm, Mrs. J. Lind and St. Ives before a release.",
            "Never add a crate without a ticket, e.g. OPS-17, i.e. ask (cf. No. 4) approx. a day before.",
            "Do not ... use the U.S. account vs. the other, etc. in a.rs.",
            "On the 3. of May you must not push.",
            "You must ask Dr.\nHolm.",
            "Never change the env. of the build, z. B. CC, u. a. PATH.",
            "Run max. 3 jobs, as Art. 5 says, but only by day.",
        ] {
            assert_eq!(sentences(sentence), [sentence]);
        }
        assert_eq!(
            sentences("The limit is 42. Never pass it. Mend a.rs. Never push."),
            [
                "The limit is 42.",
                "Never pass it.",
                "Mend a.rs.",
                "Never push."
            ]
        );
    }

    #[test]
    fn a_date_or_an_ordinal_ends_no_sentence() {
        for sentence in [
            "Außer am 24. Dezember müssen die Backups täglich gelöscht werden.",
            "Vor dem 15. November musst du nicht nachfragen.",
            "Deploye nie vor dem 3. Oktober.",
            "Zwischen dem 24./25. Dezember und Neujahr darfst du nicht deployen.",
            "Bis zum 24.12. Backups nie löschen.",
            "Nur im 2. Quartal darfst du mahnen.",
            "Bortset fra den 24. December skal du altid spørge.",
            "Paitsi 6. Joulukuuta aina.",
            "S výjimkou 24. Prosince musíš vždy čekat.",
            "Oprócz 1. Maja zawsze rób kopie.",
        ] {
            assert_eq!(sentences(sentence), [sentence]);
        }
        assert_eq!(
            sentences("Use pier 3. Never push. Take 12. Always ask. Bis 2025. Nie danach."),
            [
                "Use pier 3.",
                "Never push.",
                "Take 12.",
                "Always ask.",
                "Bis 2025.",
                "Nie danach."
            ]
        );
    }

    #[test]
    fn an_abbreviation_of_another_language_ends_no_sentence() {
        for sentence in [
            "Nunca llames a la Sra. Ruiz ni al Sr. Gil.",
            "Excepto en EE. UU. Siempre cobra IVA.",
            "Sauf Mme. Petit et Mlle. Roy, ne jamais appeler.",
            "Mit Ausnahme von Hrn. Weber, Fr. Lind, der Fa. Holm und der Abt. Einkauf darfst du nie anrufen.",
            "Immer inkl. MwSt. Rechnungen schreiben.",
            "Except at Acme Inc. Berlin you must always call.",
            "За исключением ул. Ленина и тов. Иванова никогда не звони.",
        ] {
            assert_eq!(sentences(sentence), [sentence]);
        }
        assert_eq!(
            sentences("Tre anni fa. Never push in fr. Ask."),
            ["Tre anni fa.", "Never push in fr.", "Ask."]
        );
    }

    #[test]
    fn a_sentence_continues_with_a_word_in_lower_case() {
        assert_eq!(
            sentences("Do not shout stop! at the crew. Never ask why? of them."),
            ["Do not shout stop! at the crew.", "Never ask why? of them."]
        );
        // Where everything is in lower case, a sentence comes to an end all the same.
        let lower = "never push to the old quay. ".repeat(100);
        let found = sentences(&lower);
        assert!(found.iter().all(|part| part.len() < FAR + 28), "{found:?}");
    }

    #[test]
    fn no_sentence_ends_within_brackets_and_quotes() {
        for sentence in [
            "返信に「了解！」や（済み。）と書いてはいけません。",
            "Never reply “Done! Thanks.” to Mr. Lind.",
            "Schreibe nie „Fertig! Danke.“ in ein Protokoll.",
            "N'écris jamais « Fini ! Merci. » au port.",
            "Do not close a ticket (we tried that in May. It went wrong. Twice.) without asking.",
            "Never print \"Ready! Set. Go!\" in \"Main. Log\".",
            "Never run `echo Done! Bye` on the quay.",
            "Never (not [in May. Or June.] and. Not now) push.",
        ] {
            assert_eq!(sentences(sentence), [sentence]);
        }
    }

    #[test]
    fn brackets_that_are_never_closed_enclose_nothing() {
        assert_eq!(
            sentences(
                "A 5\" pipe. Use the ( sign. 「お願い。必ず！ Never push (see May. Or June.) again."
            ),
            [
                "A 5\" pipe.",
                "Use the ( sign.",
                "「お願い。",
                "必ず！",
                "Never push (see May. Or June.) again."
            ]
        );
        let far = format!("Say ({}. Never push.) Mend it.", "x".repeat(FAR));
        assert_eq!(sentences(&far).len(), 2);
    }

    #[test]
    fn numbers_after_long_white_space_are_divided_in_linear_time() {
        for gap in [" ", "\n\t "] {
            let gap = gap.repeat(1 << 19);
            // No number begins the sentence, and what is in brackets ends nothing.
            let numbers = format!("({}) ", ["1."; 100].join(" ")).repeat(2_000);
            let text = format!("Ah.{gap}{numbers}Push 2.{gap}3. Never.");
            let expected = [
                "Ah.".to_owned(),
                format!("{numbers}Push 2."),
                "3. Never.".to_owned(),
            ];
            assert_eq!(sentences(&text), expected);
        }
    }
}
