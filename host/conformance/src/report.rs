//! What a test found.

use std::sync::Arc;

use baler_host::receipt::ComponentInfo;
use serde::Serialize;

use crate::keeps::Kept;
use crate::sizes::Size;

/// Examples that are kept of each finding.
const EXAMPLES: usize = 3;

/// What a test of a strategy found.
#[derive(Debug, Clone, Serialize)]
#[serde(rename_all = "kebab-case")]
pub struct Report {
    /// Name of the strategy.
    pub strategy: String,
    /// The component; `None` for a strategy that is none.
    pub component: Option<ComponentInfo>,
    /// The checks, in the order in which they were made.
    pub checks: Vec<Check>,
    /// What the strategy costs by the size of a conversation.
    pub sizes: Vec<Size>,
    /// The exponent with which the fuel grows with the number of units; `None` if it could not be measured.
    pub growth: Option<f64>,
    /// What it keeps of sessions in which facts happen that must stay known, beside `native:digest`; empty for a strategy
    /// that asks a model.
    pub kept: Vec<Kept>,
}

impl Report {
    /// Returns whether nothing was found that a host refuses. Warnings do not count.
    #[must_use]
    pub fn passed(&self) -> bool {
        self.checks.iter().all(Check::passed)
    }
}

/// One thing that was checked.
#[derive(Debug, Clone, Serialize)]
#[serde(rename_all = "kebab-case")]
pub struct Check {
    /// Its name.
    pub name: &'static str,
    /// What was done, such as `230 conversations`.
    pub done: String,
    /// What was found; empty if all is well.
    pub findings: Vec<Finding>,
}

/// Something that should be changed.
#[derive(Debug, Clone, Serialize)]
#[serde(rename_all = "kebab-case")]
pub struct Finding {
    /// Whether a host refuses it.
    pub severity: Severity,
    /// What is wrong: what was expected, and what was found.
    pub problem: String,
    /// What to change.
    pub remedy: String,
    /// How often it happened.
    pub times: usize,
    /// The first conversations in which it happened; empty for what concerns no conversation.
    pub examples: Vec<Example>,
}

/// How bad a finding is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Severity {
    /// A host refuses it, or a user of the strategy would call it broken.
    Error,
    /// A host accepts it.
    Warning,
}

/// A conversation in which something happened.
#[derive(Debug, Clone, Serialize)]
#[serde(rename_all = "kebab-case")]
pub struct Example {
    /// Its name, fit for a file.
    pub name: String,
    /// The options of `baler compact` that ask the same; `None` if they cannot.
    pub options: Option<&'static str>,
    /// What was asked, in words.
    pub situation: &'static str,
    /// The request body.
    #[serde(skip)]
    pub document: Arc<str>,
}

impl Check {
    /// Returns a check that found nothing so far.
    pub(crate) fn new(name: &'static str, done: impl Into<String>) -> Self {
        Self {
            name,
            done: done.into(),
            findings: Vec::new(),
        }
    }

    /// Returns whether nothing was found that a host refuses.
    #[must_use]
    pub fn passed(&self) -> bool {
        let mut findings = self.findings.iter();
        findings.all(|finding| finding.severity == Severity::Warning)
    }

    pub(crate) fn add(
        &mut self,
        severity: Severity,
        problem: impl Into<String>,
        remedy: impl Into<String>,
    ) -> &mut Self {
        self.findings.push(Finding {
            severity,
            problem: problem.into(),
            remedy: remedy.into(),
            times: 1,
            examples: Vec::new(),
        });
        self
    }

    /// Adds what happened in a conversation, to what is known of the same kind. Findings are of one kind if they have the
    /// same remedy and the same beginning up to a colon, whatever figures are in it.
    pub(crate) fn add_example(
        &mut self,
        severity: Severity,
        problem: String,
        remedy: &str,
        example: Example,
    ) {
        let kind = |problem: &str| {
            let beginning = problem.split(['(', ':', ';']).next().unwrap_or_default();
            beginning.replace(|c: char| c.is_ascii_digit(), "")
        };
        let known = self
            .findings
            .iter_mut()
            .find(|finding| finding.remedy == remedy && kind(&finding.problem) == kind(&problem));
        match known {
            Some(finding) => {
                finding.times += 1;
                if finding.examples.len() < EXAMPLES {
                    finding.examples.push(example);
                }
            }
            None => self.findings.push(Finding {
                severity,
                problem,
                remedy: remedy.to_owned(),
                times: 1,
                examples: vec![example],
            }),
        }
    }
}
