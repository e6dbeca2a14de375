//! What providers counted of requests, beside the host's count of them.

use std::sync::Arc;

use baler_conversation::document::Prefix;

use super::View;

/// A request that was sent: a history, as it was shown.
#[derive(Debug, Clone)]
pub struct Sent {
    /// The hash of the whole history.
    pub(super) history: Prefix,
    /// The view by which it was shown.
    pub(super) view: Option<Arc<View>>,
    /// The host's count of what was shown.
    pub(super) tokens: u32,
}

/// What a provider counted of a request.
#[derive(Debug, Clone)]
pub(super) struct Count {
    view: Option<Arc<View>>,
    by_provider: u32,
    by_host: u32,
}

/// The fifths of the host's count below which a provider's is not believed. Some gateways leave out what came from a cache, and
/// a window that is late is worse than one that is early.
const LEAST: u64 = 4;

/// How many times the host's count is believed at most. What is beyond that, no compaction removes, and a provider that counts
/// nonsense must not cost the conversation.
const MOST: u32 = 4;

impl Count {
    /// Returns what a provider counted of a request; `None` if that is not believed.
    pub(super) fn new(sent: &Sent, tokens: u64) -> Option<Self> {
        let is_believed = tokens > 0 && tokens.saturating_mul(5) >= u64::from(sent.tokens) * LEAST;
        is_believed.then(|| Self {
            view: sent.view.clone(),
            by_provider: u32::try_from(tokens).unwrap_or(u32::MAX),
            by_host: sent.tokens,
        })
    }

    /// Decides whether the request was shown by this view.
    pub(super) fn is_of(&self, view: Option<&View>) -> bool {
        self.view.as_deref() == view
    }

    /// Returns the provider's count of a request that has grown to this count of the host.
    pub(super) fn of(&self, by_host: u32) -> u32 {
        let counted = match by_host.checked_sub(self.by_host) {
            Some(added) => self.by_provider.saturating_add(added),
            // Tools or instructions became fewer.
            None => share(self.by_provider, by_host, self.by_host),
        };
        counted.min(by_host.saturating_mul(MOST))
    }

    /// Returns a budget of the provider's tokens in those of the host.
    pub(super) fn in_host_tokens(&self, budget: u32) -> u32 {
        let least = (budget / MOST).max(1);
        share(budget, self.by_host, self.by_provider).max(least)
    }
}

/// Returns a number times `part / whole`.
fn share(number: u32, part: u32, whole: u32) -> u32 {
    let share = u64::from(number) * u64::from(part) / u64::from(whole.max(1));
    u32::try_from(share).unwrap_or(u32::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sent(tokens: u32) -> Sent {
        Sent {
            history: Prefix::default(),
            view: None,
            tokens,
        }
    }

    #[test]
    fn a_request_has_the_size_that_its_provider_counted_and_what_was_added() {
        let count = Count::new(&sent(1_000), 1_300).expect("it is believed");
        assert_eq!(count.of(1_000), 1_300);
        assert_eq!(count.of(1_500), 1_800);
        assert_eq!(count.of(500), 650);
        assert_eq!(count.of(0), 0);
    }

    #[test]
    fn nonsense_is_not_believed() {
        assert!(Count::new(&sent(1_000), 0).is_none());
        assert!(Count::new(&sent(1_000), 799).is_none());
        assert!(Count::new(&sent(1_000), 800).is_some());
        let most = Count::new(&sent(1_000), u64::MAX).expect("it may be a large file");
        assert_eq!(most.of(5_000), 20_000);
    }

    #[test]
    fn a_budget_is_in_the_tokens_of_the_provider() {
        let count = |tokens| Count::new(&sent(1_000), tokens).expect("it is believed");
        assert_eq!(count(1_250).in_host_tokens(80_000), 64_000);
        assert_eq!(count(800).in_host_tokens(80_000), 100_000);
        assert_eq!(count(u64::MAX).in_host_tokens(80_000), 20_000);
        assert_eq!(count(u64::MAX).in_host_tokens(1), 1);
    }
}
