//! The system prompt and the tools that pi records, as they hold at the end of a path (LPI-11).

use std::borrow::Cow;
use std::collections::HashMap;

use serde_json::{Value, json};

use super::blocks;
use super::entries::{Entry, Kind};
use crate::json::{self, Members};
use crate::logs::body::Body;
use crate::logs::turns::blocks::texts;

/// What system messages say, one after the other.
#[derive(Default)]
pub(super) struct System<'a> {
    /// What is added to the prompt.
    texts: Vec<String>,
    /// Sections of the prompt, which later messages replace or remove.
    sections: Named<'a, Cow<'a, str>>,
    /// Definitions of tools.
    tools: Named<'a, Members<'a>>,
}

impl<'a> System<'a> {
    /// Reads the system messages on a path. The latest compaction that has one holds all before it.
    pub(super) fn of(path: &[&Entry<'a>]) -> Self {
        let checkpoint = |entry: &&Entry<'a>| matches!(&entry.kind, Kind::Compaction { system, .. } if system.is_some());
        let start = path.iter().rposition(checkpoint).unwrap_or(0);
        let mut system = Self::default();
        for (place, entry) in path.iter().enumerate().skip(start) {
            match &entry.kind {
                Kind::Compaction {
                    system: Some(message),
                    ..
                } if place == start => {
                    system.add(message);
                }
                Kind::Message(message) if is_system(message) => system.add(message),
                _ => {}
            }
        }
        system
    }

    fn add(&mut self, message: &Members<'a>) {
        let blocks = blocks::read_shown(message.present("content"), &mut 0);
        let texts: Vec<Cow<'_, str>> = texts(&blocks).into_iter().map(json::decode).collect();
        if !texts.is_empty() {
            self.texts.push(texts.join("\n"));
        }
        if let Some(sections) = message.object("sections") {
            for (name, value) in sections.0 {
                if json::is_text(value.get()) {
                    self.sections.set(name, json::decode(value.get()));
                } else {
                    self.sections.remove(&name);
                }
            }
        }
        for removed in message.list("toolsRemoved").unwrap_or_default() {
            let raw = removed.get();
            let name = if json::is_text(raw) {
                Some(json::decode(raw))
            } else {
                let tool = json::members(raw);
                tool.and_then(|tool| tool.text("name"))
            };
            if let Some(name) = name {
                self.tools.remove(&name);
            }
        }
        for added in message.list("toolsAdded").unwrap_or_default() {
            if let Ok(tool) = serde_json::from_str::<Members<'a>>(added.get())
                && let Some(name) = tool.text("name")
            {
                self.tools.set(name, tool);
            }
        }
    }

    /// Writes the prompt and the tools, before any message.
    pub(super) fn write(&self, body: &mut Body<'_>) {
        let sections = self.sections.values().map(|(_, text)| &**text);
        let parts: Vec<&str> = self
            .texts
            .iter()
            .map(String::as_str)
            .chain(sections)
            .filter(|text| !text.trim().is_empty())
            .collect();
        if !parts.is_empty() {
            body.set_instructions(&parts.join("\n\n"));
        }
        for (name, tool) in self.tools.values() {
            let description = tool.text("description").unwrap_or_default();
            let parameters: Value = tool
                .get("parameters")
                .and_then(|raw| serde_json::from_str(raw.get()).ok())
                .filter(Value::is_object)
                .unwrap_or_else(|| json!({"type": "object", "properties": {}}));
            body.add_tool(name, &description, &parameters);
        }
    }
}

/// Whether a message is one of the system.
pub(super) fn is_system(message: &Members<'_>) -> bool {
    message.text("role").as_deref() == Some("system")
}

/// Values by name, each with the number of its name in the order in which those came.
struct Named<'a, V> {
    values: HashMap<Cow<'a, str>, (usize, V)>,
    names: usize,
}

impl<V> Default for Named<'_, V> {
    fn default() -> Self {
        let values = HashMap::new();
        Self { values, names: 0 }
    }
}

impl<'a, V> Named<'a, V> {
    /// Sets a value, in the place of the one with its name.
    fn set(&mut self, name: Cow<'a, str>, value: V) {
        self.names += 1;
        let before = self.values.get(&name).map(|(number, _)| *number);
        let number = before.unwrap_or(self.names);
        self.values.insert(name, (number, value));
    }

    fn remove(&mut self, name: &str) {
        self.values.remove(name);
    }

    /// The names and values, in order.
    fn values(&self) -> impl Iterator<Item = (&str, &V)> {
        let mut all: Vec<_> = self.values.iter().collect();
        all.sort_unstable_by_key(|(_, (number, _))| *number);
        all.into_iter().map(|(name, (_, value))| (&**name, value))
    }
}
