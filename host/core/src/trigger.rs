//! The host's decision whether to compact now. It takes constant time, however long the conversation is.

use baler_conversation::Conversation;

use crate::prompt_cache;
use crate::request::{Budget, CachePrice, Request};

/// Returns whether to compact now: the conversation exceeds the context window or a limit of the provider, also by the
/// size of one picture, or it exceeds its budget and a compaction is worth losing the provider's cache ([`Request::cache_price`]).
pub(crate) fn is_due(conversation: &Conversation, request: &Request) -> bool {
    let (max_bytes, max_media) = request.limits(conversation.format());
    let exceeds_limit = request
        .context_window
        .is_some_and(|window| conversation.tokens() > window)
        || conversation.bytes() > max_bytes
        || conversation.media() > max_media
        || conversation.has_refused_pictures();
    let budget = request.budget.tokens_of(conversation);
    exceeds_limit
        || (conversation.tokens() > budget
            && request
                .cache_price
                .is_none_or(|price| is_worth_it(conversation, request, budget, price)))
}

/// Estimated size of the result: half of the tokens apart from the overhead, which is the default budget. The
/// budget of the request is no estimate: here it is the size from which on to compact, so for a conversation
/// slightly above it a compaction would seem to save almost nothing.
const ESTIMATED_RESULT: Budget = Budget::Share(0.5);

/// Returns whether the tokens that later requests save outweigh the cost of the next request, of which the
/// provider must read most anew.
fn is_worth_it(
    conversation: &Conversation,
    request: &Request,
    budget: u32,
    price: CachePrice,
) -> bool {
    let before = conversation.tokens();
    let after = ESTIMATED_RESULT
        .tokens_of(conversation)
        .min(budget)
        .min(before);
    let cached = conversation.tokens_cached(request.cached_units);
    // System prompt and tool definitions come before the messages, so they stay cached.
    let kept = conversation.overhead().min(after).min(cached);
    let next_without = prompt_cache::price(before, cached, price.share);
    let next_with = prompt_cache::price(after, kept, price.share);
    let saved = f64::from(before - after) * price.share * f64::from(price.requests);
    next_with - next_without <= saved
}

#[cfg(test)]
mod tests {
    use super::*;

    fn talk(messages: usize) -> Conversation {
        let list: Vec<String> = (0..messages)
            .map(|index| {
                format!(r#"{{"role":"user","content":"Leg {index} of the journey goes to Lisbon by night train."}}"#)
            })
            .collect();
        crate::sample::conversation(&format!("[{}]", list.join(",")), None).expect("reads")
    }

    fn request(budget: u32) -> Request {
        Request {
            budget: Budget::Tokens(budget),
            ..Request::default()
        }
    }

    #[test]
    fn is_due_when_a_limit_is_exceeded() {
        let talk = talk(50);
        assert!(is_due(&talk, &request(talk.tokens() - 1)));
        assert!(!is_due(&talk, &request(talk.tokens())));
        let by = |change: fn(&mut Request)| {
            let mut request = request(talk.tokens());
            change(&mut request);
            is_due(&talk, &request)
        };
        assert!(by(|request| request.max_bytes = Some(100)));
        assert!(by(|request| request.context_window = Some(100)));
        assert!(!by(|request| request.context_window = Some(1_000_000)));
    }

    #[test]
    fn is_due_waits_with_a_warm_cache_if_few_requests_follow() {
        let mut talk = talk(50);
        let budget = talk.tokens() * 9 / 10;
        let with = |talk: &Conversation, requests| {
            let cache_price = Some(CachePrice {
                share: 0.1,
                requests,
            });
            is_due(
                talk,
                &Request {
                    cache_price,
                    ..request(budget)
                },
            )
        };
        assert!(with(&talk, 1), "nothing is cached");
        talk.mark_sent();
        assert!(!with(&talk, 1));
        assert!(with(&talk, 1_000));
    }

    /// The whole conversation is cached at a tenth of the price. Reading half of it anew costs 0.5 - 0.1 more
    /// once, and each request saves 0.5 * 0.1, so compacting pays from the eighth request on.
    #[test]
    fn savings_depend_on_the_size_and_not_on_the_excess_over_the_budget() {
        let mut talk = talk(50);
        talk.mark_sent();
        for budget in [
            talk.tokens() - 1,
            talk.tokens() * 9 / 10,
            talk.tokens() * 6 / 10,
        ] {
            for (requests, expected) in [(6, false), (10, true)] {
                let request = Request {
                    cache_price: Some(CachePrice {
                        share: 0.1,
                        requests,
                    }),
                    ..request(budget)
                };
                assert_eq!(is_due(&talk, &request), expected, "{budget} {requests}");
            }
        }
    }
}
