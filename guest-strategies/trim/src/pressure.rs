//! Decides whether to compact now.

use baler_strategy::{Conversation, Failure, FreeBudget, Situation, Trigger as AskedBecause};
use serde::Deserialize;

use crate::counter::Costs;
use crate::{Config, TokenCounter};

/// Why to compact.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Pressure {
    /// More turns than the trigger allows.
    Turns,
    /// At least as many tokens as the trigger says.
    Tokens,
    /// Neither, but the host or a person requests a smaller conversation.
    Host,
}

impl Pressure {
    /// Returns the name in the metric `reason`.
    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::Turns => "turn_pressure",
            Self::Tokens => "token_pressure",
            Self::Host => "host_pressure",
        }
    }
}

/// The context of the call that the embedding program provides. Other fields are for other strategies.
#[derive(Debug, Default, Deserialize)]
struct Context {
    /// The turn that is about to start, counted from 1.
    turn: Option<u32>,
}

/// Returns the pressure by the config's trigger. Turns take precedence over tokens.
pub(crate) fn of_trigger(
    conversation: &Conversation<'_>,
    situation: &Situation,
    config: &Config,
    costs: &Costs,
) -> Result<Option<Pressure>, Failure> {
    let turn = turn(conversation, situation)?;
    if config.trigger.turns.is_some_and(|turns| turn > turns.get()) {
        return Ok(Some(Pressure::Turns));
    }
    let tokens = match config.token_counter {
        TokenCounter::Host => u64::from(situation.used),
        TokenCounter::Quarter => costs.of_kept(|_| true),
    };
    let is_reached = |limit: u32| tokens >= u64::from(limit);
    let tokens = config.trigger.tokens;
    Ok(tokens
        .filter(|limit| is_reached(limit.get()))
        .map(|_| Pressure::Tokens))
}

/// Returns [`Pressure::Host`] if the host needs a smaller conversation, whatever the trigger says.
pub(crate) fn of_host(conversation: &Conversation<'_>, situation: &Situation) -> Option<Pressure> {
    let mut room = FreeBudget::of(situation);
    for unit in conversation.units() {
        room.charge(unit);
    }
    let is_asked = match situation.trigger {
        AskedBecause::Overflow | AskedBecause::Manual(_) => true,
        AskedBecause::Threshold | AskedBecause::Scheduled => situation.required,
    };
    let is_over = !room.is_within_limits() || situation.used > situation.budget;
    (is_asked || is_over).then_some(Pressure::Host)
}

/// Returns the turn that is about to start: that of the context, or else the turn of the newest unit.
fn turn(conversation: &Conversation<'_>, situation: &Situation) -> Result<u32, Failure> {
    let context: Context = match situation.context.trim() {
        "" => Context::default(),
        text => serde_json::from_str(text)
            .map_err(|error| Failure::Other(format!("the context of this call: {error}")))?,
    };
    let newest = conversation.units().last().map_or(0, |unit| unit.turn);
    Ok(context.turn.unwrap_or(newest))
}
