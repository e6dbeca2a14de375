//! Hashes by which a history is recognised when its messages come again.

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize};
use sha2::{Digest as _, Sha256};

use super::Conversation;
use crate::Role;
use crate::formats::plain;

/// A hash of the first messages of a conversation, without what clients change from request to request: marks for the cache,
/// and a text that is sometimes a list of one block. Model, tools and system text are not in it; nor is what messages of the
/// system and the developer before all others say, in which programs put the time and the state of a folder.
///
/// As text it is 32 hex digits.
#[derive(Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(into = "String", try_from = "String")]
pub struct Prefix(u128);

/// Error of a text that is not a [`Prefix`].
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("expected 32 hex digits as the hash of the first messages of a history")]
pub struct NoPrefix;

impl Conversation {
    /// Returns the hashes of the first 0, 1, 2 … messages, up to all of them.
    #[must_use]
    pub fn prefixes(&self) -> Vec<Prefix> {
        self.prefixes_up_to(self.message_count())
    }

    /// Returns the hash of the first `messages` messages, or of all if the conversation has fewer.
    #[must_use]
    pub fn prefix(&self, messages: usize) -> Prefix {
        let all = self.prefixes_up_to(messages);
        all.last().copied().unwrap_or(Prefix(0))
    }

    fn prefixes_up_to(&self, messages: usize) -> Vec<Prefix> {
        let mut last = Prefix::of(0, self.format().name().as_bytes());
        let mut all = Vec::with_capacity(messages + 1);
        all.push(last);
        let mut is_leading = true;
        all.extend(self.all_messages().iter().take(messages).map(|message| {
            is_leading &= matches!(message.role, Role::System | Role::Developer);
            let raw = self.raw(message);
            let plain = || plain(raw).map_or_else(|| raw.to_owned(), |plain| plain.to_string());
            let said = if is_leading { String::new() } else { plain() };
            last = Prefix::of(last.0, said.as_bytes());
            last
        }));
        all
    }
}

impl Prefix {
    fn of(before: u128, next: &[u8]) -> Self {
        let mut hash = Sha256::new();
        hash.update(before.to_be_bytes());
        hash.update(next);
        let hash: [u8; 32] = hash.finalize().into();
        let half = hash.first_chunk().copied().unwrap_or_default();
        Self(u128::from_be_bytes(half))
    }
}

impl fmt::Display for Prefix {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:032x}", self.0)
    }
}

impl fmt::Debug for Prefix {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Prefix({self})")
    }
}

impl FromStr for Prefix {
    type Err = NoPrefix;

    fn from_str(text: &str) -> Result<Self, NoPrefix> {
        let is_hex = text.len() == 32 && text.bytes().all(|byte| byte.is_ascii_hexdigit());
        let number = is_hex.then(|| u128::from_str_radix(text, 16).ok());
        number.flatten().map(Self).ok_or(NoPrefix)
    }
}

impl From<Prefix> for String {
    fn from(prefix: Prefix) -> Self {
        prefix.to_string()
    }
}

impl TryFrom<String> for Prefix {
    type Error = NoPrefix;

    fn try_from(text: String) -> Result<Self, NoPrefix> {
        text.parse()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn prefixes(messages: &str) -> Vec<Prefix> {
        let body =
            format!(r#"{{"model":"claude-opus-5-5","max_tokens":9,"messages":[{messages}]}}"#);
        let conversation = Conversation::of(&body, None).expect("it can be read");
        conversation.prefixes()
    }

    #[test]
    fn the_same_messages_have_the_same_hashes_however_they_are_spelled() {
        let short = prefixes(
            r#"{"role":"user","content":"潮はいつ満ちますか。"},{"role":"assistant","content":"七時です。"}"#,
        );
        let long = prefixes(
            r#"{"content": [{"type": "text", "text": "潮はいつ満ちますか。", "cache_control": {"type": "ephemeral"}}], "role": "user"},
               {"role":"assistant","content":[{"type":"text","text":"七時です。"}]}, {"role":"user","content":"ありがとう。"}"#,
        );
        assert_eq!((short.len(), long.len()), (3, 4));
        assert_eq!(short, long[..3]);
    }

    #[test]
    fn a_change_changes_all_hashes_behind_it() {
        let one = prefixes(r#"{"role":"user","content":"a"},{"role":"assistant","content":"b"}"#);
        let other = prefixes(r#"{"role":"user","content":"A"},{"role":"assistant","content":"b"}"#);
        assert_eq!(one[0], other[0]);
        assert!(
            one[1..]
                .iter()
                .zip(&other[1..])
                .all(|(one, other)| one != other)
        );
        // Two messages are not one with the text of both.
        assert_ne!(prefixes(r#"{"role":"user","content":"ab"}"#)[1], one[1]);
    }

    #[test]
    fn a_hash_is_read_as_it_is_written() {
        let all = prefixes(r#"{"role":"user","content":"a"}"#);
        let json = serde_json::to_string(&all).expect("JSON");
        assert_eq!(
            serde_json::from_str::<Vec<Prefix>>(&json).expect("hashes"),
            all
        );
        for wrong in [
            "",
            "12",
            "+0000000000000000000000000000000",
            &"é".repeat(16),
        ] {
            assert_eq!(wrong.parse::<Prefix>(), Err(NoPrefix), "{wrong}");
        }
    }
}
