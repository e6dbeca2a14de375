//! The request for a compaction.

use std::str::FromStr;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use baler_conversation::provider::Binding;
use baler_conversation::{Conversation, Deadline, Format, Role};

/// Why the host is asked.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
#[non_exhaustive]
pub enum Trigger {
    /// A threshold of the embedding program's was crossed.
    #[default]
    Threshold,
    /// The provider refused a request as too long.
    Overflow,
    /// A person or program asked, perhaps saying what to keep in mind.
    Manual(Option<String>),
    /// A schedule said so.
    Scheduled,
}

impl Trigger {
    /// The name in receipts and in the contract.
    #[must_use]
    pub const fn name(&self) -> &'static str {
        match self {
            Self::Threshold => "threshold",
            Self::Overflow => "overflow",
            Self::Manual(_) => "manual",
            Self::Scheduled => "scheduled",
        }
    }
}

/// Tokens that a share of a conversation leaves beside what has to stay. A first prompt or a newest
/// message may take more than any share.
pub(crate) const LEAST_BESIDE: u32 = 500;

/// How large the result may be.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Budget {
    /// This many tokens, overhead included.
    Tokens(u32),
    /// The overhead, and this share (from 0 to 1) of the tokens of all other units; but no less than
    /// what has to stay and 500 tokens (or half of all else, where that is less), so that something can
    /// stand for what leaves.
    Share(f64),
}

/// Why a text is not a [`Budget`].
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum BudgetError {
    /// Neither a number nor a percentage.
    #[error("give a number of tokens such as 8000, or a share such as 50%")]
    Unreadable,
    /// A share of nothing, or of more than all.
    #[error("a share is more than 0% and at most 100%")]
    NoShare,
    /// No tokens at all.
    #[error("nothing fits into 0 tokens; 1 asks for the smallest result there can be")]
    Nothing,
    /// More tokens than can be counted.
    #[error("no request has so many tokens; the most is {}", u32::MAX)]
    TooMany,
}

/// Tokens, such as `8000` or `8_000`, or a share, such as `50%`.
impl FromStr for Budget {
    type Err = BudgetError;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        if let Some(percent) = text.strip_suffix('%') {
            let percent: f64 = percent
                .trim()
                .parse()
                .map_err(|_| BudgetError::Unreadable)?;
            return match percent > 0.0 && percent <= 100.0 {
                true => Ok(Self::Share(percent / 100.0)),
                false => Err(BudgetError::NoShare),
            };
        }
        if text.starts_with(['_', '+']) {
            return Err(BudgetError::Unreadable);
        }
        let tokens: u64 = text
            .replace('_', "")
            .parse()
            .map_err(|_| BudgetError::Unreadable)?;
        match u32::try_from(tokens) {
            Ok(0) => Err(BudgetError::Nothing),
            Ok(tokens) => Ok(Self::Tokens(tokens)),
            Err(_) => Err(BudgetError::TooMany),
        }
    }
}

/// What the embedding program wants to stay.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Pins {
    /// The first message of the user's, which is often the task.
    FirstUser,
    /// The units with these indices.
    Units(Vec<usize>),
    /// Nothing beside what always stays.
    None,
}

/// What a plan may do beside keeping and dropping units.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields, rename_all = "kebab-case")]
#[non_exhaustive]
pub struct Policy {
    /// Rewrite tool outputs.
    pub rewrite_outputs: bool,
    /// Rewrite the assistant's text.
    pub rewrite_assistant: bool,
    /// Leave pictures and the like out of messages that stay.
    pub remove_media: bool,
    /// Give inserted text the developer or system role where the format has it.
    pub summary_role: SummaryRole,
    /// What becomes of thinking that stays behind something that changed.
    pub thinking: ThinkingPolicy,
}

impl Policy {
    setters! {
        with_rewrite_outputs rewrite_outputs: bool;
        with_rewrite_assistant rewrite_assistant: bool;
        with_remove_media remove_media: bool;
        with_summary_role summary_role: SummaryRole;
        with_thinking thinking: ThinkingPolicy;
    }
}

/// What becomes of thinking in messages that stay behind a change. Newer models of Anthropic's
/// refuse a request with thinking that was made behind other messages.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
#[non_exhaustive]
pub enum ThinkingPolicy {
    /// It goes where the model that the request names would refuse it. Else strategies may leave
    /// out that of finished turns.
    #[default]
    Auto,
    /// It stays.
    Keep,
    /// It goes, where it is a part of the content and the provider lets it.
    Drop,
}

/// The highest role that inserted text may take.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
#[non_exhaustive]
pub enum SummaryRole {
    /// Only the user's.
    #[default]
    User,
    /// The developer's too.
    Developer,
    /// The system's too.
    System,
}

impl Default for Policy {
    fn default() -> Self {
        Self {
            rewrite_outputs: true,
            rewrite_assistant: false,
            remove_media: false,
            summary_role: SummaryRole::User,
            thinking: ThinkingPolicy::Auto,
        }
    }
}

impl Policy {
    pub(crate) fn allows_role(&self, role: Role) -> bool {
        match role {
            Role::User => true,
            Role::Developer => self.summary_role != SummaryRole::User,
            Role::System => self.summary_role == SummaryRole::System,
            Role::Assistant | Role::Tool => false,
        }
    }

    /// Whether thinking goes from what stays behind a change, where its provider binds it so.
    pub(crate) fn drops_thinking(&self, binding: Binding) -> bool {
        match self.thinking {
            ThinkingPolicy::Keep => false,
            ThinkingPolicy::Drop => true,
            ThinkingPolicy::Auto => binding == Binding::Refuses,
        }
    }
}

/// What is wanted of a compaction. The defaults are those of the command line.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct Request {
    /// Why.
    pub trigger: Trigger,
    /// How large the result may be. Default: half.
    pub budget: Budget,
    /// What stays. Default: the first user message.
    pub pins: Pins,
    /// Index of the first message that is live: it and all after it came after the state that
    /// is to be compacted, and stay.
    pub live_from: Option<usize>,
    /// The model's context window in tokens. Default: unknown.
    pub context_window: Option<u32>,
    /// Leading units that the provider is believed to hold in its cache. None: as far as the
    /// conversation knows what was sent ([`Conversation::mark_sent`]).
    pub cached_units: Option<u32>,
    /// What the provider's cache is worth. With it the host's own trigger waits as long as
    /// compacting would cost more than it saves, reckoned with half of what there is now (less
    /// where the budget is lower); without it the cache does not count.
    pub cache_price: Option<CachePrice>,
    /// The most bytes that the result may have. Default: what the provider takes.
    pub max_bytes: Option<usize>,
    /// The most pictures, documents and the like that the result may have. Default: what the
    /// provider takes.
    pub max_media: Option<u32>,
    /// JSON for the strategy: turns left, memory, data … Default: none.
    pub context: Option<String>,
    /// `unchanged` is no answer: the host goes on to the next strategy of the chain.
    pub required: bool,
    /// Failures that strategies declared in a row before this call, for this conversation: the
    /// receipt of the call before says how many.
    pub failures_in_a_row: u32,
    /// What plans may do.
    pub policy: Policy,
    /// When the compaction has to end. Default: never; each strategy has limits of its own. Where it
    /// is not done by then the conversation stays as it is.
    pub deadline: Option<Deadline>,
    /// Whether the receipt holds what strategies say in words. Default: no.
    pub free_text_in_receipt: bool,
}

impl Request {
    /// A request for a compaction to `budget`, with the defaults otherwise.
    #[must_use]
    pub fn new(budget: Budget) -> Self {
        Self::default().with_budget(budget)
    }

    setters! {
        with_trigger trigger: Trigger;
        with_budget budget: Budget;
        with_pins pins: Pins;
        with_live_from live_from: Option<usize>;
        with_context_window context_window: Option<u32>;
        with_cached_units cached_units: Option<u32>;
        with_cache_price cache_price: Option<CachePrice>;
        with_max_bytes max_bytes: Option<usize>;
        with_max_media max_media: Option<u32>;
        with_context context: Option<String>;
        with_required required: bool;
        with_failures_in_a_row failures_in_a_row: u32;
        with_policy policy: Policy;
        with_deadline deadline: Option<Deadline>;
        with_free_text_in_receipt free_text_in_receipt: bool;
    }
}

impl Default for Request {
    fn default() -> Self {
        Self {
            trigger: Trigger::default(),
            budget: Budget::Share(0.5),
            pins: Pins::FirstUser,
            live_from: None,
            context_window: None,
            cached_units: None,
            cache_price: None,
            max_bytes: None,
            max_media: None,
            context: None,
            required: false,
            failures_in_a_row: 0,
            policy: Policy::default(),
            deadline: None,
            free_text_in_receipt: false,
        }
    }
}

impl Request {
    /// The share of the context window at which a compaction is due by default.
    pub const DUE_SHARE: f64 = 0.8;

    /// The most bytes and media that a result in this format may have.
    pub(crate) fn limits(&self, format: Format) -> (usize, u32) {
        let limits = format.limits();
        (
            self.max_bytes.unwrap_or(limits.body_bytes),
            self.max_media.unwrap_or(limits.pictures),
        )
    }
}

impl Budget {
    /// The tokens that it means for a conversation.
    pub(crate) fn tokens_of(self, conversation: &Conversation) -> u32 {
        match self {
            Self::Tokens(tokens) => tokens,
            Self::Share(share) => {
                let overhead = conversation.overhead();
                let rest = f64::from(conversation.tokens().saturating_sub(overhead));
                // Rounded down, so that a share never gives more than it says; casts saturate.
                overhead.saturating_add((rest * share) as u32)
            }
        }
    }
}

/// What a provider's cache is worth, for a trigger that weighs it.
#[derive(Debug, Clone, Copy, PartialEq)]
#[non_exhaustive]
pub struct CachePrice {
    /// Price of a cached token, as a share of that of a fresh one: 0.1 for most providers.
    pub share: f64,
    /// Requests that are expected to follow.
    pub requests: u32,
}

impl CachePrice {
    /// A cached token costs `share` of a fresh one, and `requests` requests are expected to follow.
    #[must_use]
    pub const fn new(share: f64, requests: u32) -> Self {
        Self { share, requests }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_budget_is_tokens_or_a_share() {
        let budget = |text: &str| text.parse::<Budget>();
        assert_eq!(budget("8000"), Ok(Budget::Tokens(8_000)));
        assert_eq!(budget("12.5%"), Ok(Budget::Share(0.125)));
        for wrong in [
            "0",
            "0%",
            "101%",
            "-5",
            "-5%",
            "NaN%",
            "inf%",
            "half",
            "",
            "%",
            "99999999999",
        ] {
            assert!(budget(wrong).is_err(), "{wrong}");
        }
    }
}
