use serde::Deserialize;

/// The config. `config.schema.json` is its JSON Schema.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Config {
    /// The kinds of addresses that are redacted, besides secrets.
    pub addresses: Vec<Address>,
    /// Further texts to redact.
    pub words: Vec<String>,
}

/// A kind of address.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Address {
    /// `name@host.example`
    Email,
    /// `203.0.113.7`
    Ipv4,
}

impl Default for Config {
    fn default() -> Self {
        Self {
            addresses: vec![Address::Email],
            words: Vec::new(),
        }
    }
}

/// Least bytes of a word: fewer would be found in the middle of others.
const WORD: usize = 3;

impl Config {
    pub(crate) fn check(&self) -> Result<(), String> {
        match self.words.iter().find(|word| word.len() < WORD) {
            Some(word) => Err(format!(
                "each of `words` needs at least {WORD} bytes, found `{word}`"
            )),
            None => Ok(()),
        }
    }
}
