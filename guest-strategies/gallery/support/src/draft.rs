#[cfg(test)]
mod tests;

use std::collections::BTreeMap;

use baler_strategy::{
    Conversation, Failure, FreeBudget, Insertion, PartTraits, PlanBuilder, Report, Situation, Unit,
    UnitKind,
};

use crate::Output;

/// Bytes of the host's mark for each of its tokens, at most.
const BYTES_OF_TOKEN: u32 = 8;

/// Most bytes of a summary as a JSON string. The host accepts a mebibyte of a strategy's texts.
const MAX_SUMMARY_BYTES: u32 = 1_000_000;

/// What a rule says of a conversation: which units it removes, which outputs it replaces, and a summary.
#[derive(Debug, Clone)]
pub struct Draft<'a> {
    conversation: &'a Conversation<'a>,
    situation: &'a Situation,
    kept: Vec<bool>,
    replaced: BTreeMap<usize, Vec<Replacement>>,
    summary: Option<(usize, String)>,
}

#[derive(Debug, Clone)]
struct Replacement {
    message: usize,
    part: usize,
    text: String,
    tokens: u32,
    bytes: u32,
}

impl<'a> Draft<'a> {
    /// The reason codes of a report: removed by the rule, output replaced by the rule, removed for the budget.
    pub const REASON_CODES: &'static [&'static str] = &["rule", "replaced", "budget"];
    /// The names of the metrics of a report.
    pub const METRIC_NAMES: &'static [&'static str] =
        &["removed-by-rule", "outputs-replaced", "removed-for-budget"];

    /// Starts with all units as they are.
    pub fn new(conversation: &'a Conversation<'a>, situation: &'a Situation) -> Self {
        Self {
            conversation,
            situation,
            kept: vec![true; conversation.units().len()],
            replaced: BTreeMap::new(),
            summary: None,
        }
    }

    /// Removes the units for which `stays` returns false. Protected units stay.
    pub fn retain(&mut self, stays: impl Fn(usize, &Unit) -> bool) {
        for (index, unit) in self.conversation.units().iter().enumerate() {
            self.kept[index] &= unit.is_protected() || stays(index, unit);
        }
    }

    /// Replaces the text of an output. Returns the tokens saved: 0 if the output stays as it is, because the contract
    /// forbids the change or the text with the host's mark would not be shorter. An output that an earlier compaction
    /// wrote must become half as long, so that placeholders are not replaced again.
    pub fn replace(&mut self, output: &Output, text: impl Into<String>) -> u32 {
        let text = text.into();
        let mark = self.situation.insertion_overhead;
        let after = self.conversation.count(&text).saturating_add(mark);
        let saved = output.tokens.saturating_sub(after);
        let least = match output.traits.contains(PartTraits::REWRITTEN) {
            true => output.tokens.div_ceil(2),
            false => 1,
        };
        // The cost of pictures stays, however short the text becomes.
        let is_allowed = output.traits.contains(PartTraits::REWRITABLE)
            && output.content.media.is_empty()
            && !self.conversation.units()[output.unit].is_protected();
        if !is_allowed || saved < least {
            return 0;
        }
        let bytes = u32::try_from(output.content.text.len()).unwrap_or(u32::MAX);
        let bytes = bytes.saturating_sub(json_bytes(&text));
        let replaced = self.replaced.entry(output.unit).or_default();
        replaced.push(Replacement {
            message: output.message,
            part: output.part,
            text,
            tokens: saved,
            bytes: bytes.saturating_sub(mark.saturating_mul(BYTES_OF_TOKEN)),
        });
        saved
    }

    /// Inserts a summary before this unit, instead of an earlier one.
    pub fn summarize(&mut self, before: usize, text: String) {
        self.summary = Some((before, text));
    }

    /// Returns whether the rule changes anything.
    pub fn has_changes(&self) -> bool {
        self.kept.contains(&false) || !self.replaced.is_empty() || self.summary.is_some()
    }

    /// Returns whether the result fits the budget, without removing more than the rule does.
    pub fn fits(&self) -> bool {
        self.summary_bytes() <= MAX_SUMMARY_BYTES && self.is_within(&self.free())
    }

    /// Returns the tokens and bytes by which a summary may become longer, none if the result exceeds a limit.
    pub fn room(&self) -> (u64, u64) {
        let free = self.free();
        if !free.is_within_limits() {
            return (0, 0);
        }
        let tokens = free.tokens().saturating_sub(u64::from(self.notes()));
        let most = MAX_SUMMARY_BYTES.saturating_sub(self.summary_bytes());
        (tokens, free.bytes().min(u64::from(most)))
    }

    fn summary_bytes(&self) -> u32 {
        self.summary
            .as_ref()
            .map_or(0, |(_, text)| json_bytes(text))
    }

    /// Returns what the limits leave free, without the host's notes.
    fn free(&self) -> FreeBudget {
        let mut free = FreeBudget::of(self.situation);
        let units = self.conversation.units().iter().enumerate();
        for (index, unit) in units.filter(|(index, _)| self.kept[*index]) {
            free.charge(unit);
            for replacement in self.replaced.get(&index).into_iter().flatten() {
                free.gain(replacement.tokens, replacement.bytes);
            }
        }
        if let Some((_, text)) = &self.summary {
            let mark = self.situation.insertion_overhead;
            free.spend(
                self.conversation.count(text).saturating_add(mark),
                json_bytes(text).saturating_add(mark.saturating_mul(BYTES_OF_TOKEN)),
            );
        }
        free
    }

    /// Notes are counted last: it takes a look at all units.
    fn is_within(&self, free: &FreeBudget) -> bool {
        free.is_within_limits() && u64::from(self.notes()) <= free.tokens()
    }

    /// Returns whether the result costs fewer tokens than the conversation.
    fn is_smaller(&self) -> bool {
        let units = self.conversation.units().iter().zip(&self.kept);
        let removed = units.filter(|(_, kept)| !**kept);
        let removed: u64 = removed.map(|(unit, _)| unit.cost()).sum();
        let replaced = self.replaced.values().flatten();
        let replaced: u64 = replaced.map(|own| u64::from(own.tokens)).sum();
        let mark = u64::from(self.situation.insertion_overhead);
        let summary = self.summary.as_ref();
        let summary = summary.map_or(0, |(_, text)| {
            u64::from(self.conversation.count(text)) + mark
        });
        removed + replaced > summary + u64::from(self.notes())
    }

    /// Returns the most tokens of the notes that the host may have to write where units are missing: in front of a step
    /// that now comes first or follows another answer, and on both sides of a summary.
    fn notes(&self) -> u32 {
        let note = self.situation.opening_note;
        if note == 0 {
            return 0;
        }
        let mut notes = if self.summary.is_some() { 2 } else { 0 };
        let mut is_gap = false;
        for (unit, kept) in self.conversation.units().iter().zip(&self.kept) {
            if unit.kind == UnitKind::Instructions {
                continue;
            }
            if *kept && is_gap && matches!(unit.kind, UnitKind::Step | UnitKind::Other) {
                notes += 1;
            }
            is_gap = !kept;
        }
        note.saturating_mul(notes)
    }

    /// Removes the oldest units until the result fits, earlier summaries last, and only units whose removal helps.
    /// At last, the own summary goes. Returns how many units are removed.
    fn fit(&mut self) -> u64 {
        let units = self.conversation.units();
        let is_summary = |index: &usize| units[*index].kind == UnitKind::Summary;
        let others = (0..units.len()).filter(|index| !is_summary(index));
        let summaries = (0..units.len()).filter(is_summary);
        let mut removed = 0;
        let mut free = self.free();
        for index in others.chain(summaries) {
            if self.is_within(&free) {
                break;
            }
            let unit = &units[index];
            // Within the limits, it is a note that has no place.
            let helps = free.is_within_limits() || free.is_helped_by_removing(unit);
            if !self.kept[index] || unit.is_protected() || !helps {
                continue;
            }
            self.kept[index] = false;
            removed += 1;
            free.release(unit);
            for replacement in self.replaced.remove(&index).into_iter().flatten() {
                free.spend(replacement.tokens, replacement.bytes);
            }
        }
        // Where protected units need the whole budget, a summary has no place.
        if !self.is_within(&free) {
            self.summary = None;
        }
        removed
    }

    /// Returns the plan: what the rule says, and then as much less as the budget demands. Unchanged if nothing changes, or
    /// nothing would become smaller.
    ///
    /// # Errors
    /// Never, unless the draft names a unit that does not exist.
    pub fn report(mut self) -> Result<Report, Failure> {
        let units = self.conversation.units();
        let by_rule: Vec<bool> = self.kept.iter().map(|kept| !kept).collect();
        self.replaced.retain(|unit, _| self.kept[*unit]);
        let for_budget = self.fit();
        if !self.has_changes() {
            return Ok(Report::unchanged(
                "the rule removes nothing, and nothing else can be removed",
            ));
        }
        if !self.kept.contains(&true) && self.summary.is_none() {
            return Ok(Report::unchanged("no unit fits the budget"));
        }
        if !self.is_smaller() {
            return Ok(Report::unchanged("the result would not be smaller"));
        }
        let mut builder = PlanBuilder::keeping_all(units.len());
        for (unit, kept) in self.kept.iter().enumerate() {
            if !kept {
                let code = if by_rule[unit] { "rule" } else { "budget" };
                builder.remove(unit).reason(unit..unit + 1, code);
            }
        }
        let mut outputs = 0;
        for (unit, replacements) in self.replaced {
            builder.reason(unit..unit + 1, "replaced");
            for own in replacements {
                outputs += 1;
                builder.rewrite(unit).text(own.message, own.part, own.text);
            }
        }
        if let Some((before, text)) = self.summary {
            builder.insert(before, Insertion::summary(text));
        }
        let by_rule = by_rule.iter().filter(|removed| **removed).count();
        Ok(Report::compacted(builder.build()?)
            .with_count("removed-by-rule", by_rule as u64)
            .with_count("outputs-replaced", outputs)
            .with_count("removed-for-budget", for_budget))
    }
}

/// Returns the bytes of a text within a JSON string.
pub fn json_bytes(text: &str) -> u32 {
    let escapes = text.bytes().map(|byte| match byte {
        b'"' | b'\\' | b'\n' | b'\r' | b'\t' => 1,
        // As `\u001b`.
        0..0x20 => 5,
        _ => 0,
    });
    u32::try_from(text.len() + escapes.sum::<usize>()).unwrap_or(u32::MAX)
}
