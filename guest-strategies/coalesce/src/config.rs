use serde::Deserialize;

/// The config. `config.schema.json` is its JSON Schema.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(default, deny_unknown_fields, rename_all = "kebab-case")]
pub struct Config {
    /// How many of the newest printed lines are shown.
    pub println_limit: u32,
    /// How many of the newest tool calls are shown.
    pub tool_call_limit: u32,
    /// How many items of a value are shown.
    pub sample_limit: u32,
    /// How many characters of a value are shown.
    pub sample_printable_limit: u32,
    /// How many of the newest turns stay unchanged.
    pub keep_recent_turns: u32,
    /// How many characters of a call's result are shown.
    pub result_excerpts: u32,
    /// How many tools, data, definitions and messages of the user are shown, each.
    pub entry_limit: u32,
    /// The most characters of a line.
    pub line_limit: u32,
}

impl Default for Config {
    fn default() -> Self {
        Self {
            println_limit: 15,
            tool_call_limit: 20,
            sample_limit: 3,
            sample_printable_limit: 80,
            keep_recent_turns: 3,
            result_excerpts: 0,
            entry_limit: 100,
            line_limit: 1000,
        }
    }
}

impl Config {
    /// Below this a line would not even hold a name.
    const SHORTEST_LINE: u32 = 40;

    pub(crate) fn check(&self) -> Result<(), String> {
        match self.line_limit {
            Self::SHORTEST_LINE.. => Ok(()),
            limit => Err(format!(
                "`line-limit` must be at least {}: {limit}",
                Self::SHORTEST_LINE
            )),
        }
    }
}
