//! The names of strategies in marks and receipts.

use std::fmt;
use std::sync::Arc;

use baler_conversation::marks::MOST_NAME;

use crate::content_hash::ContentHash;

/// Characters at the end of a cut name that distinguish it from others with the same beginning: a hyphen and
/// hex digits of a hash.
const SUFFIX: usize = 9;

/// Name of a strategy: 1 to [`MOST_NAME`] ASCII letters, digits and `-_.`. The names of native strategies
/// begin with `native:`; no other name has a colon, so no component can imitate them.
#[derive(Clone, PartialEq, Eq, Hash)]
pub(crate) struct StrategyName(Arc<str>);

impl StrategyName {
    pub(crate) fn native(name: &'static str) -> Self {
        Self(name.into())
    }

    /// Returns a valid name similar to `name`: other characters become `-`. A name that is too long, or has
    /// no letter and no digit, ends in digits of `hash`.
    pub(crate) fn like(name: &str, hash: &ContentHash) -> Self {
        let mut plain: String = name.chars().map(plain).take(MOST_NAME).collect();
        let is_cut = name.chars().count() > MOST_NAME;
        if is_cut || !plain.contains(|c: char| c.is_ascii_alphanumeric()) {
            plain.truncate(MOST_NAME - SUFFIX);
            plain.push('-');
            plain.push_str(&hash.hex()[..SUFFIX - 1]);
        }
        Self(plain.into())
    }

    /// Returns exactly this name; `None` if it is not valid for a strategy that is not native.
    pub(crate) fn exact(name: &str) -> Option<Self> {
        let is_fit = (1..=MOST_NAME).contains(&name.len()) && name.chars().all(|c| plain(c) == c);
        is_fit.then(|| Self(name.into()))
    }

    pub(crate) fn as_str(&self) -> &str {
        &self.0
    }
}

/// Returns the character, or `-` for a character that is not allowed in a name.
const fn plain(c: char) -> char {
    match c {
        'a'..='z' | 'A'..='Z' | '0'..='9' | '-' | '_' | '.' => c,
        _ => '-',
    }
}

impl fmt::Debug for StrategyName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Debug::fmt(&self.0, f)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const HASH: ContentHash = ContentHash::new([0xab; 32]);

    fn like(name: &str) -> String {
        StrategyName::like(name, &HASH).as_str().to_owned()
    }

    #[test]
    fn like_keeps_allowed_characters_and_replaces_others() {
        assert_eq!(like("keep_last.v2-beta"), "keep_last.v2-beta");
        assert_eq!(like("native:digest"), "native-digest");
        assert_eq!(like("a\"> <system>"), "a----system-");
    }

    #[test]
    fn like_ends_an_overlong_or_unreadable_name_with_digits_of_the_hash() {
        let longest = "x".repeat(MOST_NAME);
        assert_eq!(like(&longest), longest);
        let cut = like(&format!("{longest}y"));
        assert_eq!(cut, format!("{}-abababab", "x".repeat(MOST_NAME - 9)));
        assert_eq!(like("策略"), "---abababab");
        assert_eq!(like(""), "-abababab");
    }

    #[test]
    fn exact_accepts_only_allowed_characters_up_to_the_maximum_length() {
        let longest = "x".repeat(MOST_NAME);
        for fit in ["a", "keep_last.v2-beta", &longest] {
            let name = StrategyName::exact(fit).expect("is fit");
            assert_eq!(name.as_str(), fit);
        }
        let too_long = format!("{longest}y");
        for unfit in ["", "native:digest", "two words", "策略", &too_long] {
            assert_eq!(StrategyName::exact(unfit), None, "{unfit}");
        }
    }
}
