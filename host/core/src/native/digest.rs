//! `native:digest`: replaces removed units by a summary, without a model.
//!
//! Keeps the protected units and a window of the newest ones, and replaces the rest by one text: the user's
//! requests and rules, what was done, errors, values, and open points. Rules and the last error get their
//! tokens before the window. The figures are in [`baler_digest::shares`].

#[cfg(test)]
mod tests;

use std::borrow::Cow;

use baler_digest::shares::{self, MOST_DIGEST_BYTES};
use baler_digest::{Costs, Notes, Part, Written};

use baler_conversation::marks::{self, By, Opened, Purpose, Site};
use baler_conversation::message::Content;
use baler_conversation::{Conversation, Role, UnitKind};

use super::free_budget::FreeBudget;
use crate::report::{Answer, Metric, MetricValue, Report};
use crate::situation::Situation;

/// Text that replaces units without text, such as a picture.
const EMPTY_DIGEST: &str = "Earlier messages were left out.";

/// Runs `native:digest`; falls back to `native:truncate` if a digest does not fit.
pub(crate) fn digest(situation: &Situation) -> Report {
    let protected: Vec<bool> = (0..situation.units().len())
        .map(|unit| situation.is_protected(unit))
        .collect();
    let free = FreeBudget::of(situation);
    let mut all = protected.clone();
    if extend(situation, &mut all, free).is_complete {
        return Report {
            answer: Answer::Unchanged("nothing has to be removed".to_owned()),
            metrics: Vec::new(),
        };
    }
    free.without_insertion(situation)
        .and_then(|free| {
            let count = |text: &str| situation.conversation.tokenizer().count(text);
            Digest::new(situation, protected, free, Costs::new(&count))?.report()
        })
        .unwrap_or_else(|| super::truncate::truncate(situation))
}

struct Digest<'a> {
    situation: &'a Situation,
    kept: Vec<bool>,
    /// Tokens and bytes for the text, with those that the kept units leave unused.
    free: FreeBudget,
    notes: Notes,
    costs: Costs<'a>,
}

impl<'a> Digest<'a> {
    /// Reads the conversation and chooses the units to keep. `None` if a digest does not fit, or the time is
    /// over.
    fn new(
        situation: &'a Situation,
        mut kept: Vec<bool>,
        mut free: FreeBudget,
        mut costs: Costs<'a>,
    ) -> Option<Self> {
        let mut notes = Notes::default();
        for unit in 0..situation.units().len() {
            notes.read_until(
                &|| situation.is_over(),
                &parts(&situation.conversation, unit),
            );
            // The chain ends at the deadline, whatever `native:truncate` returns.
            if situation.is_over() {
                return None;
            }
        }
        keep_summaries(situation, &mut kept, &mut free);
        let most = shares::NEEDED.of(free.tokens);
        let conversation = situation.conversation.tokens();
        let removable = situation.units().iter().zip(&kept);
        let newest = removable.rev().find(|(_, kept)| !**kept);
        let newest = newest.map_or(u32::MAX, |(unit, _)| unit.tokens);
        let mut for_text = shares::text_tokens(notes.work(), free.tokens, conversation, newest);
        // Units that are removed to make room for rules may contain rules themselves, so this repeats.
        for _ in 0..4 {
            let mut window = kept.clone();
            let text_bytes = shares::TEXT_BYTES.of(free.bytes.min(MOST_DIGEST_BYTES));
            let without_text = free.without_text(for_text, text_bytes);
            let left = extend(situation, &mut window, without_text).free;
            let needed = notes.needed(&window, most, &mut costs);
            let is_small = free.tokens < shares::LEAST_DIGEST;
            if is_small && (needed == 0 || needed > free.tokens) {
                return None;
            }
            let wanted = if is_small { needed } else { needed.min(most) };
            if wanted <= for_text {
                return Some(Self {
                    situation,
                    kept: window,
                    free: left.with_text(for_text, text_bytes),
                    notes,
                    costs,
                });
            }
            for_text = wanted;
        }
        None
    }

    /// Writes the digest, gives the window the tokens that the text leaves, and returns the report; `None` if
    /// the text does not fit.
    fn report(mut self) -> Option<Report> {
        let first = self.write(self.free.tokens);
        // Tokens that the text leaves go to the window.
        let left = self.free.without_text(first.tokens, first.bytes);
        let mut wider = self.kept.clone();
        let left = extend(self.situation, &mut wider, left).free;
        let mut written = first;
        if wider != self.kept {
            self.free = left.with_text(written.tokens, written.bytes);
            self.kept = wider;
            written = self.write(self.free.tokens);
        }
        // Lines were counted one by one. Joined and in its mark the text may have a few more tokens. If units
        // are skipped, the host may have to insert a note of its own.
        let allowed = self.situation.left_for_text(&self.kept)?;
        for _ in 0..4 {
            let excess = self.cost(&written.text).saturating_sub(allowed);
            if excess == 0 {
                break;
            }
            let tokens = written
                .tokens
                .checked_sub(excess + shares::REWRITE_MARGIN)?;
            written = self.write(tokens);
        }
        if written.text.is_empty() {
            written.text = EMPTY_DIGEST.to_owned();
        }
        let fits = self.cost(&written.text) <= allowed;
        fits.then(|| self.with_metrics(written))
    }

    fn write(&mut self, tokens: u32) -> Written {
        let bytes = self.free.bytes.min(MOST_DIGEST_BYTES);
        self.notes.write(&self.kept, tokens, bytes, &mut self.costs)
    }

    /// Returns the tokens of a text as the host will insert it.
    fn cost(&self, text: &str) -> u32 {
        let conversation = &self.situation.conversation;
        let by = By::Strategy("native:digest");
        let marked = marks::wrap(conversation.key(), Purpose::Summary, Site::User, by, text);
        conversation.tokenizer().per_message() + conversation.tokenizer().count(&marked)
    }

    fn with_metrics(self, written: Written) -> Report {
        let Self {
            situation, kept, ..
        } = self;
        let count = |number: usize| MetricValue::Count(u32::try_from(number).unwrap_or(u32::MAX));
        let window = (0..kept.len()).filter(|unit| kept[*unit] && !situation.is_protected(*unit));
        let metrics = [
            ("digest-tokens", MetricValue::Count(written.tokens)),
            ("window-units", count(window.count())),
            (
                "units-removed",
                count(kept.iter().filter(|kept| !**kept).count()),
            ),
            ("rules-found", count(written.rules.found)),
            ("rules-kept", count(written.rules.kept)),
            ("requests-found", count(written.requests.found)),
            ("requests-kept", count(written.requests.kept)),
            ("names-found", count(written.names.found)),
            ("names-kept", count(written.names.kept)),
        ];
        Report {
            answer: Answer::Compacted(super::with_summary(&kept, written.text)),
            metrics: metrics
                .into_iter()
                .map(|(name, value)| Metric {
                    name: name.to_owned(),
                    value,
                })
                .collect(),
        }
    }
}

/// Returns the parts of a unit for the digest. Text within a mark counts as what it was before.
fn parts(conversation: &Conversation, unit: usize) -> Vec<Part<'_>> {
    let mut parts = Vec::new();
    for message in conversation.messages(unit) {
        let calls = message.calls().next().is_some();
        for part in &message.parts {
            let earlier = conversation.earlier(message, part);
            let is_excerpt = earlier.as_ref().is_some_and(Opened::is_excerpt);
            let earlier = earlier.map(|earlier| earlier.text);
            match &part.content {
                Content::Text(place) => {
                    // What stays of a user's text is still the user's.
                    let is_earlier = earlier.is_some() && !is_excerpt;
                    let text = earlier.map_or_else(|| conversation.text(place), Cow::Owned);
                    match message.role {
                        Role::Assistant => parts.push(Part::Assistant { text, calls }),
                        _ if is_earlier => parts.push(Part::Summary(text)),
                        Role::User => parts.push(Part::User(text)),
                        _ => {}
                    }
                }
                Content::Call(call) => parts.push(Part::Call {
                    id: call.id.as_str().into(),
                    name: call.name.as_str().into(),
                    arguments: call
                        .arguments
                        .as_ref()
                        .map_or(Cow::Borrowed(""), |place| conversation.text(place)),
                }),
                Content::Output(output) => parts.push(Part::Output {
                    call_id: output.call_id.as_str().into(),
                    name: output.name.as_str().into(),
                    failed: output.failed,
                    text: match earlier {
                        Some(text) => text.into(),
                        None => output.text(conversation.source()),
                    },
                }),
                Content::Thinking(place) => {
                    parts.push(Part::Thinking(conversation.text(place)));
                }
                Content::Media(_) | Content::Opaque(_) => {}
            }
        }
    }
    parts
}

/// Keeps earlier summaries unchanged, newest first, as far as they are small. The new text carries on the
/// others line by line.
fn keep_summaries(situation: &Situation, kept: &mut [bool], free: &mut FreeBudget) {
    let mut left = shares::KEPT_SUMMARIES.of(free.tokens);
    for (index, unit) in situation.units().iter().enumerate().rev() {
        if unit.kind == UnitKind::Summary && !kept[index] {
            if unit.tokens > left || !free.take(unit) {
                return;
            }
            left -= unit.tokens;
            kept[index] = true;
        }
    }
}

struct Extended {
    free: FreeBudget,
    /// Whether all units are kept.
    is_complete: bool,
}

/// Keeps the newest units that fit. A unit that does not fit ends the window, unless it is larger than
/// [`shares::LARGE_UNIT`]: such a unit is skipped.
fn extend(situation: &Situation, kept: &mut [bool], free: FreeBudget) -> Extended {
    let mut left = free;
    let mut next = None;
    for (index, unit) in situation.units().iter().enumerate().rev() {
        if kept[index] {
            next = Some(index);
            continue;
        }
        if next.is_some_and(|next| would_reopen_loop(situation, index, next)) {
            continue;
        }
        if left.take(unit) {
            kept[index] = true;
            next = Some(index);
        } else if unit.tokens <= shares::LARGE_UNIT.of(free.tokens) {
            break;
        }
    }
    Extended {
        free: left,
        is_complete: kept.iter().all(|kept| *kept),
    }
}

/// Whether a step with calls, kept before `next`, would lose the answer that ended its turn. With the user's
/// next words after its outputs its tool loop would be open again, and in Anthropic's format has to begin
/// with thinking (ANTH-2, ANTH-5).
fn would_reopen_loop(situation: &Situation, step: usize, next: usize) -> bool {
    step + 1 < next
        && situation.units()[next].kind == UnitKind::User
        && situation.conversation.envelope().wants_thinking()
        && situation.units()[step].traits.calls
}
