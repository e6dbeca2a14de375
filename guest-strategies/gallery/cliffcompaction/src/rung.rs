//! The ladder: harsher knobs while the result is too large.

use baler_gallery::{Draft, json_bytes};
use baler_strategy::{Conversation, Situation};

use crate::{Config, Cut, summary};

/// The most characters of a thought on the harsher rungs.
const LEAN_THOUGHT: usize = 300;

/// A rung of the ladder.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Rung {
    /// The config as it is.
    Config,
    /// Only the newest step stays.
    OneRecent,
    /// In addition, short thoughts and no thinking.
    Lean,
    /// In addition, only as many of the summary's newest parts as fit.
    Truncated,
}

impl Rung {
    pub(crate) const ALL: [Self; 4] = [Self::Config, Self::OneRecent, Self::Lean, Self::Truncated];

    /// Returns the result of this rung, `None` if there is nothing to compact.
    pub(crate) fn draft<'a>(
        self,
        conversation: &'a Conversation<'a>,
        situation: &'a Situation,
        config: Config,
    ) -> Option<Draft<'a>> {
        let config = self.config(config);
        let cut = Cut::of(conversation.units(), config.keep_recent)?;
        let mut parts = summary::parts(conversation, cut, &config);
        let mut draft = Draft::new(conversation, situation);
        draft.retain(|unit, _| unit < cut.start || unit >= cut.end);
        if self == Self::Truncated {
            let mut empty = draft.clone();
            empty.summarize(cut.start, summary::joined(&[]));
            if !empty.fits() {
                return Some(draft);
            }
            let (mut tokens, mut bytes) = empty.room();
            let newest = parts.iter().rev().take_while(|part| {
                let part = format!("{}{part}", summary::SEPARATOR);
                let own = (conversation.count(&part), json_bytes(&part));
                let fits = u64::from(own.0) <= tokens && u64::from(own.1) <= bytes;
                tokens = tokens.saturating_sub(u64::from(own.0));
                bytes = bytes.saturating_sub(u64::from(own.1));
                fits
            });
            parts.drain(..parts.len() - newest.count());
        }
        draft.summarize(cut.start, summary::joined(&parts));
        Some(draft)
    }

    fn config(self, mut config: Config) -> Config {
        if self >= Self::OneRecent {
            config.keep_recent = config.keep_recent.min(1);
        }
        if self >= Self::Lean {
            config.keep_thinking = false;
            config.thought_max_chars = match config.thought_max_chars {
                0 => LEAN_THOUGHT,
                most => most.min(LEAN_THOUGHT),
            };
        }
        config
    }
}
