//! Counts by rule, and requests that rules get wrong.

use std::collections::BTreeMap;
use std::fmt;

use baler_conversation::rules::Rule;

use super::{Request, Verdict, exceptions};

/// What the answers to recorded requests say about the rules. Names files and rules, never text.
#[derive(Debug, Clone, Default)]
pub struct Tally {
    accepted: usize,
    refused: usize,
    /// Requests that tell nothing about rules, by the reason.
    apart: BTreeMap<String, usize>,
    rules: BTreeMap<Rule, Counts>,
    /// Accepted requests in which baler reports an error.
    contradicting: Vec<String>,
    /// The same where the recording is the reason.
    excepted: Vec<String>,
    /// Refused requests in which baler reports nothing.
    unexplained: Vec<String>,
}

/// The requests that break one rule.
#[derive(Debug, Clone, Copy, Default)]
struct Counts {
    /// Refused requests.
    supporting: usize,
    /// Accepted requests in which it is an error.
    contradicting: usize,
    /// Accepted requests in which it is a warning.
    warned: usize,
}

impl Tally {
    /// Adds a request.
    pub fn add(&mut self, request: &Request, verdict: Verdict) {
        let is_accepted = match request.status {
            200..=299 => true,
            // What is too large, or does not validate, is refused under codes of their own by some.
            400 | 413 | 422 => false,
            _ => return self.set_apart(&format!("answered with {}", request.status)),
        };
        let name = &request.name;
        match verdict {
            Verdict::Apart(reason) => return self.set_apart(reason),
            Verdict::Unread(error) => {
                if is_accepted {
                    self.contradicting.push(format!("{name}: {error}"));
                }
            }
            Verdict::Read { errors, warnings } if is_accepted => {
                for rule in errors {
                    if let Some(reason) = exceptions::reason(&request.recording, rule) {
                        self.excepted.push(format!("{name}: {rule}, {reason}"));
                    } else {
                        self.rules.entry(rule).or_default().contradicting += 1;
                        self.contradicting.push(format!("{name}: {rule}"));
                    }
                }
                for rule in warnings {
                    self.rules.entry(rule).or_default().warned += 1;
                }
            }
            Verdict::Read { errors, warnings } => {
                if errors.is_empty() && warnings.is_empty() {
                    self.unexplained.push(name.clone());
                }
                for rule in errors.union(&warnings) {
                    self.rules.entry(*rule).or_default().supporting += 1;
                }
            }
        }
        if is_accepted {
            self.accepted += 1;
        } else {
            self.refused += 1;
        }
    }

    fn set_apart(&mut self, reason: &str) {
        *self.apart.entry(reason.to_owned()).or_default() += 1;
    }

    /// Whether baler reports an error in an accepted request that is no exception, or cannot read one.
    #[must_use]
    pub fn is_stricter(&self) -> bool {
        !self.contradicting.is_empty()
    }
}

/// Writes the totals, the requests that rules get wrong, and a table by rule in Markdown.
impl fmt::Display for Tally {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let apart: usize = self.apart.values().sum();
        let all = self.accepted + self.refused + apart;
        writeln!(
            f,
            "{all} requests: {} accepted, {} refused, {apart} counted apart",
            self.accepted, self.refused
        )?;
        for (reason, count) in &self.apart {
            writeln!(f, "  apart: {count} {reason}")?;
        }
        for (title, listed) in [
            ("accepted, and baler reports an error", &self.contradicting),
            ("accepted, and an exception", &self.excepted),
            (
                "refused, and baler reports nothing (for their conversation or not)",
                &self.unexplained,
            ),
        ] {
            writeln!(f, "\n{title}: {}", listed.len())?;
            for line in listed {
                writeln!(f, "  {line}")?;
            }
        }
        writeln!(
            f,
            "\n| rule | refused | accepted, an error | accepted, a warning |"
        )?;
        writeln!(f, "|---|---|---|---|")?;
        for rule in Rule::ALL {
            let counts = self.rules.get(rule).copied().unwrap_or_default();
            writeln!(
                f,
                "| {rule} | {} | {} | {} |",
                counts.supporting, counts.contradicting, counts.warned
            )?;
        }
        Ok(())
    }
}
