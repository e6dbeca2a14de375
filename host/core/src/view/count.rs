//! What providers counted of requests, beside the host's count of them.

use baler_conversation::document::Prefix;

use super::ViewId;

/// A request that was sent: a history, as it was shown.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Sent {
    /// The hash of the whole history.
    pub(super) history: Prefix,
    /// The view by which it was shown.
    pub(super) view: Option<ViewId>,
    /// The host's count of what was shown.
    pub(super) tokens: u32,
}

/// What a provider counted of a request.
#[derive(Debug, Clone, Copy)]
pub(super) struct Count {
    view: Option<ViewId>,
    by_provider: u32,
    by_host: u32,
}

/// The part of the host's count below which a provider's is not believed: some gateways leave out what came from a cache.
const LEAST: u64 = 2;

/// How many times the host's count is believed at most. What is beyond that, no compaction removes, and a provider that counts
/// nonsense must not cost the conversation.
const MOST: u32 = 4;

impl Count {
    /// Returns what a provider counted of a request; `None` if that is not believed.
    pub(super) fn new(sent: Sent, tokens: u64) -> Option<Self> {
        let is_believed = tokens > 0 && tokens.saturating_mul(LEAST) >= u64::from(sent.tokens);
        is_believed.then(|| Self {
            view: sent.view,
            by_provider: u32::try_from(tokens).unwrap_or(u32::MAX),
            by_host: sent.tokens,
        })
    }

    /// Decides whether the request was shown by this view.
    pub(super) fn is_of(&self, view: Option<ViewId>) -> bool {
        self.view == view
    }

    /// Returns the provider's count of a request that has grown to this count of the host.
    pub(super) const fn of(&self, by_host: u32) -> u32 {
        let added = by_host.saturating_sub(self.by_host);
        let counted = self.by_provider.saturating_add(added);
        let most = by_host.saturating_mul(MOST);
        if counted < most { counted } else { most }
    }
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
        let count = Count::new(sent(1_000), 1_300).expect("it is believed");
        assert_eq!(count.of(1_000), 1_300);
        assert_eq!(count.of(1_500), 1_800);
        // Something was taken back.
        assert_eq!(count.of(900), 1_300);
    }

    #[test]
    fn nonsense_is_not_believed_and_does_no_harm() {
        assert!(Count::new(sent(1_000), 0).is_none());
        assert!(Count::new(sent(1_000), 499).is_none());
        assert!(Count::new(sent(1_000), 500).is_some());
        let most = Count::new(sent(1_000), u64::MAX / 4).expect("it may be a large file");
        assert_eq!(most.of(5_000), 20_000);
    }
}
