//! Options by name, as JSON.

mod compaction;
mod table;
#[cfg(not(target_family = "wasm"))]
mod window;

use serde_json::{Map, Value};

#[cfg(not(target_family = "wasm"))]
pub(crate) use compaction::of_compactor;
pub use compaction::{compaction, format};
pub use table::{Group, Row, TABLE, Type};
#[cfg(not(target_family = "wasm"))]
pub(crate) use window::{WindowSize, window};

use crate::error::{Error, Kind};

/// Options by name. Each may be read once; what is left over in the end is unknown.
#[derive(Debug)]
pub struct Options(Map<String, Value>);

impl Options {
    /// Reads an object; an empty text is one without options.
    ///
    /// # Errors
    /// It is not a JSON object.
    pub fn read(json: &str) -> Result<Self, Error> {
        if json.is_empty() {
            return Ok(Self(Map::new()));
        }
        match serde_json::from_str(json) {
            Ok(Value::Object(options)) => Ok(Self(options)),
            _ => Err(Error::new(
                Kind::Option,
                "expected options by name".to_owned(),
            )),
        }
    }

    /// Removes and reads an option; `None` if it is missing or null.
    pub(crate) fn take<T>(
        &mut self,
        name: &str,
        read: impl FnOnce(&Value) -> Result<T, String>,
    ) -> Result<Option<T>, Error> {
        let value = self.0.remove(name).filter(|value| !value.is_null());
        value
            .map(|value| {
                read(&value).map_err(|expected| {
                    Error::option(name, format!("{expected}, found {}", found(&value)))
                })
            })
            .transpose()
    }

    /// Fails if an option is left.
    pub(crate) fn end(self) -> Result<(), Error> {
        match self.0.keys().next() {
            None => Ok(()),
            Some(name) => Err(Error {
                kind: Kind::Option,
                option: None,
                message: format!("no option is called `{name}`"),
                remedy: None,
            }),
        }
    }

    #[cfg(not(target_family = "wasm"))]
    pub(crate) fn into_value(self) -> Value {
        Value::Object(self.0)
    }
}

/// Returns a value as errors show it.
fn found(value: &Value) -> String {
    let text = value.to_string();
    match text.chars().count() {
        0..=80 => text,
        _ => format!("{}…", text.chars().take(80).collect::<String>()),
    }
}

pub(crate) fn text(value: &Value) -> Result<String, String> {
    value
        .as_str()
        .map(str::to_owned)
        .ok_or_else(|| "expected a text".to_owned())
}

pub(crate) fn flag(value: &Value) -> Result<bool, String> {
    value
        .as_bool()
        .ok_or_else(|| "expected true or false".to_owned())
}

/// Reads a whole number above 0.
pub(crate) fn count<T: TryFrom<u64>>(value: &Value) -> Result<T, String> {
    value
        .as_u64()
        .filter(|number| *number > 0)
        .and_then(|number| T::try_from(number).ok())
        .ok_or_else(|| "expected a whole number above 0 that is not too large".to_owned())
}
