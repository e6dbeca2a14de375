//! When a compactor acts, and what it aims at.

use serde::{Deserialize, Serialize};

use crate::request::{Policy, Request};
use crate::situation::Situation;

/// When it is time. Whatever of these is reached first decides; those that are not set do not.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields, rename_all = "kebab-case")]
#[non_exhaustive]
pub struct Triggers {
    /// Share of the context window, above 0 and at most 1. Where no other trigger is set it needs
    /// [`CompactorOptions::context_window`]; where one is, it counts only with that.
    pub share: Option<f64>,
    /// Tokens of the whole request.
    pub tokens: Option<u32>,
    /// Tokens of the context window that are left for the answer.
    pub reserve: Option<u32>,
    /// Number of messages.
    pub messages: Option<usize>,
    /// Number of turns: user messages, with all up to the next one.
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
    /// No trigger at all: then it is for the strategy to say, and where it has no opinion every
    /// step compacts what can be.
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
    /// When it is time.
    pub triggers: Triggers,
    /// Size of the result beside what has to stay (overhead, pins, the newest message …), as a share
    /// of the tokens, or bytes, that the trigger leaves beside that. Above 0 and at most 0.9: a
    /// result just below the trigger would fire it again at once.
    pub target_share: f64,
    /// Size of the result in tokens. It goes before the share, as far as it is smaller than
    /// what fires.
    pub target_tokens: Option<u32>,
    /// The same share of the trigger from which on a compaction is begun beside the agent's
    /// work, to be applied at a later step. None: only when it is time.
    pub early: Option<f64>,
    /// Whether the strategy is asked at each step if it is time.
    pub ask_strategy: bool,
    /// Messages that have to come after a compaction that came to nothing before the next try.
    pub retry_after: usize,
    /// Milliseconds that a call of a strategy may take which declares no time of its own, where
    /// that is less than the strategy's limits say. None: what these say.
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

/// An option that makes no sense.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("`{field}` {allowed}")]
pub struct OptionError {
    /// The option, as it is spelled in JSON.
    pub field: &'static str,
    /// What is allowed.
    pub allowed: &'static str,
}

impl CompactorOptions {
    /// Checks each value.
    ///
    /// # Errors
    /// The first option that makes no sense, with what is allowed.
    pub fn check(&self) -> Result<(), OptionError> {
        let wrong = |field, allowed| Err(OptionError { field, allowed });
        let is_share = |share: f64| share > 0.0 && share <= 1.0;
        let Triggers {
            share,
            tokens,
            reserve,
            messages,
            turns,
            bytes,
        } = self.triggers;
        if share.is_some_and(|share| !is_share(share)) {
            return wrong("triggers.share", "is more than 0 and at most 1");
        }
        if tokens == Some(0) {
            return wrong("triggers.tokens", "is at least 1");
        }
        if messages == Some(0) {
            return wrong("triggers.messages", "is at least 1");
        }
        if turns == Some(0) {
            return wrong("triggers.turns", "is at least 1");
        }
        if bytes == Some(0) {
            return wrong("triggers.bytes", "is at least 1");
        }
        if self.context_window == Some(0) {
            return wrong(
                "context-window",
                "is at least 1, or left out where it is not known",
            );
        }
        if reserve.is_some() && self.context_window.is_none() {
            return wrong(
                "triggers.reserve",
                "is a part of `context-window`, which is missing",
            );
        }
        if reserve >= self.context_window && reserve.is_some() {
            return wrong("triggers.reserve", "is less than `context-window`");
        }
        if !(self.target_share > 0.0 && self.target_share <= 0.9) {
            return wrong("target-share", "is more than 0 and at most 0.9");
        }
        if self.target_tokens == Some(0) {
            return wrong("target-tokens", "is at least 1");
        }
        if self.undeclared_timeout_ms == Some(0) {
            return wrong("undeclared-timeout-ms", "is at least 1");
        }
        if self.early.is_some_and(|early| !is_share(early)) {
            return wrong("early", "is more than 0 and at most 1");
        }
        Ok(())
    }

    /// Checks that something can fire where a trigger is set. A share of a window that is not known
    /// is none, and without any it would be time never, or at every step.
    ///
    /// It is apart from [`CompactorOptions::check`], since a program may know its model's window
    /// where its user's settings do not name it.
    pub(super) fn check_share(&self) -> Result<(), OptionError> {
        if self.triggers.share.is_some() && !self.has_trigger() {
            return Err(OptionError {
                field: "triggers.share",
                allowed: "is a share of `context-window`, which is missing; give that, or another \
                          trigger such as `tokens`, or no share (null)",
            });
        }
        Ok(())
    }

    /// From how many tokens on it is time; none where no trigger goes by tokens.
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

    /// Whether anything of the host's own can fire.
    pub(super) fn has_trigger(&self) -> bool {
        let Triggers {
            messages,
            turns,
            bytes,
            ..
        } = self.triggers;
        self.threshold().is_some() || messages.is_some() || turns.is_some() || bytes.is_some()
    }

    /// How large the result may be, in tokens: what has to stay, and a share of what there is beside
    /// that below the trigger. What is within that already, and compacted because of something else,
    /// or has to stay beyond the trigger, gives a share of what can go.
    pub(super) fn target(&self, situation: &Situation) -> u32 {
        let now = situation.conversation.tokens();
        let floor = situation.floor;
        let share_of = |most: u32| {
            let beside = f64::from(most.saturating_sub(floor)) * self.target_share;
            floor.saturating_add(beside as u32)
        };
        let threshold = self.threshold();
        let most_of = |threshold: u32| threshold / 10 * 9;
        let by_trigger = match self.target_tokens {
            Some(tokens) => Some(threshold.map_or(tokens, |own| tokens.min(most_of(own)))),
            None => threshold.filter(|own| floor < *own).map(|own| {
                // Below what has to stay there is nothing that a strategy could write.
                share_of(own).min(most_of(own).max(situation.least()))
            }),
        };
        by_trigger
            .filter(|target| *target < now)
            // Where nothing can go that is no budget which it is within.
            .unwrap_or_else(|| share_of(now).min(now.saturating_sub(1)))
            .max(1)
    }

    /// How many bytes the result may have, by the same rule, where there is a trigger for them; never
    /// more than the provider takes.
    pub(super) fn target_bytes(&self, situation: &Situation) -> Option<usize> {
        let trigger = self.triggers.bytes?;
        let conversation = &situation.conversation;
        let floor = situation.floor_bytes;
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
