use serde::Deserialize;

/// The config; `config.schema.json` says the same as JSON Schema.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(default, deny_unknown_fields, rename_all = "kebab-case")]
pub struct Config {
    /// How many of the newest tool outputs stay as they are.
    pub keep: u32,
    /// Outputs of fewer tokens stay as they are.
    pub min_tokens: u32,
    /// Tools whose outputs stay as they are: exact names, or the start of names and `*`.
    pub exclude: Vec<String>,
    /// Mask only as many outputs, oldest first, as it takes to reach the budget.
    pub stop_at_budget: bool,
    /// Where masking is not enough for the budget, drop the oldest unprotected units as well.
    pub then_drop: bool,
}

impl Default for Config {
    fn default() -> Self {
        Self {
            keep: 3,
            min_tokens: 200,
            exclude: Vec::new(),
            stop_at_budget: true,
            then_drop: true,
        }
    }
}

impl Config {
    /// Refuses what no name can match.
    pub(crate) fn check(&self) -> Result<(), String> {
        let name = |pattern: &str| pattern.strip_suffix('*').unwrap_or(pattern).to_owned();
        for (index, pattern) in self.exclude.iter().enumerate() {
            if pattern.is_empty() || name(pattern).contains('*') {
                return Err(format!(
                    "`exclude[{index}]` must be a name, or the start of names followed by one `*`: {pattern}"
                ));
            }
        }
        Ok(())
    }

    /// Whether outputs of this tool stay as they are.
    pub(crate) fn excludes(&self, tool: &str) -> bool {
        self.exclude
            .iter()
            .any(|pattern| match pattern.strip_suffix('*') {
                Some(start) => tool.starts_with(start),
                None => tool == pattern,
            })
    }
}
