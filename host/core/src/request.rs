//! Requests for a compaction: what the result must fit in, and what must be kept.

use std::str::FromStr;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use baler_conversation::provider::Binding;
use baler_conversation::{Conversation, Deadline, Format, Role};

/// Reason for a compaction. It is part of the situation that strategies see, and of the receipt.
#[derive(Debug, Clone, PartialEq, Eq, Default, Deserialize, Serialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
#[non_exhaustive]
pub enum Trigger {
    /// The conversation crossed a threshold of the calling program.
    #[default]
    Threshold,
    /// The provider refused a request as too long.
    Overflow,
    /// A person or a program asked for it, with optional instructions for the strategy.
    Manual(Option<String>),
    /// A schedule of the calling program.
    Scheduled,
}

impl Trigger {
    /// Returns the name in receipts and in the contract.
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

/// Tokens that a [`Budget::Share`] leaves at least for units that are not protected, and for texts. Protected
/// units, such as the newest user message, may be larger than any share.
pub(crate) const MIN_UNPROTECTED_TOKENS: u32 = 500;

/// Size that the result should fit in.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Budget {
    /// Number of tokens, overhead included.
    Tokens(u32),
    /// The overhead, plus this share (from 0 to 1) of all other tokens. At least the floor plus 500 tokens
    /// (or plus half of the tokens above the floor, if that is less), so that there is room for a summary.
    Share(f64),
}

/// Reason why a text is not a valid [`Budget`].
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum BudgetError {
    /// The text is neither a number nor a percentage.
    #[error("give a number of tokens such as 8000 or 8k, or a share such as 50%")]
    Unreadable,
    /// The percentage is not above 0 and at most 100.
    #[error("a share must be more than 0% and at most 100%")]
    NoShare,
    /// The number of tokens is 0.
    #[error("no result fits into 0 tokens; 1 asks for the smallest possible result")]
    Nothing,
    /// The number of tokens is above [`u32::MAX`].
    #[error("no request has so many tokens; the maximum is {}", u32::MAX)]
    TooMany,
}

/// Reads a number of tokens, such as `8000`, `8_000` or `8k`, or a share, such as `50%`.
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
        let (digits, times) = match text.strip_suffix(['k', 'K']) {
            Some(digits) => (digits, 1_000),
            None => (text, 1),
        };
        let tokens: u64 = digits
            .replace('_', "")
            .parse()
            .map_err(|_| BudgetError::Unreadable)?;
        match u32::try_from(tokens.saturating_mul(times)) {
            Ok(0) => Err(BudgetError::Nothing),
            Ok(tokens) => Ok(Self::Tokens(tokens)),
            Err(_) => Err(BudgetError::TooMany),
        }
    }
}

/// Units that the caller pins: they are never removed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Pins {
    /// The first message of the user, which is often the task. The host shortens it if it takes more than its share
    /// of the budget ([`Policy::user_percent`]).
    FirstUser,
    /// The same, and further units by their index in [`Conversation::units`], which also stay byte-identical.
    Units(Vec<usize>),
    /// These units and no other, byte-identical.
    Only(Vec<usize>),
    /// No unit, except those that are always protected.
    None,
}

impl Pins {
    /// The units that are named by their index.
    pub(crate) fn named(&self) -> &[usize] {
        match self {
            Self::Units(named) | Self::Only(named) => named,
            Self::FirstUser | Self::None => &[],
        }
    }
}

/// Changes that a plan may make besides keeping and removing units.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields, rename_all = "kebab-case")]
#[non_exhaustive]
pub struct Policy {
    /// Whether a plan may replace tool outputs by words of its own. Without this and `rewrite-assistant`, all
    /// that stays of a conversation is verbatim.
    pub rewrite_outputs: bool,
    /// Whether a plan may rewrite the assistant's text.
    pub rewrite_assistant: bool,
    /// Whether a plan may keep excerpts of tool outputs, and the host may shorten outputs that the model has
    /// not seen and user messages that nobody pinned by their index. With `rewrite-assistant`, also excerpts of the assistant's text. An excerpt is verbatim, and
    /// the host says where text is missing.
    pub excerpts: bool,
    /// Percent of the free budget that the user's words may take: messages, remarks beside tool outputs, and answers through
    /// a tool. Whatever a plan says, they stay in their place, byte for byte if all of them fit, otherwise the newest,
    /// shortened where they are long (`docs/shares.md`). 0 protects only the first message ([`Pins::FirstUser`]) and the
    /// newest one. Numbers above 100 count as 100.
    pub user_percent: u8,
    /// Whether a plan may remove media, such as pictures, from kept messages.
    pub remove_media: bool,
    /// Highest role of inserted text, if the format has it.
    pub summary_role: SummaryRole,
    /// Treatment of thinking in kept messages.
    pub thinking: ThinkingPolicy,
}

impl Policy {
    setters! {
        with_rewrite_outputs rewrite_outputs: bool;
        with_rewrite_assistant rewrite_assistant: bool;
        with_excerpts excerpts: bool;
        with_user_percent user_percent: u8;
        with_remove_media remove_media: bool;
        with_summary_role summary_role: SummaryRole;
        with_thinking thinking: ThinkingPolicy;
    }
}

/// Treatment of thinking in kept messages after the first change. Newer Anthropic models refuse a request if
/// the messages before some thinking are not the ones that it was made after.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
#[non_exhaustive]
pub enum ThinkingPolicy {
    /// Removes thinking if the model that the conversation names would refuse it. Otherwise strategies may
    /// remove the thinking of finished turns.
    #[default]
    Auto,
    /// Keeps thinking.
    Keep,
    /// Removes thinking if it is a part of the content and the provider allows it.
    Drop,
}

/// Highest role of inserted text.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
#[non_exhaustive]
pub enum SummaryRole {
    /// Only the user role.
    #[default]
    User,
    /// The user and developer roles.
    Developer,
    /// The user, developer and system roles.
    System,
}

impl Default for Policy {
    fn default() -> Self {
        Self {
            rewrite_outputs: true,
            rewrite_assistant: false,
            excerpts: true,
            user_percent: 50,
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

    /// Returns whether thinking is removed from kept messages after the first change, given how the provider
    /// binds thinking to the messages before it.
    pub(crate) fn drops_thinking(&self, binding: Binding) -> bool {
        match self.thinking {
            ThinkingPolicy::Keep => false,
            ThinkingPolicy::Drop => true,
            ThinkingPolicy::Auto => binding == Binding::Refuses,
        }
    }
}

/// Request for a compaction. The defaults are those of the command line.
///
/// ```
/// use baler_host::request::{Policy, Trigger};
/// use baler_host::{Budget, Pins, Request};
///
/// let request = Request::new("50%".parse::<Budget>()?)
///     .with_trigger(Trigger::Overflow)
///     .with_pins(Pins::Units(vec![0, 3]))
///     .with_context_window(200_000)
///     .with_policy(Policy::default().with_remove_media(true));
/// assert_eq!(request.budget, Budget::Share(0.5));
/// assert_eq!(request.context_window, Some(200_000));
/// # Ok::<(), baler_host::request::BudgetError>(())
/// ```
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct Request {
    /// Reason for the compaction. Default: [`Trigger::Threshold`].
    pub trigger: Trigger,
    /// Size that the result should fit in. Default: half, `Budget::Share(0.5)`.
    pub budget: Budget,
    /// Units that are never removed. Default: the first user message.
    pub pins: Pins,
    /// Index of the first live message. It and all later messages arrived after the state that is to be
    /// compacted, so they are kept unchanged. Default: `None`, no message is live.
    pub live_from: Option<usize>,
    /// Context window of the model in tokens. Default: `None`, unknown.
    pub context_window: Option<u32>,
    /// Number of leading units that are probably in the provider's cache. Default: `None`, as many as were
    /// marked as sent ([`Conversation::mark_sent`]).
    pub cached_units: Option<u32>,
    /// Value of the provider's cache. If it is set, [`Host::is_due`](crate::Host::is_due) waits while a
    /// compaction costs more than it saves; the compaction is assumed to halve the conversation, or to reach
    /// the budget if that is lower. Default: `None`, the cache does not count.
    pub cache_price: Option<CachePrice>,
    /// Maximum bytes of the result. Default: the limit of the provider.
    pub max_bytes: Option<usize>,
    /// Maximum number of media parts, such as pictures and documents, in the result. Default: the limit of
    /// the provider.
    pub max_media: Option<u32>,
    /// JSON text for the strategy, such as the turns left, or data of the program. Default: none.
    pub context: Option<String>,
    /// Whether the conversation must become smaller: if a strategy declines or fails, the next one of the
    /// chain runs. Default: `false`.
    pub required: bool,
    /// Number of failures in a row that strategies declared for this conversation before this call, as the
    /// previous receipt says. Default: 0.
    pub failures_in_a_row: u32,
    /// Changes that plans may make.
    pub policy: Policy,
    /// Time by which the compaction must end. If it has not ended by then, the conversation stays unchanged.
    /// Default: `None`; each strategy has a time limit of its own.
    pub deadline: Option<Deadline>,
    /// Whether the receipt holds free-text messages and log lines of strategies. Default: `false`.
    pub free_text_in_receipt: bool,
    /// Whether each strategy is asked twice and its plans, metrics, logs and fuel are compared. If they differ, that
    /// is the fault [`Fault::NotDeterministic`](crate::fault::Fault::NotDeterministic), and the next strategy runs.
    /// Answers for which a model was asked are not compared. Default: `false`.
    pub verify: bool,
}

impl Request {
    /// Creates a request for a compaction to `budget`, with default values for all other fields.
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
        with_verify verify: bool;
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
            verify: false,
        }
    }
}

impl Request {
    /// Share of the context window above which a compaction is due by default.
    pub const DUE_SHARE: f64 = 0.8;

    /// Returns the maximum bytes and media parts of a result in this format.
    pub(crate) fn limits(&self, format: Format) -> (usize, u32) {
        let limits = format.limits();
        (
            self.max_bytes.unwrap_or(limits.body_bytes),
            self.max_media.unwrap_or(limits.pictures),
        )
    }
}

impl Budget {
    /// Returns the budget in tokens for a conversation.
    pub(crate) fn tokens_of(self, conversation: &Conversation) -> u32 {
        match self {
            Self::Tokens(tokens) => tokens,
            Self::Share(share) => {
                let overhead = conversation.overhead();
                let rest = f64::from(conversation.tokens().saturating_sub(overhead));
                // Rounded down, so that the budget never exceeds the share. Casts saturate.
                overhead.saturating_add((rest * share) as u32)
            }
        }
    }
}

/// Value of a provider's cache, for the decision whether to compact.
#[derive(Debug, Clone, Copy, PartialEq)]
#[non_exhaustive]
pub struct CachePrice {
    /// Price of a cached token as a share of the price of a fresh token: 0.1 for most providers.
    pub share: f64,
    /// Number of requests that are expected to follow.
    pub requests: u32,
}

impl CachePrice {
    /// Creates a price: a cached token costs `share` of a fresh one, and `requests` requests are expected to
    /// follow.
    #[must_use]
    pub const fn new(share: f64, requests: u32) -> Self {
        Self { share, requests }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn budget_parses_tokens_or_a_share_and_rejects_all_else() {
        let budget = |text: &str| text.parse::<Budget>();
        assert_eq!(budget("8000"), Ok(Budget::Tokens(8_000)));
        assert_eq!(budget("8k"), Ok(Budget::Tokens(8_000)));
        assert_eq!(budget("k"), Err(BudgetError::Unreadable));
        assert_eq!(
            budget("99999999999999999999k"),
            Err(BudgetError::Unreadable)
        );
        assert_eq!(budget("9999999999999999999k"), Err(BudgetError::TooMany));
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
