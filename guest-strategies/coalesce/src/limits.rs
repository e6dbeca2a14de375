//! Limits of each section of the text.

use baler_digest::ends_line;

use crate::Config;
use crate::print::Printer;

/// The limits of the config, or smaller ones if the text has to be shorter.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Limits {
    /// The most printed lines; the newest are shown.
    pub prints: usize,
    /// The most calls; the newest are shown.
    pub calls: usize,
    /// The most tools, data, definitions and user messages, each.
    pub entries: usize,
    /// The most items of a value.
    pub items: usize,
    /// The most characters of a value.
    pub characters: usize,
    /// The most characters of a result.
    pub excerpt: usize,
    /// The most characters of a line.
    pub line: usize,
}

impl Limits {
    /// Each level shows about half as much as the one before it; the last shows no calls and no
    /// prints.
    pub(crate) const LEVELS: u32 = 7;

    /// What is shown at a level; level 0 is the config.
    pub(crate) fn of(config: &Config, level: u32) -> Self {
        let at_most = |configured: u32, first: usize, least: usize| {
            let configured = usize::try_from(configured).unwrap_or(usize::MAX);
            match level {
                0 => configured,
                level => configured.min((first >> (level - 1)).max(least)),
            }
        };
        Self {
            prints: at_most(config.println_limit, 15, 0),
            calls: at_most(config.tool_call_limit, 20, 0),
            entries: at_most(config.entry_limit, 24, 0),
            items: at_most(config.sample_limit, 3, 1),
            characters: at_most(config.sample_printable_limit, 80, 10),
            excerpt: at_most(config.result_excerpts, 200, 0),
            line: at_most(config.line_limit, 400, 40),
        }
    }

    /// Returns the printer of samples of data and definitions.
    pub(crate) fn samples(&self) -> Printer {
        Printer::new(self.items, self.characters)
    }

    /// Returns the text as one line, cut to the limit, with line breaks replaced by blanks.
    pub(crate) fn line(&self, text: &str) -> String {
        cut(text, self.line).replace(ends_line, " ")
    }
}

/// Returns at most `characters` characters of the text, followed by three dots if it has more.
pub(crate) fn cut(text: &str, characters: usize) -> String {
    match text.char_indices().nth(characters) {
        Some((end, _)) => format!("{}...", &text[..end]),
        None => text.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_level_is_the_config_and_the_last_shows_no_entries() {
        let config = Config::default();
        let first = Limits::of(&config, 0);
        assert_eq!((first.prints, first.calls), (15, 20));
        let last = Limits::of(&config, Limits::LEVELS - 1);
        assert_eq!((last.prints, last.calls, last.entries), (0, 0, 0));
        assert_eq!((last.items, last.characters, last.line), (1, 10, 40));
    }

    #[test]
    fn no_level_shows_more_than_the_config() {
        let config = Config {
            println_limit: 1,
            tool_call_limit: 1,
            sample_limit: 0,
            sample_printable_limit: 2,
            entry_limit: 1,
            ..Config::default()
        };
        for level in 0..Limits::LEVELS {
            let limits = Limits::of(&config, level);
            assert!(limits.prints <= 1 && limits.calls <= 1 && limits.entries <= 1);
            assert!(limits.items == 0 && limits.characters <= 2);
        }
    }

    /// PT-N10
    #[test]
    fn a_line_is_measured_in_characters() {
        assert_eq!(cut("字字字", 3), "字字字");
        assert_eq!(cut("字字字", 2), "字字...");
    }
}
