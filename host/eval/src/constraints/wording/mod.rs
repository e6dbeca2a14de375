//! The wording of constraints, a file for each language.

mod arabic;
mod english;
mod german;
mod japanese;
mod spanish;

use super::ConstraintKind;

/// All languages.
pub(super) const ALL: [&Wording; 5] = [
    &english::WORDING,
    &german::WORDING,
    &spanish::WORDING,
    &japanese::WORDING,
    &arabic::WORDING,
];

/// The sentences of one language.
pub(super) struct Wording {
    /// The code of ISO 639-1.
    pub(super) language: &'static str,
    /// By kind, in the order of [`ConstraintKind::ALL`].
    pub(super) sentences: [Sentences; ConstraintKind::ALL.len()],
}

/// The sentences of one kind. `{name}` stands for a name.
pub(super) struct Sentences {
    /// Without words such as *never*.
    pub(super) plain: [&'static str; 3],
    /// With one of them.
    pub(super) absolute: [&'static str; 3],
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;

    /// Words such as *never*, *always*, *must* and *only*, in lower case.
    fn absolute_words(language: &str) -> &'static [&'static str] {
        match language {
            "en" => &["never", "always", "must", "only", "do not", "don't"],
            "de" => &["nie", "niemals", "immer", "muss", "nur", "auf keinen fall"],
            "es" => &["nunca", "jamás", "siempre", "debes", "solo"],
            "ja" => &["決して", "絶対", "必ず", "常に", "だけ"],
            "ar" => &["أبد", "دائم", "يجب", "فقط"],
            _ => &[],
        }
    }

    fn has_absolute_word(language: &str, sentence: &str) -> bool {
        let lower = sentence.to_lowercase();
        let words: Vec<&str> = lower
            .split(|c: char| !c.is_alphanumeric() && c != '\'')
            .filter(|word| !word.is_empty())
            .collect();
        let spaced = format!(" {} ", words.join(" "));
        absolute_words(language).iter().any(|word| match language {
            // Words are not parted, or have endings.
            "ja" | "ar" => lower.contains(word),
            _ => spaced.contains(&format!(" {word} ")),
        })
    }

    #[test]
    fn only_absolute_sentences_have_words_such_as_never() {
        for wording in ALL {
            for sentences in &wording.sentences {
                for sentence in sentences.absolute {
                    assert!(has_absolute_word(wording.language, sentence), "{sentence}");
                }
                for sentence in sentences.plain {
                    assert!(!has_absolute_word(wording.language, sentence), "{sentence}");
                }
            }
        }
    }

    #[test]
    fn sentences_differ_and_each_is_one_line_with_an_end() {
        let mut seen = BTreeSet::new();
        for wording in ALL {
            for sentences in &wording.sentences {
                for sentence in sentences.plain.into_iter().chain(sentences.absolute) {
                    assert!(sentence.ends_with(['.', '。']), "{sentence}");
                    assert_eq!(sentence.lines().count(), 1, "{sentence}");
                    assert!(seen.insert(sentence), "{sentence}");
                }
            }
        }
    }
}
