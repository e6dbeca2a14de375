use serde::Deserialize;

/// The config. `config.schema.json` is its JSON Schema.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(default, deny_unknown_fields, rename_all = "kebab-case")]
pub struct Config {
    /// How many of the newest tool outputs stay unchanged.
    pub keep: u32,
    /// Outputs of fewer tokens stay unchanged.
    pub min_tokens: u32,
    /// Tools whose outputs stay unchanged: exact names, or a prefix of names and `*`.
    pub exclude: Vec<String>,
    /// Mask only as many outputs, oldest first, as needed to reach the budget.
    pub stop_at_budget: bool,
    /// If masking does not reach the budget, also remove the oldest unprotected units.
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
                    "`exclude[{index}]` must be a name, or a prefix of names followed by one `*`: {pattern}"
                ));
            }
        }
        Ok(())
    }

    /// Whether outputs of this tool stay unchanged.
    pub(crate) fn excludes(&self, tool: &str) -> bool {
        self.exclude
            .iter()
            .any(|pattern| match pattern.strip_suffix('*') {
                Some(start) => tool.starts_with(start),
                None => tool == pattern,
            })
    }
}
