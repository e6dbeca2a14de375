//! Decides how far to reduce, tier by tier.

mod replacement;
mod window;

use std::collections::BTreeMap;

use baler_digest::shares::{self, MOST_SHORTENED_BYTES};
use baler_digest::{Extent, Story};
use baler_strategy::{
    Conversation, Failure, Insertion, PlanBuilder, Report, Situation, Unit, UnitKind, opening_note,
};

use crate::tiered::config::Config;
use crate::tiered::material::{Material, Removable, RemovableKind};
use crate::tiered::reduce::{self, Cutter, Level, Reduced, Size, Smaller};
use replacement::Replacement;

/// The units to be removed, for the caller to summarise.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RemovedUnits {
    /// The units, oldest first, without earlier summaries.
    pub units: Vec<usize>,
    /// Earlier summaries, oldest first. The new summary replaces them as well.
    pub earlier: Vec<usize>,
    /// The most tokens that the summary may have.
    pub max_summary_tokens: u32,
}

/// Writes a summary of the removed units. Returns `None` if there is no summary.
pub type Summarise<'a> = dyn FnMut(&RemovedUnits) -> Option<Story> + 'a;

/// The result of [`choose`].
#[derive(Debug, Clone, PartialEq)]
pub struct Chosen {
    /// The plan, or the reason to leave the conversation unchanged.
    pub report: Report,
    /// Whether the plan contains the summary that `summarise` returned.
    pub is_summarised: bool,
}

impl Chosen {
    fn unchanged(reason: &str) -> Self {
        Self {
            report: Report::unchanged(reason),
            is_summarised: false,
        }
    }
}

/// Reduces the conversation as far as the budget requires. `summarise` is called at most once, if old units
/// have to be removed. Without a summary, a digest alone replaces them.
///
/// # Errors
/// Returns a failure if the plan cannot be built.
pub fn choose(
    conversation: &Conversation<'_>,
    situation: &Situation,
    config: &Config,
    summarise: &mut Summarise<'_>,
) -> Result<Chosen, Failure> {
    let units = conversation.units();
    let first = units
        .iter()
        .find(|unit| unit.kind != UnitKind::Instructions);
    let whole = Needs {
        tokens: situation.tokens_with(units) + opening_note(situation, first),
        bytes: units.iter().map(|unit| u64::from(unit.bytes)).sum(),
        media: units.iter().map(|unit| u64::from(unit.media)).sum(),
    };
    if whole.fit(situation) {
        return Ok(Chosen::unchanged("the conversation fits the budget"));
    }
    let material = Material::read(conversation);
    let mut choice = Choice {
        conversation,
        situation,
        material: &material,
        recent: recent(units, config.recent),
        min_tokens: config.min_tokens,
        kept: vec![true; units.len()],
        removed: Vec::new(),
        reduced: BTreeMap::new(),
        saved: vec![0; units.len()],
        texts: 0,
        known: BTreeMap::new(),
        whole,
        is_widened: false,
    };
    choice.remove(RemovableKind::Media);
    for (level, outcomes) in [
        (Level::Superseded, true),
        (Level::Third, false),
        (Level::Third, true),
    ] {
        if choice.fits() {
            break;
        }
        choice.reduce(level, outcomes);
    }
    choice.remove_thinking_if_that_is_enough();
    let replacement = if choice.fits() {
        let left = u64::from(target(situation)).saturating_sub(choice.whole.tokens);
        choice.restore_cut_text(left);
        None
    } else {
        choice.replace_old_units(summarise)
    };
    choice.report(replacement)
}

/// Returns the tokens to reach: the budget, or the floor if the budget is below it.
fn target(situation: &Situation) -> u32 {
    situation.budget.max(situation.floor)
}

/// Returns the index of the first unit that is recent, if the newest `steps` steps are.
fn recent(units: &[Unit], steps: u32) -> usize {
    let mut left = steps;
    for (index, unit) in units.iter().enumerate().rev() {
        if left == 0 {
            return index + 1;
        }
        if unit.kind == UnitKind::Step {
            left -= 1;
        }
    }
    0
}

struct Choice<'a> {
    conversation: &'a Conversation<'a>,
    situation: &'a Situation,
    material: &'a Material,
    /// The first unit that is recent.
    recent: usize,
    min_tokens: u32,
    kept: Vec<bool>,
    /// The parts that are removed.
    removed: Vec<Removable>,
    /// The smaller texts, by the index of their output in the material.
    reduced: BTreeMap<usize, Reduced>,
    /// The tokens saved in each unit.
    saved: Vec<u64>,
    /// The bytes of all smaller texts in kept units.
    texts: usize,
    /// Texts that were already written, since a window is tried more than once.
    known: BTreeMap<(usize, Level), Option<Reduced>>,
    /// What all units together need with the reductions so far.
    whole: Needs,
    /// Whether the window is chosen again, since the text left tokens. Then no answer of the model ends it, and any unit
    /// may be cut to what is left.
    is_widened: bool,
}

#[derive(Debug, Clone, Copy)]
struct Needs {
    tokens: u64,
    bytes: u64,
    media: u64,
}

impl Needs {
    fn fit(&self, situation: &Situation) -> bool {
        let limit = |most: Option<u32>| most.map_or(u64::MAX, u64::from);
        self.tokens <= u64::from(target(situation))
            && self.bytes <= limit(situation.max_bytes)
            && self.media <= limit(situation.max_media)
    }

    /// Returns whether a unit fits by bytes and media. Its tokens may still be reduced.
    fn hold(&self, unit: &Unit) -> bool {
        u64::from(unit.bytes) <= self.bytes && u64::from(unit.media) <= self.media
    }
}

impl<'a> Choice<'a> {
    fn units(&self) -> &[Unit] {
        self.conversation.units()
    }

    const fn cutter(&self) -> Cutter<'a> {
        Cutter {
            conversation: self.conversation,
            situation: self.situation,
            material: self.material,
        }
    }

    /// Returns the tokens of a unit with the reductions so far.
    fn cost(&self, unit: usize) -> u64 {
        self.units()[unit].cost().saturating_sub(self.saved[unit])
    }

    /// Returns whether all units fit with the reductions so far. The bytes that cuts save are not known, so
    /// units count with all their bytes.
    fn fits(&self) -> bool {
        self.whole.fit(self.situation)
    }

    /// Removes parts of this kind from old units, oldest first, until the conversation fits.
    fn remove(&mut self, kind: RemovableKind) {
        let removable = &self.material.removable;
        for part in removable.iter().filter(|part| part.kind == kind) {
            let last = self.removed.last();
            // A plan removes all thinking of a unit, or none.
            let is_begun = kind == RemovableKind::Thinking
                && last.is_some_and(|last| last.kind == kind && last.unit == part.unit);
            if part.unit >= self.recent || self.fits() && !is_begun {
                return;
            }
            self.removed.push(*part);
            let tokens = u64::from(part.tokens);
            self.saved[part.unit] += tokens;
            self.whole.tokens = self.whole.tokens.saturating_sub(tokens);
            self.whole.media -= u64::from(kind == RemovableKind::Media).min(self.whole.media);
        }
    }

    /// Removes thinking of old units if the conversation fits then. Otherwise old units are removed as a
    /// whole, and thinking in kept units is worth its tokens.
    fn remove_thinking_if_that_is_enough(&mut self) {
        let before = (self.removed.len(), self.saved.clone(), self.whole);
        self.remove(RemovableKind::Thinking);
        if !self.fits() {
            self.removed.truncate(before.0);
            (self.saved, self.whole) = (before.1, before.2);
        }
    }

    /// Cuts old outputs to `level`, oldest first, until the conversation fits; also short outcomes, if `outcomes`.
    fn reduce(&mut self, level: Level, outcomes: bool) {
        for index in 0..self.material.outputs.len() {
            let output = &self.material.outputs[index];
            if output.unit >= self.recent || self.fits() {
                return;
            }
            self.reduce_one(index, level, outcomes);
        }
    }

    /// Cuts an output to `level`; a short outcome only if `outcomes`.
    fn reduce_one(&mut self, index: usize, level: Level, outcomes: bool) {
        let output = &self.material.outputs[index];
        if output.tokens < self.min_tokens || output.is_outcome && !outcomes {
            return;
        }
        // An output that is cut much further, because other texts used up the bytes, says too little. There
        // may be more bytes once old units are removed.
        let bytes = self.room_for_text(index);
        if bytes < shares::LEAST_OF_LENGTH.of(reduce::bytes_at(output, level)) {
            return;
        }
        let cutter = self.cutter();
        let known = self.known.entry((index, level));
        let smaller = known.or_insert_with(|| cutter.at_level(index, level, bytes));
        let smaller = smaller.clone();
        self.put(index, smaller);
    }

    /// Uses up to `left` free tokens to restore text of cut outputs, newest first: first what is worth
    /// keeping, then anything.
    fn restore_cut_text(&mut self, left: u64) {
        let left = self.restore_to(Extent::Valuable, left);
        self.restore_to(Extent::Fill, left);
    }

    /// Restores text up to `extent`. Returns the tokens that are still free.
    fn restore_to(&mut self, extent: Extent, mut left: u64) -> u64 {
        let cut: Vec<usize> = self.reduced.keys().rev().copied().collect();
        for index in cut {
            if left < u64::from(self.min_tokens) {
                break;
            }
            let output = &self.material.outputs[index];
            let Reduced {
                tokens: now,
                has_all,
                ..
            } = self.reduced[&index];
            let most = u32::try_from(u64::from(now) + left).unwrap_or(u32::MAX);
            if !self.kept[output.unit] || output.superseded.is_some() {
                continue;
            }
            if has_all && extent == Extent::Valuable && output.tokens > most {
                continue;
            }
            let longer = if output.tokens <= most {
                None
            } else {
                let longer = self.cutter().within_size(
                    index,
                    Size {
                        tokens: most,
                        bytes: self.room_for_text(index),
                        extent,
                    },
                );
                match longer {
                    Some(longer)
                        if longer.tokens > now
                            && longer.smaller.bytes() <= self.room_for_text(index) =>
                    {
                        Some(longer)
                    }
                    _ => continue,
                }
            };
            let tokens = longer
                .as_ref()
                .map_or(output.tokens, |longer| longer.tokens);
            let given = u64::from(tokens - now);
            left -= given;
            self.saved[output.unit] -= given;
            self.texts += longer.as_ref().map_or(0, |longer| longer.smaller.bytes());
            let shorter = match longer {
                Some(longer) => self.reduced.insert(index, longer),
                None => self.reduced.remove(&index),
            };
            self.texts -= shorter.map_or(0, |shorter| shorter.smaller.bytes());
        }
        left
    }

    /// Replaces an output by a smaller text, if it is smaller than the current one.
    fn put(&mut self, index: usize, smaller: Option<Reduced>) {
        let output = &self.material.outputs[index];
        let before = self.reduced.get(&index);
        let tokens = before.map_or(output.tokens, |known| known.tokens);
        if let Some(smaller) = smaller
            && let Some(saved) = tokens
                .checked_sub(smaller.tokens)
                .filter(|saved| *saved > 0)
            && smaller.smaller.bytes() <= self.room_for_text(index)
        {
            if self.kept[output.unit] {
                self.texts += smaller.smaller.bytes();
                self.texts -= before.map_or(0, |before| before.smaller.bytes());
            }
            self.saved[output.unit] += u64::from(saved);
            self.whole.tokens = self.whole.tokens.saturating_sub(u64::from(saved));
            self.reduced.insert(index, smaller);
        }
    }

    /// Returns the most bytes that the text of an output may have in addition to the other texts.
    fn room_for_text(&self, index: usize) -> usize {
        let unit = self.material.outputs[index].unit;
        let own = match self.kept[unit] {
            true => 0,
            false => self.texts_of(unit),
        };
        let before = self.reduced.get(&index);
        let before = before.map_or(0, |before| before.smaller.bytes());
        MOST_SHORTENED_BYTES.saturating_sub(self.texts + own - before)
    }

    /// Returns the bytes of the smaller texts in a unit.
    fn texts_of(&self, unit: usize) -> usize {
        self.outputs_of(unit)
            .filter_map(|output| self.reduced.get(&output))
            .map(|reduced| reduced.smaller.bytes())
            .sum()
    }

    fn report(self, replacement: Option<Replacement>) -> Result<Chosen, Failure> {
        let units = self.units();
        if self.kept.iter().all(|kept| *kept) && self.reduced.is_empty() && self.removed.is_empty()
        {
            return Ok(Chosen::unchanged("nothing can be removed or shortened"));
        }
        let mut builder = PlanBuilder::keeping_all(units.len());
        let mut codes: Vec<Option<&str>> = vec![None; units.len()];
        let mut cut = 0;
        for (index, reduced) in &self.reduced {
            let output = &self.material.outputs[*index];
            if self.kept[output.unit] {
                cut += 1;
                codes[output.unit] = Some(reduced.code);
                let mut edits = builder.rewrite(output.unit);
                match &reduced.smaller {
                    Smaller::Text(text) => edits.text(output.message, output.part, text.clone()),
                    Smaller::Excerpt(runs) => {
                        edits.excerpt(output.message, output.part, runs.iter().cloned())
                    }
                };
            }
        }
        let mut removed = 0;
        for part in self.removed.iter().filter(|part| self.kept[part.unit]) {
            removed += 1;
            codes[part.unit].get_or_insert("parts-removed");
            builder.rewrite(part.unit).remove(part.message, part.part);
        }
        let mut removed_units: usize = 0;
        let mut text = replacement
            .as_ref()
            .map(|replacement| replacement.written.text.clone());
        let is_digested = replacement.is_some();
        let Replacement {
            written,
            is_summarised,
        } = replacement.unwrap_or_default();
        let code = match (is_digested, is_summarised) {
            (false, _) => "removed",
            (true, false) => "digested",
            (true, true) => "summarized",
        };
        for (unit, kept) in self.kept.iter().enumerate() {
            if !kept {
                removed_units += 1;
                builder.remove(unit);
                codes[unit] = Some(code);
                if let Some(text) = text.take() {
                    builder.insert(unit, Insertion::summary(text));
                }
            }
        }
        for (unit, code) in codes.iter().enumerate() {
            if let Some(code) = code {
                builder.reason(unit..unit + 1, code);
            }
        }
        if removed_units == units.len() && !is_digested {
            return Ok(Chosen::unchanged("no unit fits the budget"));
        }
        let report = Report::compacted(builder.build()?)
            .with_count("outputs-cut", cut)
            .with_count("parts-removed", removed)
            .with_count("units-digested", removed_units as u64)
            .with_count("digest-tokens", u64::from(written.tokens))
            .with_count("names-found", written.names.found as u64)
            .with_count("names-kept", written.names.kept as u64);
        Ok(Chosen {
            report,
            is_summarised,
        })
    }
}
