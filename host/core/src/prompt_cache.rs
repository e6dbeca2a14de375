//! What a compaction means for the provider's cache, which knows a request by its beginning.

use baler_conversation::Conversation;

use crate::changes::UnitOutcome;
use crate::receipt::CacheEffect;

/// Price of a cached token as a share of that of a fresh one, where nothing else is said. So it
/// is with Anthropic, OpenAI and Gemini, as of November 2026.
const PRICE: f64 = 0.1;

/// Price of reading a request, in fresh tokens, of which so many are cached at a share of the
/// price.
pub(crate) fn price(tokens: u32, cached: u32, share: f64) -> f64 {
    f64::from(cached) * share + f64::from(tokens.saturating_sub(cached))
}

/// Leading units that are the same before and after.
pub(crate) fn leading_units_kept(outcomes: &[UnitOutcome], insertions: &[usize]) -> usize {
    let changed = outcomes
        .iter()
        .position(|outcome| *outcome != UnitOutcome::Kept);
    let inserted = insertions.iter().copied().min();
    let all = outcomes.len();
    changed.unwrap_or(all).min(inserted.unwrap_or(all))
}

/// The effect on the cache, if it is known what that holds. `kept` leading units stay.
pub(crate) fn effect(
    before: &Conversation,
    after: &Conversation,
    said: Option<u32>,
    kept: usize,
) -> Option<CacheEffect> {
    if said.is_none() && before.units_sent().is_none() {
        return None;
    }
    let cached_units = before.units_cached(said);
    let tokens_cached = before.tokens_cached(said);
    let lost = before
        .units()
        .get(kept..cached_units)
        .unwrap_or_default()
        .iter()
        .fold(0u32, |sum, unit| sum.saturating_add(unit.tokens));
    let still_cached = tokens_cached.saturating_sub(lost);
    let saved = before.tokens().saturating_sub(after.tokens());
    let without = price(before.tokens(), tokens_cached, PRICE);
    let with = price(after.tokens(), still_cached, PRICE);
    let extra = (with - without).max(0.0);
    let pays_after = (extra / (f64::from(saved) * PRICE)).ceil();
    Some(CacheEffect {
        tokens_cached,
        tokens_thrown_away: lost,
        tokens_saved: saved,
        // Casts saturate; where nothing is saved nothing was thrown away either.
        pays_after_requests: if saved == 0 { 0 } else { pays_after as u32 },
    })
}
