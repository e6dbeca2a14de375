//! How far to go.

use std::collections::{BTreeMap, HashMap};
use std::ops::Range;

use baler_digest::{Costs, Work, Written};
use baler_strategy::{
    Conversation, Draft, Failure, Insertion, Report, Situation, Unit, UnitKind, Value, opening_note,
};

use crate::config::Config;
use crate::material::Material;
use crate::reduce::{self, Level, Reduced};

/// The share of the room that a digest gets where nearly all has to go, how much less it gets
/// the larger the room is, and its least share; in thousandths.
const MOST: u64 = 600;
const LESS: u64 = 750;
const LEAST_SHARE: u64 = 120;

/// With less room than so many marks cost, a digest says less than what it displaces.
const LEAST: u32 = 2;

/// Tokens that stay unused: joined with others a text may cost a little more than alone.
const SLACK: u32 = 8;

/// The most bytes of a digest as JSON.
const BYTES: usize = 400_000;

/// The plan.
pub(crate) fn choose(
    conversation: &Conversation<'_>,
    situation: &Situation,
    config: &Config,
) -> Result<Report, Failure> {
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
        return Ok(Report::unchanged("nothing has to go"));
    }
    let mut material = Material::read(conversation);
    if let Some(work) = config.work.said() {
        material.notes.set_work(work);
    }
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
        known: HashMap::new(),
        whole,
    };
    choice.remove_what_may_go();
    for level in [Level::Superseded, Level::Third] {
        if choice.fits() {
            break;
        }
        choice.reduce(level);
    }
    let written = if choice.fits() {
        let left = u64::from(target(situation)).saturating_sub(choice.whole.tokens);
        choice.give_back(left);
        None
    } else {
        choice.digest()
    };
    choice.report(written)
}

/// What has to be reached: the budget, or the floor where the budget is below that.
fn target(situation: &Situation) -> u32 {
    situation.budget.max(situation.floor)
}

/// The first of the newest steps, so many of which stay as they are.
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
    /// Parts that are left out: unit, message, part and tokens.
    removed: Vec<(usize, usize, usize, u32)>,
    /// Smaller texts by their outputs.
    reduced: BTreeMap<usize, Reduced>,
    /// Tokens that are saved in each unit.
    saved: Vec<u64>,
    /// Texts that were made already: a window is tried more than once.
    known: HashMap<(usize, Level), Option<Reduced>>,
    /// What all units need together as they stand now.
    whole: Needs,
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

    /// Whether bytes and media hold a unit; its tokens may still become fewer.
    fn hold(&self, unit: &Unit) -> bool {
        u64::from(unit.bytes) <= self.bytes && u64::from(unit.media) <= self.media
    }
}

impl Choice<'_> {
    fn units(&self) -> &[Unit] {
        self.conversation.units()
    }

    /// Tokens that a unit costs as it stands now.
    fn cost(&self, unit: usize) -> u64 {
        self.units()[unit].cost().saturating_sub(self.saved[unit])
    }

    /// Whether all units fit as they stand now. Bytes of texts that became smaller are not
    /// known; what stays whole counts.
    fn fits(&self) -> bool {
        self.whole.fit(self.situation)
    }

    /// Pictures and thinking in old units, where the host lets them go.
    fn remove_what_may_go(&mut self) {
        for place in &self.material.removable {
            if self.fits() {
                return;
            }
            if place.0 < self.recent {
                self.removed.push(*place);
                self.saved[place.0] += u64::from(place.3);
                self.whole.tokens = self.whole.tokens.saturating_sub(u64::from(place.3));
                self.whole.media = self.whole.media.saturating_sub(1);
            }
        }
    }

    /// Cuts old outputs, oldest first, until it fits.
    fn reduce(&mut self, level: Level) {
        for index in 0..self.material.outputs.len() {
            let output = &self.material.outputs[index];
            if output.unit >= self.recent || self.fits() {
                return;
            }
            self.reduce_one(index, level);
        }
    }

    fn reduce_one(&mut self, index: usize, level: Level) {
        let output = &self.material.outputs[index];
        if output.tokens < self.min_tokens {
            return;
        }
        let smaller = self.known.entry((index, level)).or_insert_with(|| {
            reduce::reduced(
                self.conversation,
                self.situation,
                self.material,
                index,
                level,
            )
        });
        let smaller = smaller.clone();
        self.put(index, smaller);
    }

    /// Room that is left makes what was cut longer again, newest first.
    fn give_back(&mut self, mut left: u64) {
        let cut: Vec<usize> = self.reduced.keys().rev().copied().collect();
        for index in cut {
            if left < u64::from(self.min_tokens) {
                return;
            }
            let output = &self.material.outputs[index];
            let now = self.reduced[&index].tokens;
            let most = u32::try_from(u64::from(now) + left).unwrap_or(u32::MAX);
            if !self.kept[output.unit] || output.newer.is_some() {
                continue;
            }
            let longer = if output.tokens <= most {
                None
            } else {
                let longer = reduce::to_size(
                    self.conversation,
                    self.situation,
                    self.material,
                    index,
                    // The first guess of bytes may be a little off.
                    most - most / 20,
                );
                match longer {
                    Some(longer) if longer.tokens > now && longer.tokens <= most => Some(longer),
                    _ => continue,
                }
            };
            let tokens = longer
                .as_ref()
                .map_or(output.tokens, |longer| longer.tokens);
            let given = u64::from(tokens - now);
            left -= given;
            self.saved[output.unit] -= given;
            match longer {
                Some(longer) => self.reduced.insert(index, longer),
                None => self.reduced.remove(&index),
            };
        }
    }

    /// Puts a text in the place of an output, if it is smaller than what stands there.
    fn put(&mut self, index: usize, smaller: Option<Reduced>) {
        let output = &self.material.outputs[index];
        let before = self
            .reduced
            .get(&index)
            .map_or(output.tokens, |known| known.tokens);
        if let Some(smaller) = smaller
            && let Some(saved) = before
                .checked_sub(smaller.tokens)
                .filter(|saved| *saved > 0)
        {
            self.saved[output.unit] += u64::from(saved);
            self.whole.tokens = self.whole.tokens.saturating_sub(u64::from(saved));
            self.reduced.insert(index, smaller);
        }
    }

    /// Keeps the newest units, and writes a digest of the others.
    fn digest(&mut self) -> Option<Written> {
        let units = self.units().len();
        let situation = self.situation;
        let target = u64::from(target(situation));
        let protected: u64 = (0..units)
            .filter(|unit| self.units()[*unit].is_protected())
            .map(|unit| self.cost(unit))
            .sum();
        let room = target
            .saturating_sub(u64::from(situation.overhead) + protected)
            .saturating_sub(u64::from(situation.insertion_overhead));
        let room = u32::try_from(room).unwrap_or(u32::MAX);
        let count = |text: &str| self.conversation.count(text);
        let mut costs = Costs::new(&count);
        let of_all = u64::from(room) * 1_000 / u64::from(situation.used.max(1));
        let share = MOST
            .saturating_sub(of_all * LESS / 1_000)
            .clamp(LEAST_SHARE, MOST);
        let mut share = u32::try_from(u64::from(room) * share / 1_000).unwrap_or(u32::MAX);
        let most = room / 5 * 4;
        let is_small = room < situation.insertion_overhead.saturating_mul(LEAST);
        if is_small {
            share = 0;
        }
        // What the rules need depends on what is dropped, and that on the room.
        let before = (self.reduced.clone(), self.saved.clone());
        for _ in 0..4 {
            (self.reduced, self.saved) = before.clone();
            self.window(room - share.min(room));
            let needed = self
                .material
                .notes
                .needed(&self.kept, most, &mut costs)
                .min(most);
            if needed <= share || is_small {
                break;
            }
            share = needed;
        }
        if share == 0 {
            return None;
        }
        let written = self.write(&mut costs)?;
        let unused = self.left_for_text().saturating_sub(written.tokens);
        self.give_back(u64::from(unused.saturating_sub(SLACK)));
        Some(written)
    }

    /// Writes what the units say that are not kept, in what is left beside those that are.
    fn write(&self, costs: &mut Costs<'_>) -> Option<Written> {
        let bytes = self.room_for_bytes();
        let left = self.left_for_text();
        let mut tokens = left;
        for _ in 0..5 {
            let notes = &self.material.notes;
            let mut written = notes.write(&self.kept, tokens, bytes, costs);
            if written.text.is_empty() {
                return None;
            }
            let cost = self.conversation.count(&written.text);
            let excess = cost.saturating_sub(left);
            if excess == 0 {
                written.tokens = cost;
                return Some(written);
            }
            tokens = written.tokens.checked_sub(excess + 4)?;
        }
        None
    }

    /// Keeps the newest units in so many tokens, those that are not recent with their outputs
    /// cut.
    fn window(&mut self, tokens: u32) {
        let units = self.units().len();
        self.kept = self.units().iter().map(Unit::is_protected).collect();
        let limit = |most: Option<u32>| most.map_or(u64::MAX, u64::from);
        let mut left = Needs {
            tokens: u64::from(tokens),
            bytes: limit(self.situation.max_bytes),
            media: limit(self.situation.max_media),
        };
        for unit in self.units().iter().filter(|unit| unit.is_protected()) {
            left.bytes = left.bytes.saturating_sub(u64::from(unit.bytes));
            left.media = left.media.saturating_sub(u64::from(unit.media));
        }
        let mut is_newest = true;
        for unit in (0..units).rev() {
            if self.kept[unit] {
                continue;
            }
            if !left.hold(&self.units()[unit]) {
                continue;
            }
            let is_taken =
                self.shrink(unit, left.tokens) || is_newest && self.squeeze(unit, left.tokens);
            is_newest = false;
            if is_taken {
                let own = &self.units()[unit];
                left.tokens -= self.cost(unit);
                left.bytes -= u64::from(own.bytes);
                left.media -= u64::from(own.media);
                self.kept[unit] = true;
            } else if self.cost(unit) <= u64::from(tokens) / 2 {
                // One that takes most of the room alone is passed over; one that only came too
                // late ends the window.
                break;
            }
        }
    }

    /// Whether a unit comes down to so many tokens, if need be with its outputs cut.
    fn shrink(&mut self, unit: usize, tokens: u64) -> bool {
        for level in [Level::Third, Level::Tenth] {
            if self.cost(unit) <= tokens {
                return true;
            }
            for output in self.outputs_of(unit) {
                self.reduce_one(output, level);
            }
        }
        self.cost(unit) <= tokens
    }

    /// The same with its outputs cut as far as it takes.
    fn squeeze(&mut self, unit: usize, tokens: u64) -> bool {
        let outputs = self
            .outputs_of(unit)
            .map(|index| (index, self.material.outputs[index].tokens));
        let outputs: Vec<(usize, u32)> = outputs.filter(|(_, tokens)| *tokens > 0).collect();
        let all: u64 = outputs.iter().map(|(_, tokens)| u64::from(*tokens)).sum();
        let others = self.units()[unit].cost().saturating_sub(all);
        let Some(room) = tokens
            .checked_sub(others)
            .filter(|room| all > 0 && *room >= all / 10)
        else {
            return false;
        };
        for (index, tokens) in outputs {
            // The first guess of bytes may be a little off.
            let share = u64::from(tokens) * room / all * 19 / 20;
            let smaller = reduce::to_size(
                self.conversation,
                self.situation,
                self.material,
                index,
                u32::try_from(share).unwrap_or(u32::MAX),
            );
            self.put(index, smaller);
        }
        self.cost(unit) <= tokens
    }

    fn outputs_of(&self, unit: usize) -> Range<usize> {
        let outputs = &self.material.outputs;
        outputs.partition_point(|output| output.unit < unit)
            ..outputs.partition_point(|output| output.unit <= unit)
    }

    /// Tokens for a text in the place of what is dropped.
    fn left_for_text(&self) -> u32 {
        let kept: u64 = (0..self.kept.len())
            .filter(|unit| self.kept[*unit])
            .map(|unit| self.cost(unit))
            .sum();
        let left = u64::from(target(self.situation))
            .saturating_sub(u64::from(self.situation.overhead))
            .saturating_sub(u64::from(self.situation.insertion_overhead))
            // Where units are passed over, the host may have to put a note between others.
            .saturating_sub(u64::from(self.situation.opening_note) * self.gaps())
            .saturating_sub(kept);
        u32::try_from(left).unwrap_or(u32::MAX)
    }

    /// Places behind the first dropped unit where others are missing between kept steps.
    fn gaps(&self) -> u64 {
        let first = self.kept.iter().position(|kept| !kept).unwrap_or(0);
        let behind = &self.kept[first..];
        let mut gaps = 0;
        for pair in behind.windows(2) {
            gaps += u64::from(!pair[0] && pair[1]);
        }
        gaps
    }

    fn room_for_bytes(&self) -> usize {
        let kept: u64 = (0..self.kept.len())
            .filter(|unit| self.kept[*unit])
            .map(|unit| u64::from(self.units()[unit].bytes))
            .sum();
        let most = self.situation.max_bytes.map_or(u64::MAX, u64::from);
        usize::try_from(most.saturating_sub(kept).saturating_sub(512))
            .unwrap_or(usize::MAX)
            .min(BYTES)
    }

    fn report(self, written: Option<Written>) -> Result<Report, Failure> {
        let units = self.units();
        if self.kept.iter().all(|kept| *kept) && self.reduced.is_empty() && self.removed.is_empty()
        {
            return Ok(Report::unchanged("nothing can be left out"));
        }
        let mut draft = Draft::keeping(units.len());
        let mut codes: Vec<Option<&str>> = vec![None; units.len()];
        let mut cut = 0;
        for (index, reduced) in &self.reduced {
            let output = &self.material.outputs[*index];
            if self.kept[output.unit] {
                cut += 1;
                codes[output.unit] = Some(reduced.code);
                draft
                    .rewrite(output.unit)
                    .text(output.message, output.part, reduced.text.clone());
            }
        }
        let mut removed = 0;
        for (unit, message, part, _) in &self.removed {
            if self.kept[*unit] {
                removed += 1;
                codes[*unit].get_or_insert("removed");
                draft.rewrite(*unit).remove(*message, *part);
            }
        }
        let mut dropped: usize = 0;
        let mut text = written.as_ref().map(|written| written.text.clone());
        for (unit, kept) in self.kept.iter().enumerate() {
            if !kept {
                dropped += 1;
                draft.drop(unit);
                codes[unit] = Some("digested");
                if let Some(text) = text.take() {
                    draft.insert(unit, Insertion::summary(text));
                }
            }
        }
        for (unit, code) in codes.iter().enumerate() {
            if let Some(code) = code {
                draft.reason(unit..unit + 1, code);
            }
        }
        if dropped == units.len() && written.is_none() {
            return Ok(Report::unchanged("not even one unit fits"));
        }
        let written = written.unwrap_or_default();
        let work = match self.material.notes.work() {
            Work::Coding => "coding",
            Work::Service => "service",
            Work::Chat => "chat",
        };
        Ok(Report::compacted(draft.build()?)
            .with_count("outputs-cut", cut)
            .with_count("parts-removed", removed)
            .with_count("units-digested", dropped as u64)
            .with_count("digest-tokens", u64::from(written.tokens))
            .with_count("names-found", written.names.found as u64)
            .with_count("names-kept", written.names.kept as u64)
            .with_count("rules-found", written.rules.found as u64)
            .with_count("rules-kept", written.rules.kept as u64)
            .with_metric("work", Value::Text(work.to_owned())))
    }
}
