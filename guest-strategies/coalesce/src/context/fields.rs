//! Reads objects field by field. A derived reader would add ten times as much code to the component.

use crate::value::{Key, Value};

/// A value and its path.
pub(super) struct At {
    pub value: Value,
    pub path: String,
}

/// The fields of an object, and its path.
pub(super) struct Fields {
    entries: Vec<(Key, Value)>,
    path: String,
    known: Vec<&'static str>,
}

impl Fields {
    /// Returns the fields of a value; fails if it is not an object.
    pub(super) fn of(at: At) -> Result<Self, String> {
        match at.value {
            Value::Map(entries) => Ok(Self {
                entries,
                path: at.path,
                known: Vec::new(),
            }),
            _ => Err(wrong(&at.path, "an object")),
        }
    }

    /// Returns a field and its path; `None` if it is absent or null.
    fn take(&mut self, name: &'static str) -> Option<(Value, String)> {
        self.known.push(name);
        let is_it = |(key, _): &(Key, Value)| key.name() == name;
        let place = self.entries.iter().position(is_it)?;
        let (_, value) = self.entries.swap_remove(place);
        let path = match self.path.as_str() {
            "" => name.to_owned(),
            path => format!("{path}.{name}"),
        };
        (value != Value::Nil).then_some((value, path))
    }

    pub(super) fn value(&mut self, name: &'static str) -> Option<Value> {
        self.take(name).map(|(value, _)| value)
    }

    pub(super) fn text(&mut self, name: &'static str) -> Result<Option<String>, String> {
        self.take(name)
            .map(|(value, path)| text(value, &path))
            .transpose()
    }

    pub(super) fn name(&mut self) -> Result<String, String> {
        let path = self.path.clone();
        self.text("name")?
            .ok_or_else(|| format!("`{path}` has no `name`"))
    }

    pub(super) fn integer(&mut self, name: &'static str) -> Result<Option<i128>, String> {
        match self.take(name) {
            None => Ok(None),
            Some((Value::Integer(value), _)) => Ok(Some(value)),
            Some((_, path)) => Err(wrong(&path, "an integer")),
        }
    }

    pub(super) fn flag(&mut self, name: &'static str) -> Result<Option<bool>, String> {
        match self.take(name) {
            None => Ok(None),
            Some((Value::Bool(value), _)) => Ok(Some(value)),
            Some((_, path)) => Err(wrong(&path, "true or false")),
        }
    }

    /// The items of a list with their paths; none where it is absent.
    pub(super) fn list(&mut self, name: &'static str) -> Result<Option<Vec<At>>, String> {
        match self.take(name) {
            None => Ok(None),
            Some((Value::List(items), path)) => {
                let mut list = Vec::with_capacity(items.len());
                for (index, value) in items.into_iter().enumerate() {
                    let path = format!("{path}[{index}]");
                    list.push(At { value, path });
                }
                Ok(Some(list))
            }
            Some((_, path)) => Err(wrong(&path, "a list")),
        }
    }

    /// A list of texts, empty where it is absent.
    pub(super) fn texts(&mut self, name: &'static str) -> Result<Vec<String>, String> {
        let mut texts = Vec::new();
        for At { value, path } in self.list(name)?.unwrap_or_default() {
            texts.push(text(value, &path)?);
        }
        Ok(texts)
    }

    /// The entries of an object of any names, empty where it is absent.
    pub(super) fn entries(&mut self, name: &'static str) -> Result<Vec<(String, Value)>, String> {
        let Some(fields) = self.object(name)? else {
            return Ok(Vec::new());
        };
        let mut entries = Vec::with_capacity(fields.entries.len());
        for (key, value) in fields.entries {
            let (Key::Keyword(name) | Key::Text(name)) = key;
            entries.push((name, value));
        }
        Ok(entries)
    }

    /// The entries of an object of any names whose values have to be texts.
    pub(super) fn text_entries(
        &mut self,
        name: &'static str,
    ) -> Result<Vec<(String, String)>, String> {
        let mut entries = Vec::new();
        for (key, value) in self.entries(name)? {
            let value = text(value, &format!("{name}.{key}"))?;
            entries.push((key, value));
        }
        Ok(entries)
    }

    /// The fields of an object in a field, where it is there.
    pub(super) fn object(&mut self, name: &'static str) -> Result<Option<Self>, String> {
        self.take(name)
            .map(|(value, path)| Self::of(At { value, path }))
            .transpose()
    }

    /// Refuses fields that nobody asked for.
    pub(super) fn end(self) -> Result<(), String> {
        match self.entries.first() {
            None => Ok(()),
            Some((key, _)) => Err(format!(
                "`{}` has an unknown field `{}`, expected one of `{}`",
                self.path,
                key.name(),
                self.known.join("`, `")
            )),
        }
    }
}

/// A value that has to be a text.
fn text(value: Value, path: &str) -> Result<String, String> {
    match value {
        Value::Text(text) => Ok(text),
        _ => Err(wrong(path, "a text")),
    }
}

fn wrong(path: &str, expected: &str) -> String {
    match path {
        "" => format!("it must be {expected}"),
        path => format!("`{path}` must be {expected}"),
    }
}
