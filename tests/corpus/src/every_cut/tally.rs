//! Counts and failures by set and format.

use std::collections::BTreeMap;
use std::fmt;

use super::{Check, Failure};
use crate::Recording;
use crate::sound::Wrong;

/// The most failures of one kind that are listed.
const SHOWN: usize = 4;

/// The counts of one set in one format.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Row {
    /// Conversations that were checked.
    pub conversations: usize,
    /// Conversations without a list of messages.
    pub empty: usize,
    /// Cuts that were checked.
    pub cuts: usize,
    /// Cuts that break a rule.
    pub invalid: usize,
    /// Cuts with warnings only. They are compacted like valid cuts.
    pub warned: usize,
    /// Cuts that break a rule before a repair and none after it.
    pub repaired: usize,
    /// Grown conversations that were compared with the same cut read at once.
    pub compared: usize,
    /// Compactions of valid and of repaired cuts, without second runs.
    pub compactions: usize,
    /// Compactions that changed the conversation.
    pub changed: usize,
    /// Compactions by a fallback, although the budget was not below the floor.
    pub fell_back: usize,
    /// Checks that failed.
    pub failed: BTreeMap<Check, usize>,
}

/// Counts and failures of one conversation, or of many.
#[derive(Debug, Clone, Default)]
pub struct Tally {
    pub(super) row: Row,
    pub(super) cut: usize,
    pub(super) strategy: String,
    pub(super) percent: u32,
    pub(super) tokens_before: u64,
    pub(super) tokens_after: u64,
    /// How often each rule was broken in invalid cuts.
    pub(super) broken_before: BTreeMap<&'static str, usize>,
    /// How often attempts of strategies failed, by strategy and code.
    pub(super) attempts: BTreeMap<String, usize>,
    name: Option<(String, &'static str)>,
    id: String,
    rows: BTreeMap<(String, &'static str), Row>,
    failures: Vec<Failure>,
}

impl Tally {
    pub(super) fn new(recorded: &Recording) -> Self {
        Self {
            name: Some((recorded.set.clone(), recorded.format)),
            id: recorded.id.clone(),
            ..Self::default()
        }
    }

    pub(super) fn fail(&mut self, check: Check, what: &str) {
        *self.row.failed.entry(check).or_default() += 1;
        self.failures.push(Failure {
            set: self
                .name
                .as_ref()
                .map_or_else(String::new, |(set, _)| set.clone()),
            id: self.id.clone(),
            cut: self.cut,
            strategy: self.strategy.clone(),
            percent: self.percent,
            check,
            what: what.to_owned(),
        });
    }

    /// Counts under `rules` the broken rules that a provider refuses.
    pub(super) fn fail_wrong(&mut self, rules: Check, wrong: Wrong) {
        match wrong {
            Wrong::Rules(what) => self.fail(rules, what),
            Wrong::Verbatim(what) => self.fail(Check::Verbatim, what),
            Wrong::Lost(what) => self.fail(Check::Lost, what),
        }
    }

    /// Adds the counts and failures of other conversations.
    pub fn add(&mut self, other: Self) {
        if let Some(name) = other.name {
            self.rows.entry(name).or_default().add(&other.row);
        }
        for (name, row) in other.rows {
            self.rows.entry(name).or_default().add(&row);
        }
        for (rule, count) in other.broken_before {
            *self.broken_before.entry(rule).or_default() += count;
        }
        for (attempt, count) in other.attempts {
            *self.attempts.entry(attempt).or_default() += count;
        }
        self.tokens_before += other.tokens_before;
        self.tokens_after += other.tokens_after;
        self.failures.extend(other.failures);
    }

    /// All checks that failed.
    #[must_use]
    pub fn failures(&self) -> &[Failure] {
        &self.failures
    }

    /// Sums over all sets.
    #[must_use]
    pub fn total(&self) -> Row {
        let mut total = Row::default();
        self.rows.values().for_each(|row| total.add(row));
        total
    }
}

impl Row {
    fn add(&mut self, other: &Self) {
        self.conversations += other.conversations;
        self.empty += other.empty;
        self.cuts += other.cuts;
        self.invalid += other.invalid;
        self.warned += other.warned;
        self.repaired += other.repaired;
        self.compared += other.compared;
        self.compactions += other.compactions;
        self.changed += other.changed;
        self.fell_back += other.fell_back;
        for (check, count) in &other.failed {
            *self.failed.entry(*check).or_default() += count;
        }
    }

    fn write(&self, f: &mut fmt::Formatter<'_>, set: &str, format: &str) -> fmt::Result {
        write!(
            f,
            "{set:<23}{format:<17}{:>6}{:>7}{:>8}{:>8}{:>9}{:>9}{:>9}{:>9}{:>6}",
            self.conversations,
            self.cuts,
            self.invalid,
            self.warned,
            self.repaired,
            self.compared,
            self.compactions,
            self.changed,
            self.fell_back
        )?;
        for check in Check::ALL {
            let count = self.failed.get(&check).copied().unwrap_or_default();
            write!(f, "{count:>9}")?;
        }
        writeln!(f)
    }
}

/// Writes a table by set and format, and then the failures.
impl fmt::Display for Tally {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "{:<23}{:<17}{:>6}{:>7}{:>8}{:>8}{:>9}{:>9}{:>9}{:>9}{:>6}",
            "set",
            "format",
            "convs",
            "cuts",
            "invalid",
            "warned",
            "repaired",
            "compared",
            "compact",
            "changed",
            "fell"
        )?;
        for check in Check::ALL {
            write!(f, "{:>9}", check.name())?;
        }
        writeln!(f)?;
        for ((set, format), row) in &self.rows {
            row.write(f, set, format)?;
        }
        self.total().write(f, "all", "")?;
        writeln!(
            f,
            "invalid: as they came in, by rule {:?}. fell: another strategy did it; turns that ended otherwise than well: {:?}. Tokens of changed cuts: {} before, {} after.",
            self.broken_before, self.attempts, self.tokens_before, self.tokens_after
        )?;
        self.write_failures(f)
    }
}

impl Tally {
    /// Lists the first failures of each check and strategy.
    fn write_failures(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut kinds: BTreeMap<(Check, &str, &str), Vec<&Failure>> = BTreeMap::new();
        for failure in &self.failures {
            kinds
                .entry((failure.check, &failure.set, &failure.strategy))
                .or_default()
                .push(failure);
        }
        for ((check, set, strategy), failures) in kinds {
            writeln!(f, "\n{} {set} {strategy}: {}", check.name(), failures.len())?;
            for failure in failures.iter().take(SHOWN) {
                writeln!(f, "  {failure}")?;
            }
        }
        Ok(())
    }
}
