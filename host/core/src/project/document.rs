//! The form of `baler.toml`.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::time::Duration;

use serde::{Deserialize, Serialize};

use crate::content_hash::ContentHash;
use crate::limits;
use crate::request::Policy;
use crate::strategy_name::StrategyName;

/// The file.
#[derive(Debug, Default, Deserialize)]
#[serde(default, deny_unknown_fields, rename_all = "kebab-case")]
pub(super) struct Document {
    pub(super) strategies: BTreeMap<Name, Entry>,
    pub(super) publishers: BTreeMap<String, PublisherTable>,
    pub(super) policy: PolicyTable,
}

/// A table `[strategies.NAME]`.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub(super) struct Entry {
    pub(super) source: Source,
    #[serde(default)]
    pub(super) version: Option<String>,
    #[serde(default)]
    pub(super) publisher: Option<String>,
    #[serde(default)]
    pub(super) digest: Option<Digest>,
    #[serde(default)]
    pub(super) grant: Vec<Grant>,
    #[serde(default)]
    pub(super) config: Option<Config>,
    #[serde(default)]
    pub(super) limits: Limits,
}

/// Where the strategy is.
#[derive(Debug, Deserialize)]
#[serde(
    untagged,
    expecting = "expected a file such as `{ path = \"keep-newest.wasm\" }`, or a place such as \"oci://registry.example/acme/keep-newest\""
)]
pub(super) enum Source {
    File(FileSource),
    Registry(String),
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct FileSource {
    pub(super) path: PathBuf,
}

/// A table `[publishers.NAME]`.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct PublisherTable {
    pub(super) keys: Vec<KeySource>,
}

/// A public key, or the file that holds it.
#[derive(Debug, Deserialize)]
#[serde(
    untagged,
    expecting = "expected a key as base64 text, or the file of one such as `{ file = \"acme.pem\" }`"
)]
pub(super) enum KeySource {
    Text(String),
    File(KeyFile),
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct KeyFile {
    pub(super) file: PathBuf,
}

/// What happens with strategies of registries that no publisher has to have signed.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Unsigned {
    /// They are refused.
    #[default]
    Refuse,
    /// Those whose digest is in `baler.lock` are used.
    Locked,
}

/// What a strategy may have beyond the contract's world without a model.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
#[non_exhaustive]
pub enum Grant {
    /// It may ask the model that the run has, if it has one.
    Model,
}

/// Whether something is allowed.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Permit {
    /// It is allowed.
    #[default]
    Allow,
    /// It is refused.
    Refuse,
}

/// The table `[policy]`.
#[derive(Debug, Default, Deserialize)]
#[serde(default, deny_unknown_fields, rename_all = "kebab-case")]
pub(super) struct PolicyTable {
    pub(super) unlisted: Permit,
    pub(super) digests: Digests,
    pub(super) wasi: Permit,
    pub(super) unsigned: Unsigned,
    pub(super) plans: Policy,
}

#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(super) enum Digests {
    #[default]
    Optional,
    Required,
}

impl Digests {
    pub(super) const fn permit(self) -> Permit {
        match self {
            Self::Optional => Permit::Allow,
            Self::Required => Permit::Refuse,
        }
    }
}

/// Limits of a strategy. `None` leaves the default.
#[derive(Debug, Clone, Copy, Default, Deserialize)]
#[serde(default, deny_unknown_fields, rename_all = "kebab-case")]
pub(super) struct Limits {
    pub(super) memory_mib: Option<Mebibytes>,
    pub(super) timeout_ms: Option<Milliseconds>,
    pub(super) fuel: Option<Fuel>,
}

/// Fuel, at least 1.
pub(super) type Fuel = std::num::NonZeroU64;

impl Limits {
    pub(super) fn over(self, base: limits::Limits) -> limits::Limits {
        let time = self.timeout_ms.map(|ms| Duration::from_millis(ms.0));
        base.with_memory(self.memory_mib.map_or(base.memory, |mib| mib.0 << 20))
            .with_time(time.unwrap_or(base.time))
            .with_model_time(time.unwrap_or(base.model_time))
            .with_fuel(self.fuel.map_or(base.fuel, Fuel::get))
    }
}

/// Mebibytes, as many as a sandbox can have.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(try_from = "u64")]
pub(super) struct Mebibytes(pub(super) usize);

impl TryFrom<u64> for Mebibytes {
    type Error = String;

    fn try_from(number: u64) -> Result<Self, String> {
        let most = limits::EngineLimits::default().memory >> 20;
        usize::try_from(number)
            .ok()
            .filter(|number| (1..=most).contains(number))
            .map(Self)
            .ok_or_else(|| format!("expected 1 to {most} MiB, found {number}"))
    }
}

/// Milliseconds, at most a day.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(try_from = "u64")]
pub(super) struct Milliseconds(pub(super) u64);

impl TryFrom<u64> for Milliseconds {
    type Error = String;

    fn try_from(number: u64) -> Result<Self, String> {
        const DAY: u64 = 86_400_000;
        match number {
            1..=DAY => Ok(Self(number)),
            _ => Err(format!(
                "expected 1 to {DAY} milliseconds (a day), found {number}"
            )),
        }
    }
}

/// The name of a strategy.
#[derive(Debug, PartialEq, Eq, PartialOrd, Ord, Deserialize)]
#[serde(try_from = "String")]
pub(super) struct Name(pub(super) String);

/// Checks a name that a strategy is to have in a list.
///
/// # Errors
/// It cannot be one: what is expected, and what was found.
pub fn check_name(name: &str) -> Result<(), String> {
    Name::try_from(name.to_owned()).map(|_| ())
}

impl TryFrom<String> for Name {
    type Error = String;

    fn try_from(name: String) -> Result<Self, String> {
        let is_fit = StrategyName::exact(&name).is_some()
            && name.starts_with(|c: char| c.is_ascii_alphanumeric())
            && !name.ends_with(".wasm")
            && !name.to_ascii_lowercase().starts_with("native");
        match is_fit {
            true => Ok(Self(name)),
            false => Err(format!(
                "expected the name of a strategy (1 to {} letters, digits, `-`, `_` and `.`, beginning with a letter or digit, not with `native`, and not ending in `.wasm`), found `{name}`",
                baler_conversation::marks::MOST_NAME
            )),
        }
    }
}

/// The hash of a file.
#[derive(Debug, Clone, Copy, Deserialize)]
#[serde(try_from = "String")]
pub(super) struct Digest(pub(super) ContentHash);

impl TryFrom<String> for Digest {
    type Error = String;

    fn try_from(text: String) -> Result<Self, String> {
        text.strip_prefix("sha256:")
            .and_then(ContentHash::from_hex)
            .map(Self)
            .ok_or_else(|| {
                format!("expected `sha256:` and 64 hex digits, as `baler introspect` shows them, found `{text}`")
            })
    }
}

/// A config, as JSON text for the strategy.
#[derive(Debug, Deserialize)]
#[serde(try_from = "toml::Table")]
pub(super) struct Config(pub(super) String);

impl TryFrom<toml::Table> for Config {
    type Error = String;

    fn try_from(table: toml::Table) -> Result<Self, String> {
        json(&toml::Value::Table(table)).map(|json| Self(json.to_string()))
    }
}

/// Returns a value of TOML as JSON.
fn json(value: &toml::Value) -> Result<serde_json::Value, String> {
    use serde_json::Value as Json;
    Ok(match value {
        toml::Value::String(text) => Json::from(text.as_str()),
        toml::Value::Integer(number) => Json::from(*number),
        toml::Value::Float(number) if number.is_finite() => Json::from(*number),
        toml::Value::Boolean(is) => Json::from(*is),
        toml::Value::Array(list) => list.iter().map(json).collect::<Result<_, _>>()?,
        toml::Value::Table(table) => {
            let members = table.iter();
            let members = members.map(|(name, value)| Ok((name.clone(), json(value)?)));
            Json::Object(members.collect::<Result<_, String>>()?)
        }
        toml::Value::Float(number) => {
            return Err(format!(
                "expected a config that JSON can hold, found the number `{number}`"
            ));
        }
        toml::Value::Datetime(date) => {
            return Err(format!(
                "expected a config that JSON can hold, found the date `{date}`; put it between quotes"
            ));
        }
    })
}
