//! Recognises sentences of the user that are rules.

mod opening;
mod places;
mod words;

pub use places::rules_in;

use std::borrow::Cow;
use std::sync::LazyLock;

use words::{
    AFTER_BAN, IDLE, REQUESTING, RULES, SPANISH, UNSPACED, UNSPACED_ENDS, UNSPACED_STARTS,
    UNSPACED_TOLD, UNSPACED_WISHES, WISHES,
};

use super::section::Section;
use super::sentences::beginning;

/// How binding a sentence is, the most binding first.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Strength {
    /// Says never, always, must, do not or only.
    Rule,
    /// Asks for something in a less binding way.
    Wish,
    /// Has words of a rule, but says how things are: `I never saw that`.
    Remark,
}

impl Strength {
    /// The section of a digest for sentences that are so binding. A remark belongs to its time.
    pub(super) const fn section(self) -> Section {
        match self {
            Self::Rule | Self::Wish => Section::Rules,
            Self::Remark => Section::Remarks,
        }
    }
}

/// Words with which a sentence about the speaker asks for something.
const ASKING: [&str; 5] = ["you", "your", "want", "expect", "insist"];

/// Returns how binding a sentence is; `None` if it is not a rule. A sentence of the speakers about themselves, or
/// about what there is, that asks for nothing is a remark, and a program's notice in its tags at most a wish. A question that asks for nothing
/// is not a rule.
///
/// Examines only the [`beginning`] of a sentence: this cannot be interrupted, and a rule is cut after it
/// anyway.
pub(super) fn strength(sentence: &str) -> Option<Strength> {
    let sentence = beginning(sentence);
    let found = strength_of_words(sentence)?;
    if sentence.trim_end().ends_with(['?', '？', '؟']) && !requests(sentence) {
        return None;
    }
    // `there's only one file left` says how things are.
    let own = [
        "i ",
        "i'm ",
        "i've ",
        "i’m ",
        "there's ",
        "there’s ",
        "there is ",
        "there are ",
    ];
    let said = without_interjections(sentence);
    let is_own = own.iter().any(|start| {
        said.get(..start.len())
            .is_some_and(|head| head.eq_ignore_ascii_case(start))
    });
    let asks = || words(sentence).any(|word| ASKING.iter().any(|known| is_same(known, word)));
    Some(match found {
        Strength::Rule if is_own && !asks() => Strength::Remark,
        Strength::Rule if sentence.starts_with('<') => Strength::Wish,
        Strength::Rule if !asks() => match without_own(sentence) {
            Some(rest) => strength_of_words(&rest).unwrap_or(Strength::Remark),
            None => found,
        },
        found => found,
    })
}

/// Returns a sentence without what the speakers say that they do not have or know: `It is Mira's, but I don't have her
/// number.` `None` if it says no such thing.
fn without_own(sentence: &str) -> Option<String> {
    let all: Vec<&str> = words(sentence).collect();
    let is_any = |word: &str, of: &[&str]| of.iter().any(|known| is_same(known, word));
    let own = |at: usize| {
        let rest = &all[at..];
        let is_condition = at > 0 && is_any(all[at - 1], &["if", "unless", "until", "when"]);
        let said = match rest {
            [i, no, verb, ..] if is_same("don't", no) => Some((i, verb, 3)),
            [i, does, no, verb, ..] if is_same("do", does) && is_same("not", no) => {
                Some((i, verb, 4))
            }
            _ => None,
        };
        let said = said.filter(|(i, verb, _)| is_same("i", i) && is_any(verb, &OWN));
        said.filter(|_| !is_condition).map(|(_, _, count)| count)
    };
    let mut others: Vec<&str> = Vec::new();
    let mut at = 0;
    while at < all.len() {
        match own(at) {
            Some(count) => at += count,
            None => {
                others.push(all[at]);
                at += 1;
            }
        }
    }
    (others.len() < all.len()).then(|| others.join(" "))
}

/// What people say that they do not do, without a wish that others do it.
const OWN: [&str; 10] = [
    "have",
    "know",
    "remember",
    "recall",
    "see",
    "understand",
    "mind",
    "care",
    "recognize",
    "need",
];

/// Returns a sentence without the words that only begin it: `ok, i think` is `i think`.
fn without_interjections(mut sentence: &str) -> &str {
    const INTERJECTIONS: [&str; 12] = [
        "ok", "okay", "alright", "well", "so", "hm", "hmm", "no", "yes", "oh", "and", "but",
    ];
    while let Some(word) = words(sentence).next()
        && INTERJECTIONS.iter().any(|known| is_same(known, word))
        && let Some(at) = sentence.find(word)
    {
        let rest = &sentence[at + word.len()..];
        sentence = rest.trim_start_matches(|c: char| c.is_whitespace() || ",.!…-–—".contains(c));
    }
    sentence
}

/// Whether a sentence refers to the one before it: `Never go over that`.
pub(super) fn refers_back(sentence: &str) -> bool {
    const REFERRING: [&str; 16] = [
        "that", "it", "this", "there", "them", "das", "dies", "davon", "dort", "darüber", "cela",
        "ça", "là", "eso", "esto", "ahí",
    ];
    words(sentence).any(|word| REFERRING.iter().any(|known| is_same(known, word)))
}

/// Characters of a request that are examined for a new goal.
const BEGINNING: usize = 300;

/// Whether a request begins with a sentence that withdraws an earlier request, or sets another goal.
pub(super) fn changes_goal(request: &str) -> bool {
    let beginning = request.char_indices().nth(BEGINNING);
    let end = beginning.map_or(request.len(), |(at, _)| at);
    request[..end]
        .split(['.', '!', '?', '\n', '。', '！'])
        .any(|sentence| opening::changes(sentence.trim()))
}

fn strength_of_words(sentence: &str) -> Option<Strength> {
    let mut is_wish = false;
    let mut rest = words(sentence);
    while let Some(word) = rest.next() {
        if !may_begin(word) {
            continue;
        }
        let word = &*lowered(word);
        // `never mind the …` withdraws something, so it is more than talk.
        is_wish = is_wish
            || WISHES
                .iter()
                .any(|phrase| matches_phrase(phrase, word, &rest));
        if let Some(idle) = IDLE.iter().find(|idle| matches_phrase(idle, word, &rest)) {
            for _ in 1..idle.len() {
                rest.next();
            }
            continue;
        }
        if RULES
            .iter()
            .any(|phrase| matches_phrase(phrase, word, &rest))
        {
            return Some(Strength::Rule);
        }
    }
    if !sentence.is_ascii() && is_unspaced_rule(sentence)
        || is_french_ban(sentence)
        || opening::changes(sentence)
    {
        return Some(Strength::Rule);
    }
    let is_unspaced_wish =
        || !sentence.is_ascii() && UNSPACED_WISHES.iter().any(|word| sentence.contains(word));
    let is_wish =
        is_wish || begins_as_ban(sentence) || opening::asks(sentence) || is_unspaced_wish();
    is_wish.then_some(Strength::Wish)
}

/// Whether `word`, which is [`lowered`], and what follows it are the words of `phrase`.
fn matches_phrase<'a>(
    phrase: &[&str],
    word: &str,
    rest: &(impl Iterator<Item = &'a str> + Clone),
) -> bool {
    let mut next = rest.clone();
    phrase.split_first().is_some_and(|(first, others)| {
        *first == word
            && others
                .iter()
                .all(|other| next.next().is_some_and(|word| is_same(other, word)))
    })
}

fn requests(sentence: &str) -> bool {
    let mut rest = words(sentence);
    while let Some(word) = rest.next() {
        let word = &*lowered(word);
        if REQUESTING
            .iter()
            .any(|phrase| matches_phrase(phrase, word, &rest))
        {
            return true;
        }
    }
    ["ください", "请", "請", "주세요"]
        .iter()
        .any(|word| sentence.contains(word))
}

fn is_unspaced_rule(sentence: &str) -> bool {
    let bare = sentence.trim_end_matches(['。', '｡', '.', '!', '！']);
    // `SKU-7だけです。` is an answer to a question.
    let told = UNSPACED_TOLD.iter().find_map(|end| bare.strip_suffix(end));
    let wanted = told.unwrap_or(sentence);
    UNSPACED.iter().any(|word| wanted.contains(word))
        || is_japanese_ban(bare)
        || UNSPACED_STARTS.iter().any(|start| bare.starts_with(start))
        || UNSPACED_ENDS.iter().any(|end| bare.ends_with(end))
}

/// Recognises `触らないでください`, `使わないで`: nothing follows but polite forms.
fn is_japanese_ban(sentence: &str) -> bool {
    sentence.match_indices("ないで").any(|(at, found)| {
        let behind = &sentence[at + found.len()..];
        matches!(behind, "" | "ね" | "よ") || AFTER_BAN.iter().any(|word| behind.starts_with(word))
    })
}

/// Recognises `Ne modifie pas`, `N'ajoute aucune`: a sentence forbids if it begins with the first of both
/// words.
fn is_french_ban(sentence: &str) -> bool {
    let mut words = words(sentence);
    let Some(first) = words.next() else {
        return false;
    };
    let begins = is_same("ne", first)
        || first.starts_with(['n', 'N']) && first[1..].starts_with(['\'', '’']);
    let no = ["pas", "plus", "jamais", "rien", "aucun", "aucune"];
    begins && !sentence.contains("nqui") && words.any(|word| no.iter().any(|no| is_same(no, word)))
}

/// Whether a sentence begins as one that forbids in its language: `Nicht pushen`, `Не меняй`, `لا تعدل`, `No
/// toques`. It may also state what is not so.
fn begins_as_ban(sentence: &str) -> bool {
    let mut words = words(sentence);
    let (Some(first), Some(second)) = (words.next(), words.next()) else {
        return false;
    };
    let russian = ["й", "йте", "ите", "ьте"];
    let is_spanish = |word: &str| SPANISH.iter().any(|known| is_same(known, word));
    is_same("no", first)
        && (second.ends_with("es") || second.ends_with("as"))
        && (is_spanish(second) || words.clone().any(is_spanish))
        || is_same("nicht", first)
            && (second.ends_with("en") || words.any(|word| word.ends_with("en")))
        || is_same("не", first) && russian.iter().any(|end| second.ends_with(end))
        || first == "لا" && second.starts_with('ت') && second != "تقلق"
}

/// Whether a phrase may begin with `word`. The first byte and the length exclude most words.
fn may_begin(word: &str) -> bool {
    /// Lengths of the words with each first byte, as bits.
    static LENGTHS: LazyLock<[u16; 128]> = LazyLock::new(|| {
        let mut lengths = [0; 128];
        let phrases = RULES.iter().chain(WISHES).chain(IDLE);
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

/// Iterates the words of a sentence. Marks on letters belong to them, as in `أبدًا`.
fn words(sentence: &str) -> impl Iterator<Item = &str> + Clone {
    let is_mark = |c| matches!(c, '\u{300}'..='\u{36f}' | '\u{64b}'..='\u{652}');
    sentence
        .split(move |c: char| !(c.is_alphanumeric() || matches!(c, '_' | '\'' | '’') || is_mark(c)))
        .map(|word| word.trim_matches(['\'', '’']))
        .filter(|word| !word.is_empty())
}

/// Returns a word in lower case and with a plain apostrophe, to compare it with many. Letters outside ASCII
/// need a lookup in tables.
fn lowered(word: &str) -> Cow<'_, str> {
    if !word.is_ascii() {
        return Cow::Owned(plain(word).collect());
    }
    if word.bytes().any(|byte| byte.is_ascii_uppercase()) {
        return Cow::Owned(word.to_ascii_lowercase());
    }
    Cow::Borrowed(word)
}

/// Iterates the letters of a word in lower case, and a plain apostrophe for any.
fn plain(word: &str) -> impl Iterator<Item = char> {
    word.chars()
        .flat_map(char::to_lowercase)
        .map(|c| if c == '’' { '\'' } else { c })
}

/// Whether `word` is the word `known`, which is in lower case, in any case and with any
/// apostrophe.
fn is_same(known: &str, word: &str) -> bool {
    if word.is_ascii() {
        return known.eq_ignore_ascii_case(word);
    }
    plain(word).eq(known.chars())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rules_are_recognised_by_their_words() {
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
        assert_eq!(strength("I don't know which one."), Some(Strength::Remark));
        for remark in [
            "alright, i think there's only one left",
            "Ok, there is only one berth.",
            "Sure, my card is MC-7, but I don't have the number of the berth.",
            "It was there yesterday, I do not know more.",
        ] {
            assert_eq!(strength(remark), Some(Strength::Remark), "{remark}");
        }
    }

    #[test]
    fn what_speakers_say_of_themselves_leaves_other_rules() {
        for rule in [
            "It is mine, I don't mind, but never touch main.",
            "Moor it there, and I don't want it moved.",
            "If I don't know it, it does not exist.",
            "In this harbour I do not allow sails.",
            "Section I: never moor here.",
        ] {
            assert_eq!(strength(rule), Some(Strength::Rule), "{rule}");
        }
        for wish in [
            "Make sure that it floats, I don't have another.",
            "<notice>Never moor at pier 5.</notice>",
        ] {
            assert_eq!(strength(wish), Some(Strength::Wish), "{wish}");
        }
    }

    #[test]
    fn only_the_beginning_of_a_sentence_is_examined() {
        let words = "لا ".repeat(200_000);
        assert_eq!(strength(&words), strength(beginning(&words)));
        // It may be cut within a character.
        for before in ["", "a ", "ab "] {
            assert_eq!(strength(&format!("{before}{words}")), None);
        }
        for (rule, expected) in [
            ("يجب أن تكون الرحلة مباشرة", Strength::Rule),
            ("НИКОГДА не удаляй", Strength::Rule),
            ("Don’t ask", Strength::Rule),
            ("ÀB JETZT, Ab Jetzt auf main", Strength::Wish),
        ] {
            assert_eq!(strength(&format!("{rule} {words}")), Some(expected));
            assert_eq!(strength(&format!("{words} {rule}")), None, "{rule}");
        }
        // All that a rule can hold is looked at.
        let far = "Row. ".repeat(crate::sentences::MOST / 5);
        assert_eq!(
            strength(&format!("{far}never push {words}")),
            Some(Strength::Rule)
        );
    }

    #[test]
    fn a_sentence_about_the_speaker_that_asks_is_a_rule() {
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
    fn bans_are_recognised_in_many_languages() {
        for rule in [
            "You can't use the production database.",
            "You cannot push.",
            "Under no circumstances delete the backups.",
            "It is not allowed to moor here.",
            "Force pushes are forbidden.",
            "Smoking is prohibited.",
            "The vault is off limits.",
            "Auf keinen Fall die Datenbank anfassen.",
            "Die Tests müssen vor jedem Commit laufen.",
            "Das darf nicht sein.",
            "vendor/ ist tabu.",
            "Direkte Abfragen sind verboten.",
            "Bitte keine neuen Pakete einbauen.",
            "Ne pousse jamais sur main.",
            "N'utilise pas la base.",
            "Il faut lancer les tests.",
            "Il est interdit de fumer.",
            "Está prohibido borrar copias.",
            "Debes ejecutar las pruebas.",
            "Hay que preguntar antes.",
            "設定は変更しないこと。",
            "削除は厳禁です。",
            "再起動は禁止です。",
            "不能修改文件。",
            "请勿使用生产数据库。",
            "切勿删除备份。",
            "严禁直接执行。",
            "请务必先问我。",
            "운영 DB는 사용 금지입니다.",
            "테스트를 반드시 실행하세요.",
            "푸시하지 마세요.",
            "ممنوع حذف الملفات.",
            "Нельзя трогать папку.",
            "Запрещено удалять копии.",
            "本番DBには触らないでください。",
            "rmは使わないで。",
            "SKU-78は消さないでね。",
            "触っていいのはSKU-78だけです。",
            "别碰 vendor。",
            "Pushe nichts ohne meine Freigabe.",
        ] {
            assert_eq!(strength(rule), Some(Strength::Rule), "{rule}");
        }
        for wish in [
            "Нужно спросить.",
            "Не меняй код.",
            "Nicht auf main pushen.",
            "لا تعدل الملف.",
            "No hagas push a main.",
            "No toques la base.",
            "Stop editing the lockfile.",
            "Nothing gets deployed without my OK.",
            "Rien sans mon accord.",
            "Leave vendor/ alone.",
            "Keep it under 50 EUR.",
            "Use pnpm, not npm.",
            "Use pnpm instead of npm.",
            "Nutze pnpm statt npm.",
            "Buchen Sie höchstens 50 € ab.",
            "Die Datei bleibt unangetastet.",
            "Answer in French.",
            "Please answer in french.",
            "Antworte auf Deutsch.",
            "Réponds en français.",
            "Responde en español.",
            "Отвечай по-русски.",
            "أجب بالعربية.",
            "英語で答えて。",
            "用中文回答。",
        ] {
            assert_eq!(strength(wish), Some(Strength::Wish), "{wish}");
        }
    }

    #[test]
    fn sentences_that_withdraw_a_rule_or_set_a_goal_are_rules() {
        for rule in [
            "Scratch that about the database: prod is fine.",
            "OK, forget the revenue, I need the churn.",
            "We have a new goal: the churn per month.",
            "Change of plan.",
            "Vergiss das mit der Datenbank.",
            "Neues Ziel: die Abgänge im Monat.",
            "Oublie la base.",
            "Olvida lo de la base.",
            "Забудь про базу.",
            "新目标：每月流失率。",
        ] {
            assert_eq!(strength(rule), Some(Strength::Rule), "{rule}");
            assert!(changes_goal(&format!("Hello.\n{rule} Thanks.")), "{rule}");
        }
        for wish in [
            "Prod is fine from here on.",
            "Never mind the French.",
            "Instead, use the churn.",
            "Actually, use npm.",
            "Ab jetzt auf main.",
            "Stattdessen die Abgänge.",
            "A partir de ahora, en main.",
            "やっぱり英語でお願いします。",
            "不用了，直接部署吧。",
        ] {
            assert_eq!(strength(wish), Some(Strength::Wish), "{wish}");
        }
        for talk in [
            "Add a field for a new goal.",
            "It prints 3 instead of 4.",
            "It actually works.",
            "Users forget the password.",
            "Did you forget the tests?",
            "修复取消按钮。",
        ] {
            assert_eq!(strength(talk), None, "{talk}");
            assert!(!changes_goal(talk), "{talk}");
        }
    }

    #[test]
    fn questions_and_talk_are_no_rules() {
        for talk in [
            "Must I restart?",
            "Why does it always fail?",
            "Muss das sein?",
            "Faut-il toujours ramer ?",
            "なぜ禁止ですか？",
            "为什么不能登录？",
            "Never mind.",
            "Only kidding.",
            "Don't worry about it.",
            "It says 403 Forbidden.",
            "curl prints 405 Method Not Allowed",
            "程序不能启动。",
            "The build cannot find the file.",
            "Ne t'inquiète pas.",
            "Не знаю.",
            "Nicht schlecht.",
            "存在しないことを確認した。",
            "لا تقلق.",
            "SKU-77だけです。",
            "見ないで進めた。",
            "見ないでよかった。",
            "No changes.",
            "No errors in the log.",
            "Answer in one sentence.",
            "Stop it.",
            "The tests use npm, not pnpm.",
            "Die Datei heißt a statt b.",
        ] {
            assert_eq!(strength(talk), None, "{talk}");
        }
        assert_eq!(strength("Could you never push?"), Some(Strength::Rule));
        assert_eq!(
            strength("Never mind, but always ask."),
            Some(Strength::Rule)
        );
    }

    #[test]
    fn a_word_within_another_makes_no_rule() {
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
