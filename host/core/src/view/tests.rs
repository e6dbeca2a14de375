//! Histories of which a part is shown.

use std::sync::Arc;

use baler_conversation::Conversation;
use baler_generated::{Choices, Kind};

use super::{Entry, Shown, View, Views, Window};
use crate::compactor::is_sound;
use crate::host::Host;
use crate::receipt::Outcome;
use crate::strategy::Strategy;

fn window(at: u32, budget: u32) -> Window {
    let host = Arc::new(Host::builder().build().expect("a host"));
    let chain = [Strategy::digest(), Strategy::truncate()];
    Window::new(host, chain, at, budget).expect("a window")
}

async fn show(window: &Window, history: &Conversation, views: &Views) -> Shown {
    let shown = window.show(history, views).await;
    shown.expect("a host that works")
}

/// The messages of a long session, as JSON.
fn session(kind: Kind, seed: u64) -> (Conversation, Vec<String>) {
    let host = Host::builder().build().expect("a host");
    let generated = baler_generated::conversation(kind, 120, &mut Choices::from_seed(seed));
    let conversation = host.read(generated.document()).expect("it can be read");
    let messages = conversation.all_messages().iter();
    let raws = messages.map(|message| conversation.raw(message).to_owned());
    let raws = raws.collect();
    (conversation, raws)
}

fn begin(conversation: &Conversation, messages: &[String]) -> Conversation {
    let document = conversation
        .frame()
        .write(messages.iter().map(String::as_str));
    conversation
        .read_alike(document, None)
        .expect("it can be read")
}

#[tokio::test]
async fn what_is_shown_stays_the_same_until_the_next_compaction() {
    for kind in Kind::ALL {
        let (whole, messages) = session(kind, 7);
        let window = window(whole.tokens() / 2, whole.tokens() / 4);
        let views = Views::default();
        let mut before: Option<Conversation> = None;
        let mut compactions = 0;
        for count in 1..=messages.len() {
            let history = begin(&whole, &messages[..count]);
            let shown = show(&window, &history, &views).await;
            let is_compacted = shown
                .receipt()
                .is_some_and(|receipt| receipt.outcome == Outcome::Compacted);
            compactions += u32::from(is_compacted);
            if !history.is_broken() {
                assert!(
                    !shown.conversation.is_broken(),
                    "{kind:?} {count}: {:?}",
                    shown.conversation.violations()
                );
            }
            if let Some(before) = before.filter(|_| !is_compacted) {
                let same = shown.conversation.messages_unchanged_since(&before);
                assert_eq!(same, before.message_count(), "{kind:?} {count}");
            }
            before = Some(shown.conversation);
        }
        assert!((1..12).contains(&compactions), "{kind:?}: {compactions}");
    }
}

#[tokio::test]
async fn a_history_that_was_rewound_or_branched_off_gets_the_view_of_what_it_begins_with() {
    let (whole, messages) = session(Kind::OpenAiChat, 11);
    let window = window(whole.tokens() / 3, whole.tokens() / 6);
    let views = Views::default();
    for count in 1..=messages.len() {
        let history = begin(&whole, &messages[..count]);
        show(&window, &history, &views).await;
    }
    for count in (1..=messages.len()).rev() {
        let history = begin(&whole, &messages[..count]);
        let shown = show(&window, &history, &views).await;
        assert!(shown.view.as_ref().is_none_or(|view| view.is_of(&history)));
        assert!(
            shown.conversation.tokens() <= whole.tokens() / 3 || shown.receipt().is_some(),
            "{count}"
        );
    }
    // An edit at the beginning makes it another history.
    let mut edited = messages.clone();
    edited[1] = r#"{"role":"user","content":"この船はどこへ行きますか。"}"#.to_owned();
    let history = begin(&whole, &edited);
    let prefixes = history.prefixes();
    assert!(views.find(&prefixes).is_none_or(|view| view.covered() <= 1));
}

#[tokio::test]
async fn a_view_that_was_stored_shows_the_same() {
    let (whole, _) = session(Kind::Anthropic, 3);
    let window = window(whole.tokens() / 2, whole.tokens() / 4);
    let shown = show(&window, &whole, &Views::default()).await;
    let view = shown.view.expect("a view");
    let json = serde_json::to_string(&*view).expect("JSON");
    let stored: View = serde_json::from_str(&json).expect("a view");
    assert_eq!(stored, *view);
    assert!(stored.is_of(&whole));
    let again = stored.apply_to(&whole).expect("it can be read");
    assert_eq!(again.document(), shown.conversation.document());
    assert!(
        stored
            .entries()
            .iter()
            .any(|entry| matches!(entry, Entry::Inserted { .. }))
    );
    let views = Views::default();
    views.remember(stored);
    let shown_again = show(&window, &whole, &views).await;
    assert!(shown_again.receipt().is_none());
    assert_eq!(
        shown_again.conversation.document(),
        shown.conversation.document()
    );
}

#[tokio::test]
async fn a_view_says_how_long_its_history_was_when_it_was_made() {
    let (whole, messages) = session(Kind::OpenAiChat, 3);
    let window = window(whole.tokens() / 2, whole.tokens() / 4);
    let views = Views::default();
    let mut made_at = 0;
    for count in 1..=messages.len() {
        let shown = show(&window, &begin(&whole, &messages[..count]), &views).await;
        if shown.compaction.is_some_and(|one| one.is_compacted()) {
            made_at = count;
        }
        if let Some(view) = shown.view {
            assert_eq!(view.made_at(), made_at);
            assert!(view.covered() <= made_at);
        }
    }
    assert!(made_at > 0);
}

#[tokio::test]
async fn what_the_provider_refused_becomes_smaller_each_time() {
    let (whole, _) = session(Kind::OpenAiResponses, 5);
    let window = window(whole.tokens() * 2, whole.tokens());
    let views = Views::default();
    let mut last = whole.tokens();
    for _ in 0..3 {
        let shown = window
            .show_less(&whole, &views)
            .await
            .expect("a host that works");
        assert!(shown.conversation.tokens() < last);
        last = shown.conversation.tokens();
    }
}

#[tokio::test]
async fn what_programs_write_anew_into_their_instructions_changes_no_view() {
    let (whole, mut messages) = session(Kind::OpenAiChat, 11);
    let window = window(whole.tokens() / 2, whole.tokens() / 4);
    let views = Views::default();
    messages.insert(
        0,
        r#"{"role": "system", "content": "今は七時。"}"#.to_owned(),
    );
    let before = show(&window, &begin(&whole, &messages), &views).await;
    assert!(before.receipt().is_some());
    messages[0] = r#"{"role": "system", "content": "今は八時。"}"#.to_owned();
    let after = show(&window, &begin(&whole, &messages), &views).await;
    assert!(after.receipt().is_none());
    assert_eq!(after.view, before.view);
    let expected = before.conversation.document().replace("七時", "八時");
    assert_eq!(after.conversation.document(), expected);
}

#[tokio::test]
async fn what_was_in_vain_is_tried_again_after_more_messages_each_time() {
    let (whole, messages) = session(Kind::OpenAiChat, 11);
    let views = Views::default();
    let mut tried = Vec::new();
    for count in 1..=messages.len() {
        let prefixes = begin(&whole, &messages[..count]).prefixes();
        if !views.is_futile(&prefixes) {
            views.note_futile(&prefixes);
            tried.push(count);
        }
    }
    let waits: Vec<_> = tried.windows(2).map(|pair| pair[1] - pair[0]).collect();
    assert_eq!(waits[..5], [4, 8, 16, 32, 32]);
}

/// Whatever a program does with its history: it goes on, takes messages back, edits one, and returns to what it had.
#[tokio::test]
async fn whatever_becomes_of_a_history_what_is_shown_is_valid_and_stays_the_same() {
    for (kind, seed) in Kind::ALL
        .into_iter()
        .flat_map(|kind| (0..4).map(move |seed| (kind, seed)))
    {
        let (whole, messages) = session(kind, seed);
        let window = window(whole.tokens() / 2, whole.tokens() / 4);
        let views = Views::default();
        let mut choices = Choices::from_seed(seed + 100);
        let mut branch = messages.clone();
        let mut count = 1;
        for request in 0..40 {
            match choices.below(6) {
                0 => count = 1 + choices.below(count),
                1 => {
                    let place = choices.below(count);
                    branch[place] = messages[place].replace("the", "THE");
                }
                2 => branch.clone_from(&messages),
                _ => count = (count + 1 + choices.below(12)).min(branch.len()),
            }
            let history = begin(&whole, &branch[..count]);
            let shown = show(&window, &history, &views).await;
            let case = format!("{kind:?} {seed}, request {request} of {count} messages");
            assert!(is_sound(&shown.conversation, &history), "{case}");
            if shown.receipt().is_none() {
                assert!(
                    shown.conversation.tokens() < window.at()
                        || views.is_futile(&history.prefixes()),
                    "{case}"
                );
            }
            // What is asked again is answered in the same way.
            let again = show(&window, &history, &views).await;
            assert_eq!(
                again.conversation.document(),
                shown.conversation.document(),
                "{case}"
            );
            // So is a longer history, as long as nothing is due.
            let more = begin(&whole, &branch[..(count + 1).min(branch.len())]);
            let next = show(&window, &more, &views).await;
            let is_same = next.view == shown.view && next.receipt().is_none();
            let unchanged = next
                .conversation
                .messages_unchanged_since(&shown.conversation);
            if is_same && !more.is_broken() && !history.is_broken() {
                assert_eq!(unchanged, shown.conversation.message_count(), "{case}");
            }
        }
    }
}

#[test]
fn a_budget_that_is_not_below_its_trigger_is_refused() {
    let host = Arc::new(Host::builder().build().expect("a host"));
    for budget in [0, 100, 101] {
        let error = Window::new(Arc::clone(&host), [Strategy::digest()], 100, budget);
        assert_eq!(error.expect_err("refused").budget, budget);
    }
}

#[tokio::test]
async fn sizes_are_those_that_the_provider_counts() {
    for (kind, thirds) in Kind::ALL
        .into_iter()
        .flat_map(|kind| [(kind, 4), (kind, 6)])
    {
        let (whole, messages) = session(kind, 5);
        let by_provider = |tokens: u32| tokens * thirds / 3;
        let (at, budget) = (whole.tokens() / 2, whole.tokens() / 4);
        let (window, views) = (window(at, budget), Views::default());
        let (mut compactions, mut before) = (0, 0);
        for count in 1..=messages.len() {
            let shown = show(&window, &begin(&whole, &messages[..count]), &views).await;
            let tokens = by_provider(shown.conversation.tokens());
            let receipt = shown.receipt();
            if let Some(receipt) = receipt.filter(|it| it.outcome == Outcome::Compacted) {
                compactions += 1;
                // The request before was too small, but for what was new in it, which the host alone had counted.
                assert!(before < at + at / 8, "{kind:?}: {before} of {at}");
                let is_full = tokens > budget / 3 && tokens <= budget;
                let sizes = &receipt.tokens;
                assert!(
                    is_full || sizes.below_floor,
                    "{kind:?}: {tokens}, {sizes:?}"
                );
            }
            before = tokens;
            // The first message may be of the system.
            if let Some(sent) = shown.sent() {
                views.note_count(&sent, u64::from(tokens));
            }
        }
        assert!((1..16).contains(&compactions), "{kind:?}: {compactions}");
    }
}

#[tokio::test]
async fn a_provider_that_counts_nonsense_costs_a_part_of_the_window_alone() {
    for kind in Kind::ALL {
        let (whole, messages) = session(kind, 3);
        let (at, views) = (whole.tokens() / 2, Views::default());
        let window = window(at, at / 2);
        let mut compactions = 0;
        for count in 1..=messages.len() {
            let shown = show(&window, &begin(&whole, &messages[..count]), &views).await;
            if let Some(receipt) = shown.receipt() {
                compactions += usize::from(receipt.outcome == Outcome::Compacted);
                let tokens = &receipt.tokens;
                assert!(
                    tokens.before >= at / 4 && tokens.budget >= at / 8,
                    "{tokens:?}"
                );
            }
            if let Some(sent) = shown.sent() {
                views.note_count(&sent, u64::MAX);
            }
        }
        assert!(
            (1..=messages.len() / 4).contains(&compactions),
            "{kind:?}: {compactions}"
        );
    }
}

#[tokio::test]
async fn a_count_is_of_one_view_and_of_a_history_with_messages() {
    let (whole, messages) = session(Kind::OpenAiChat, 9);
    let (window, views) = (window(whole.tokens() * 2, whole.tokens()), Views::default());
    let history = begin(&whole, &messages[..messages.len() - 4]);
    let sent = show(&window, &history, &views)
        .await
        .sent()
        .expect("there are messages");
    // It was refused, so another view is shown.
    let less = window
        .show_less(&history, &views)
        .await
        .expect("a host that works");
    assert!(less.view.is_some());
    views.note_count(&sent, u64::from(whole.tokens()) * 3);
    assert!(show(&window, &whole, &views).await.receipt().is_none());

    let instructions = r#"{"model": "gpt-4o", "messages": [{"role": "system", "content": "You keep a lighthouse."}]}"#;
    let instructions = window.host().read(instructions).expect("it can be read");
    assert!(show(&window, &instructions, &views).await.sent().is_none());
}
