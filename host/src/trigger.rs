//! The host's own view of whether it is time to compact. It costs the same for a conversation
//! of any length.

use baler_conversation::Conversation;

use crate::cache;
use crate::request::{Budget, CachePrice, Request};

/// Whether a conversation is over what it may be. What it merely should be can wait while the
/// cache is worth more than a compaction to half the size: see [`Request::cache_price`].
pub(crate) fn is_due(conversation: &Conversation, request: &Request) -> bool {
    let (max_bytes, max_media) = request.limits(conversation.format());
    let must = request
        .context_window
        .is_some_and(|window| conversation.tokens() > window)
        || conversation.bytes() > max_bytes
        || conversation.media() > max_media;
    let budget = request.budget.tokens_of(conversation);
    must || (conversation.tokens() > budget
        && request
            .cache_price
            .is_none_or(|price| is_worth_it(conversation, request, budget, price)))
}

/// What a compaction is taken to leave of the tokens beside the overhead: half, as it does where
/// nobody says another size. The budget here is from which size on it is time, which says nothing of
/// what a compaction saves: a little above it, that would be next to nothing.
const LEFT: Budget = Budget::Share(0.5);

/// Whether what later requests save, compared with the size now, outweighs that the next one has to
/// be read anew.
fn is_worth_it(
    conversation: &Conversation,
    request: &Request,
    budget: u32,
    price: CachePrice,
) -> bool {
    let before = conversation.tokens();
    let after = LEFT.tokens_of(conversation).min(budget).min(before);
    let cached = conversation.tokens_cached(request.cached_units);
    // What stands in front of the messages stays in any case.
    let kept = conversation.overhead().min(after).min(cached);
    let next_without = cache::price(before, cached, price.share);
    let next_with = cache::price(after, kept, price.share);
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
    fn it_is_time_when_a_limit_is_passed() {
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
    fn a_warm_cache_is_worth_waiting_for_when_few_requests_follow() {
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

    /// All is cached for a tenth of the price. Half of it, read anew, costs 0.5 - 0.1 more once, and each
    /// request saves 0.5 * 0.1: it pays from the eighth on.
    #[test]
    fn what_a_compaction_saves_goes_by_the_size_now_and_not_by_how_far_that_is_over_the_budget() {
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
