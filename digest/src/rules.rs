//! Sentences of the user's that hold a rule.

use std::sync::LazyLock;

/// How much a sentence binds.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Strength {
    /// It says never, always, must, do not or only.
    Rule,
    /// It asks for something to be taken care of.
    Wish,
}

/// Words that make a rule, alone or in a row. Words of other languages stand for the same
/// notions; accents and letters are compared as they are, in lower case.
const RULES: &[&[&str]] = &[
    &["never"],
    &["always"],
    &["must"],
    &["mustn't"],
    &["do", "not"],
    &["don't"],
    &["dont"],
    &["only"],
    // German, French, Spanish, Portuguese, Italian
    &["nie"],
    &["niemals"],
    &["immer"],
    &["darf", "nicht"],
    &["muss"],
    &["keinesfalls"],
    &["jamais"],
    &["toujours"],
    &["doit"],
    &["seulement"],
    &["uniquement"],
    &["nunca"],
    &["siempre"],
    &["debe"],
    &["sólo"],
    &["solamente"],
    &["sempre"],
    &["deve"],
    &["somente"],
    // Russian, Arabic
    &["никогда"],
    &["всегда"],
    &["только"],
    &["нельзя"],
    &["должен"],
    &["должно"],
    &["دائما"],
    &["دائمًا"],
    &["أبدا"],
    &["أبدًا"],
    &["يجب"],
    &["فقط"],
    &["لا", "تقم"],
    &["ممنوع"],
];

const WISHES: &[&[&str]] = &[
    &["should", "not"],
    &["shouldn't"],
    &["may", "not"],
    &["avoid"],
    &["make", "sure"],
    &["ensure"],
    &["no", "longer"],
    &["at", "most"],
    &["at", "least"],
    &["unless"],
    &["forbidden"],
];

/// The same in scripts that put no spaces between words: Japanese, Chinese, Korean.
const UNSPACED: &[&str] = &[
    "必ず",
    "絶対",
    "常に",
    "禁止",
    "しないで",
    "てはいけ",
    "てはなら",
    "だけ",
    "のみ",
    "不要",
    "必须",
    "必須",
    "總是",
    "总是",
    "永远",
    "只能",
    "务必",
    "不得",
    "절대",
    "항상",
    "반드시",
    "하지 마",
    "만 사용",
];

/// Words by which who speaks of himself asks for something all the same.
const ASKING: [&str; 5] = ["you", "your", "want", "expect", "insist"];

/// Whether a sentence holds a rule, and how much it binds. Who speaks of himself and asks for nothing
/// makes no rule, and neither does a program's notice in its tags; but both may matter.
pub(super) fn strength(sentence: &str) -> Option<Strength> {
    let found = strength_of_words(sentence)?;
    let own = ["i ", "i'm ", "i've ", "i’m "];
    let is_own = own.iter().any(|start| {
        sentence
            .get(..start.len())
            .is_some_and(|head| head.eq_ignore_ascii_case(start))
    });
    let asks = || words(sentence).any(|word| ASKING.iter().any(|known| is_same(known, word)));
    let is_rule = !sentence.starts_with('<') && (!is_own || asks());
    Some(if is_rule { found } else { Strength::Wish })
}

fn strength_of_words(sentence: &str) -> Option<Strength> {
    let mut is_wish = false;
    let mut rest = words(sentence);
    while let Some(word) = rest.next() {
        if !may_begin(word) {
            continue;
        }
        let follows = |phrases: &[&[&str]]| {
            phrases.iter().any(|phrase| {
                phrase.split_first().is_some_and(|(first, others)| {
                    let mut next = rest.clone();
                    is_same(first, word)
                        && others
                            .iter()
                            .all(|other| next.next().is_some_and(|word| is_same(other, word)))
                })
            })
        };
        if follows(RULES) {
            return Some(Strength::Rule);
        }
        is_wish = is_wish || follows(WISHES);
    }
    if !sentence.is_ascii() && UNSPACED.iter().any(|word| sentence.contains(word)) {
        return Some(Strength::Rule);
    }
    is_wish.then_some(Strength::Wish)
}
/// Whether a phrase may begin with `word`: most words are told by their first byte and length.
fn may_begin(word: &str) -> bool {
    /// For each first byte the lengths of the words that begin so, as bits.
    static LENGTHS: LazyLock<[u16; 128]> = LazyLock::new(|| {
        let mut lengths = [0; 128];
        let phrases = RULES.iter().chain(WISHES);
        for first in phrases
            .filter_map(|phrase| phrase.first())
            .filter(|first| first.is_ascii())
        {
            lengths[usize::from(first.as_bytes()[0])] |= 1 << first.len();
        }
        lengths
    });
    let first = word.as_bytes()[0].to_ascii_lowercase();
    !word.is_ascii() || (word.len() < 16 && LENGTHS[usize::from(first)] >> word.len() & 1 == 1)
}

/// The words of a sentence. Marks on letters belong to them, as `أبدًا` has one.
fn words(sentence: &str) -> impl Iterator<Item = &str> + Clone {
    let is_mark = |c| matches!(c, '\u{300}'..='\u{36f}' | '\u{64b}'..='\u{652}');
    sentence
        .split(move |c: char| !(c.is_alphanumeric() || matches!(c, '_' | '\'' | '’') || is_mark(c)))
        .map(|word| word.trim_matches(['\'', '’']))
        .filter(|word| !word.is_empty())
}

/// Whether `word` is the word `known`, which is in lower case, in any case and with any
/// apostrophe.
fn is_same(known: &str, word: &str) -> bool {
    if word.is_ascii() {
        return known.eq_ignore_ascii_case(word);
    }
    let plain = |c: char| if c == '’' { '\'' } else { c };
    word.chars()
        .flat_map(char::to_lowercase)
        .map(plain)
        .eq(known.chars())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_rule_is_known_by_its_words() {
        for rule in [
            "NEVER touch main.",
            "it must pass",
            "Do  not delete it",
            "don’t ask",
            "reply with \"only\" yes",
            "必ずテストを実行してください",
            "يجب أن تكون الرحلة مباشرة",
            "Никогда не удаляй файлы",
        ] {
            assert_eq!(strength(rule), Some(Strength::Rule), "{rule}");
        }
        assert_eq!(strength("Make sure that it builds."), Some(Strength::Wish));
        assert_eq!(strength("I don't know which one."), Some(Strength::Wish));
    }

    #[test]
    fn who_speaks_of_himself_and_asks_for_something_rules() {
        for rule in [
            "I want you to never push",
            "I expect that the tests always pass.",
            "I must ask you to use only TS-11.",
        ] {
            assert_eq!(strength(rule), Some(Strength::Rule), "{rule}");
        }
        let notice = "<note>You must not reply.</note>";
        assert_eq!(strength(notice), Some(Strength::Wish));
    }

    #[test]
    fn a_word_inside_of_another_makes_no_rule() {
        for other in [
            "mustard and commonly",
            "nevertheless fine",
            "You do, not I... maybe",
            "read_only mode",
            "テストです",
        ] {
            let expected = other.contains("do, not").then_some(Strength::Rule);
            assert_eq!(strength(other), expected, "{other}");
        }
    }
}
