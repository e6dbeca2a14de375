//! When a compactor acts, and what it aims at.

use serde::{Deserialize, Serialize};

use baler_conversation::Conversation;

use crate::request::{Policy, Request};
use crate::situation::MustStay;

/// When a compactor compacts: as soon as one of the triggers that are set is reached.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields, rename_all = "kebab-case")]
#[non_exhaustive]
pub struct Triggers {
    /// Share of the context window, above 0 and at most 1. It needs [`CompactorOptions::context_window`]:
    /// without it the share is ignored if another trigger is set, and an error otherwise.
    pub share: Option<f64>,
    /// Tokens of the whole request.
    pub tokens: Option<u32>,
    /// Tokens of the context window that are left for the answer.
    pub reserve: Option<u32>,
    /// Number of messages.
    pub messages: Option<usize>,
    /// Number of turns. A turn is a user message and everything up to the next one.
    pub turns: Option<u32>,
    /// Bytes of the request.
    pub bytes: Option<usize>,
}

impl Triggers {
    setters! {
        with_share share: Option<f64>;
        with_tokens tokens: Option<u32>;
        with_reserve reserve: Option<u32>;
        with_messages messages: Option<usize>;
        with_turns turns: Option<u32>;
        with_bytes bytes: Option<usize>;
    }
}

impl Default for Triggers {
    fn default() -> Self {
        Self {
            share: Some(Request::DUE_SHARE),
            ..Self::NONE
        }
    }
}

impl Triggers {
    /// No trigger. Then the strategy decides; if it leaves the decision to the host, every step compacts.
    pub const NONE: Self = Self {
        share: None,
        tokens: None,
        reserve: None,
        messages: None,
        turns: None,
        bytes: None,
    };
}

/// How a [`crate::Compactor`] works.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields, rename_all = "kebab-case")]
#[non_exhaustive]
pub struct CompactorOptions {
    /// The model's context window in tokens.
    pub context_window: Option<u32>,
    /// When to compact.
    pub triggers: Triggers,
    /// Target size of the result, as a share of the tokens (or bytes) between what must stay (overhead, pins,
    /// the newest message …) and the trigger, in addition to what must stay. Above 0 and at most 0.9, because
    /// a result just below the trigger would reach it again at once.
    pub target_share: f64,
    /// Target size of the result in tokens. It takes precedence over the share, up to 90 % of the trigger.
    pub target_tokens: Option<u32>,
    /// Share of the trigger's tokens from which a compaction starts in parallel with the agent, above 0 and
    /// at most 1. A later step applies its result. `None`: no early compaction.
    pub early: Option<f64>,
    /// Whether each step asks the strategy whether to compact now.
    pub ask_strategy: bool,
    /// Number of messages that must be appended after a futile compaction before the next attempt.
    pub retry_after: usize,
    /// Time limit of a call, in milliseconds, for a strategy that declares no timeout, if it is below the
    /// strategy's limits. `None`: the strategy's limits.
    pub undeclared_timeout_ms: Option<u32>,
    /// What plans may do.
    pub policy: Policy,
}

impl CompactorOptions {
    setters! {
        with_context_window context_window: Option<u32>;
        with_triggers triggers: Triggers;
        with_target_share target_share: f64;
        with_target_tokens target_tokens: Option<u32>;
        with_early early: Option<f64>;
        with_ask_strategy ask_strategy: bool;
        with_retry_after retry_after: usize;
        with_undeclared_timeout_ms undeclared_timeout_ms: Option<u32>;
        with_policy policy: Policy;
    }
}

impl Default for CompactorOptions {
    fn default() -> Self {
        Self {
            context_window: None,
            triggers: Triggers::default(),
            target_share: 0.5,
            target_tokens: None,
            early: None,
            ask_strategy: true,
            retry_after: 4,
            undeclared_timeout_ms: None,
            policy: Policy::default(),
        }
    }
}

/// An invalid option.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("`{field}` {allowed}")]
pub struct OptionError {
    /// The name of the option in JSON.
    pub field: &'static str,
    /// What is allowed, as the end of a sentence.
    pub allowed: &'static str,
}

impl CompactorOptions {
    /// Checks each value.
    ///
    /// # Errors
    /// Returns the first invalid option, with what is allowed.
    pub fn check(&self) -> Result<(), OptionError> {
        const ONE: &str = "must be at least 1";
        const SHARE: &str = "must be more than 0 and at most 1";
        let is_share = |share: f64| share > 0.0 && share <= 1.0;
        let Triggers {
            share,
            tokens,
            reserve,
            messages,
            turns,
            bytes,
        } = self.triggers;
        let window = self.context_window;
        let rules = [
            ("triggers.share", share.is_none_or(is_share), SHARE),
            ("triggers.tokens", tokens != Some(0), ONE),
            ("triggers.messages", messages != Some(0), ONE),
            ("triggers.turns", turns != Some(0), ONE),
            ("triggers.bytes", bytes != Some(0), ONE),
            (
                "context-window",
                window != Some(0),
                "must be at least 1, or absent if it is not known",
            ),
            (
                "triggers.reserve",
                reserve.is_none() || window.is_some(),
                "needs `context-window`, which is missing; set it",
            ),
            (
                "triggers.reserve",
                reserve.is_none() || reserve < window,
                "must be less than `context-window`",
            ),
            (
                "target-share",
                self.target_share > 0.0 && self.target_share <= 0.9,
                "must be more than 0 and at most 0.9",
            ),
            ("target-tokens", self.target_tokens != Some(0), ONE),
            (
                "undeclared-timeout-ms",
                self.undeclared_timeout_ms != Some(0),
                ONE,
            ),
            ("early", self.early.is_none_or(is_share), SHARE),
        ];
        match rules.into_iter().find(|(_, is_obeyed, _)| !is_obeyed) {
            None => Ok(()),
            Some((field, _, allowed)) => Err(OptionError { field, allowed }),
        }
    }

    /// Checks that a trigger can be reached if one is set: a share of an unknown window never is.
    ///
    /// It is separate from [`CompactorOptions::check`], because a program may know its model's window even if
    /// its user's settings do not name it.
    pub(super) fn check_share(&self) -> Result<(), OptionError> {
        if self.triggers.share.is_some() && !self.has_trigger() {
            return Err(OptionError {
                field: "triggers.share",
                allowed: "needs `context-window`, which is missing; set it, set another trigger such as \
                          `tokens`, or set no share (null)",
            });
        }
        Ok(())
    }

    /// Returns the number of tokens from which a step compacts; `None` if no trigger depends on tokens.
    #[must_use]
    pub fn threshold(&self) -> Option<u32> {
        let Triggers {
            share,
            tokens,
            reserve,
            ..
        } = self.triggers;
        let window = self.context_window;
        // Truncated, as planck does (PL-S1).
        let of_share = share
            .zip(window)
            .map(|(share, window)| (f64::from(window) * share) as u32);
        let of_reserve = reserve
            .zip(window)
            .map(|(reserve, window)| window.saturating_sub(reserve));
        [of_share, tokens, of_reserve].into_iter().flatten().min()
    }

    /// Whether any trigger of the host can be reached.
    pub(super) fn has_trigger(&self) -> bool {
        let Triggers {
            messages,
            turns,
            bytes,
            ..
        } = self.triggers;
        self.threshold().is_some() || messages.is_some() || turns.is_some() || bytes.is_some()
    }

    /// Returns the target size of the result in tokens: what must stay, plus a share of the tokens between
    /// that and the trigger. If the conversation is already below that, or what must stay exceeds the
    /// trigger, it is what must stay plus a share of what can be removed.
    pub(super) fn target(&self, conversation: &Conversation, stay: &MustStay) -> u32 {
        let now = conversation.tokens();
        let threshold = self.threshold();
        // The newest user message stays whole, unless it alone exceeds the trigger.
        let floor = Some(stay.comfortable_floor(conversation))
            .filter(|floor| threshold.is_none_or(|own| *floor < own))
            .unwrap_or(stay.floor.tokens);
        let share_of = |most: u32| {
            let beside = f64::from(most.saturating_sub(floor)) * self.target_share;
            floor.saturating_add(beside as u32)
        };
        let most_of = |threshold: u32| threshold / 10 * 9;
        let by_trigger = match self.target_tokens {
            Some(tokens) => Some(threshold.map_or(tokens, |own| tokens.min(most_of(own)))),
            None => threshold.filter(|own| floor < *own).map(|own| {
                // Leaves tokens for a strategy's text above what must stay.
                share_of(own).min(most_of(own).max(stay.least_budget(conversation)))
            }),
        };
        by_trigger
            .filter(|target| *target < now)
            // Even if nothing can be removed, the target is below the present size.
            .unwrap_or_else(|| share_of(now).min(now.saturating_sub(1)))
            .max(1)
    }

    /// Returns the target size in bytes by the same rule, if there is a trigger for bytes; at most what the
    /// provider accepts.
    pub(super) fn target_bytes(
        &self,
        conversation: &Conversation,
        stay: &MustStay,
    ) -> Option<usize> {
        let trigger = self.triggers.bytes?;
        let floor = stay.floor.bytes;
        let most = if floor < trigger {
            trigger
        } else {
            conversation.bytes()
        };
        let beside = most.saturating_sub(floor) as f64 * self.target_share;
        let target = floor.saturating_add(beside as usize);
        Some(target.min(conversation.format().limits().body_bytes))
    }
}
