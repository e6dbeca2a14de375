//! User messages that stay only by default, and are shortened.

use baler_conversation::message::Content;
use baler_conversation::{Conversation, Format, UnitKind};
use baler_provenance::own_words;
use proptest::collection::vec;
use proptest::prelude::{Just, Strategy as _};
use proptest::test_runner::{Config, TestRunner};
use proptest::{prop_assert, prop_assert_eq, prop_oneof};
use serde_json::{Value, json};

use super::{host, runtime};
use crate::receipt::{Outcome, Unchanged};
use crate::request::{Budget, Pins, Policy, Request};
use crate::sample;
use crate::strategy::Strategy;
use crate::{Compaction, Host};

const REMINDER: &str = "Never trust the harbour master.";

/// A task with a rule in its middle, and what a program added to it.
fn task(lines: usize) -> String {
    let sounding = |line: usize| format!("Sound berth {line} at low water, 平穏 or not.\n");
    let first: String = (0..lines).map(sounding).collect();
    let last: String = (lines..2 * lines).map(sounding).collect();
    let noise: String = (0..lines)
        .map(|line| format!("{REMINDER} Buoy {line} is adrift.\n"))
        .collect();
    format!(
        "{first}You must never row at night.\n<system-reminder>\n{noise}</system-reminder>\n{last}"
    )
}

/// The task, steps of work, and what the user said last.
fn document(format: Format, task: &str, steps: usize, last: Option<&str>) -> String {
    let work: Vec<String> = (0..steps)
        .map(|step| format!("Berth {step} has {} feet. ", step * 7 % 31).repeat(12))
        .collect();
    let say = |role: &str, text: &str| match format {
        Format::Anthropic => json!({"role": role, "content": [{"type": "text", "text": text}]}),
        Format::Gemini => {
            json!({"role": if role == "user" { "user" } else { "model" }, "parts": [{"text": text}]})
        }
        Format::OpenAiResponses if role == "user" => {
            json!({"type": "message", "role": role, "content": [{"type": "input_text", "text": text}]})
        }
        Format::OpenAiResponses => {
            json!({"type": "message", "role": role, "content": [{"type": "output_text", "text": text, "annotations": []}]})
        }
        _ => json!({"role": role, "content": text}),
    };
    let mut messages = vec![say("user", task)];
    for (step, text) in work.iter().enumerate() {
        if step > 0 {
            messages.push(say("user", "Go on."));
        }
        messages.push(say("assistant", text));
    }
    messages.extend(last.map(|text| say("user", text)));
    let body: Value = match format {
        Format::Anthropic => {
            json!({"model": "claude-sonnet-4-5", "max_tokens": 9, "messages": messages})
        }
        Format::Gemini => json!({"contents": messages}),
        Format::OpenAiResponses => json!({"model": "gpt-5", "input": messages}),
        _ => json!({"model": "gpt-4o", "messages": messages}),
    };
    body.to_string()
}

/// The text of the first message as strategies read it, and whether it is an excerpt.
fn first_text(conversation: &Conversation) -> (String, bool) {
    let message = &conversation.messages(0)[0];
    let part = &message.parts[0];
    let Content::Text(place) = &part.content else {
        panic!("no text");
    };
    match conversation.opened(message, part) {
        Some(opened) => (opened.text.clone(), opened.is_excerpt()),
        None => (conversation.text(place).into_owned(), false),
    }
}

async fn compact(host: &Host, conversation: &Conversation, request: &Request) -> Compaction {
    let done = host
        .compact(conversation, &[Strategy::digest()], request)
        .await;
    done.expect("the archive is in memory")
}

/// Returns a request for a budget of the overhead and `tokens`.
fn within(conversation: &Conversation, tokens: u32) -> Request {
    Request::new(Budget::Tokens(conversation.overhead() + tokens))
}

#[test]
fn first_message_leaves_room_for_recent_work_in_every_format() {
    for format in [
        Format::OpenAiChat,
        Format::OpenAiResponses,
        Format::Anthropic,
        Format::Gemini,
    ] {
        let (host, archive) = host();
        let whole = document(format, &task(60), 40, Some("And now the pier."));
        let conversation = host.read(whole.as_str()).expect("reads");
        let first = conversation.units()[0].tokens;
        let request = within(&conversation, first + 300);
        let done = runtime().block_on(compact(&host, &conversation, &request));
        let receipt = done.receipt();
        assert_eq!(
            receipt.strategy.as_deref(),
            Some("native:digest"),
            "{format}"
        );
        assert_eq!(receipt.units.texts_shortened, 1, "{format}");
        let after = done.conversation();
        assert_eq!(after.units()[0].kind, UnitKind::User, "{format}");
        let half = (first + 300) / 2;
        let tokens = after.units()[0].tokens;
        assert!(
            half / 2 < tokens && tokens <= half + 400,
            "{format}: {tokens} of {first}"
        );
        // The newest step stays.
        assert!(after.document().contains("Berth 39 has"), "{format}");
        let (text, is_excerpt) = first_text(after);
        assert!(is_excerpt, "{format}");
        assert!(
            text.contains("You must never row at night."),
            "{format}: {text}"
        );
        assert!(!own_words(&text).contains(REMINDER), "{format}: {text}");
        // Its result stays as it is, and the whole can be had again.
        let again = runtime().block_on(compact(&host, after, &request));
        assert_eq!(
            again.receipt().outcome,
            Outcome::Unchanged(Unchanged::WithinBudget)
        );
        let undo = receipt.undo.as_deref().expect("an archive");
        let restored = runtime().block_on(archive.undo(undo));
        assert_eq!(restored.as_deref(), Ok(whole.as_str()), "{format}");
    }
}

/// A conversation whose first message takes nearly the whole budget of the request.
fn long_task() -> (Host, Conversation, Request) {
    let (host, _) = host();
    let document = document(Format::OpenAiChat, &task(60), 40, Some("And now the pier."));
    let conversation = host.read(document).expect("reads");
    let request = within(&conversation, conversation.units()[0].tokens + 300);
    (host, conversation, request)
}

#[test]
fn share_of_the_first_message_is_that_of_the_policy() {
    let (host, conversation, request) = long_task();
    let first = conversation.units()[0].tokens;
    let shortened = |policy: Policy| {
        let request = request.clone().with_policy(policy);
        let done = runtime().block_on(compact(&host, &conversation, &request));
        done.conversation().units()[0].tokens
    };
    let of = |percent| shortened(Policy::default().with_user_percent(percent));
    let shares = [10, 25, 50, 75].map(of);
    assert!(shares.is_sorted_by(|one, other| one < other), "{shares:?}");
    assert!(shares[3] < first);
    assert_eq!(of(100), first);
    assert_eq!(of(255), first);
    assert_eq!(shortened(Policy::default().with_excerpts(false)), first);
}

#[test]
fn pinned_message_stays_whole() {
    let (host, conversation, request) = long_task();
    let request = request.with_pins(Pins::Units(vec![0]));
    let done = runtime().block_on(compact(&host, &conversation, &request));
    assert!(done.is_compacted());
    assert_eq!(done.receipt().units.texts_shortened, 0);
    let raw = |conversation: &Conversation| {
        let mut messages = conversation.raw_messages(0).map(str::to_owned);
        messages.next()
    };
    assert_eq!(raw(done.conversation()), raw(&conversation));
}

#[test]
fn newest_message_stays_whole_unless_it_alone_exceeds_the_budget() {
    let (host, _) = host();
    let document = document(
        Format::OpenAiChat,
        "Sound the harbour.",
        40,
        Some(&task(60)),
    );
    let conversation = host.read(document).expect("reads");
    let newest = conversation.units().last().expect("units").tokens;
    for (more, is_whole) in [(1_000, true), (600, true), (-100, false), (-1_500, false)] {
        let tokens = newest.saturating_add_signed(more);
        let request = within(&conversation, tokens).with_policy(sample::policy());
        let done = runtime().block_on(compact(&host, &conversation, &request));
        let after = done.conversation();
        assert!(done.is_compacted() && after.tokens() <= conversation.overhead() + tokens);
        let kept = after.units().last().expect("units").tokens;
        assert_eq!(kept == newest, is_whole, "{more}: {kept} of {newest}");
        let text = after
            .raw_messages(after.units().len() - 1)
            .next()
            .expect("a message");
        // All but what a summary needs.
        assert!(
            kept > (tokens - 500) / 4 * 3,
            "{more}: {kept} of {tokens}: {text}"
        );
    }
}

/// A text of the user's role, of the user's lines and of what programs write.
fn text() -> impl proptest::strategy::Strategy<Value = String> {
    let own = "[a-z平穏 ]{4,60}".prop_map(|line| format!("never {line}\n"));
    let inside = "[a-z平穏 ]{4,60}".prop_map(|line| format!("always {line}\n"));
    let tag = prop_oneof![
        Just("system-reminder"),
        Just("bash-stdout"),
        Just("environment_context"),
        Just("ide_selection"),
    ];
    let program = (tag, vec(inside, 1..40), 0u8..8).prop_map(|(tag, lines, how)| {
        let lines = lines.concat();
        match how {
            0 => format!("<{tag}>{lines}"),
            1 => format!("<{tag}>\n<system-reminder>\n{lines}</{tag}>\n"),
            2 => format!("<{tag}>{}</{tag}>\n", lines.replace('\n', " ")),
            _ => format!("<{tag}>\n{lines}</{tag}>\n"),
        }
    });
    let gap = Just("[… 3 lines, 90 bytes left out …]\n".to_owned());
    let block = prop_oneof![4 => own, 3 => program, 1 => gap];
    vec(block, 20..120).prop_map(|blocks| blocks.concat())
}

#[test]
fn no_excerpt_makes_a_programs_words_the_users() {
    let config = Config {
        cases: 300,
        failure_persistence: None,
        ..Config::default()
    };
    let runtime = runtime();
    let shortened = std::cell::Cell::new(0u32);
    TestRunner::new(config)
        .run(&(text(), 5u32..95), |(text, percent)| {
            let (host, archive) = host();
            let whole = document(Format::OpenAiChat, &text, 20, Some("And now?"));
            let conversation = host.read(whole.as_str()).expect("reads");
            let mut now = conversation.clone();
            for round in 0..2 {
                let tokens = now.tokens() * percent / 100;
                let request = Request::new(Budget::Tokens(tokens));
                let done = runtime.block_on(compact(&host, &now, &request));
                if !done.is_compacted() {
                    break;
                }
                let (kept, is_excerpt) = first_text(done.conversation());
                if is_excerpt {
                    shortened.set(shortened.get() + 1);
                    let own = own_words(&text);
                    for line in own_words(&kept)
                        .lines()
                        .filter(|line| !line.starts_with("[…"))
                    {
                        let line = line.trim().trim_start_matches('\\');
                        prop_assert!(own.contains(line), "round {round}: {line:?} of {kept}");
                    }
                }
                let undo = done.receipt().undo.as_deref().expect("an archive");
                let restored = runtime.block_on(archive.undo(undo));
                prop_assert_eq!(restored.as_deref(), Ok(now.document()));
                now = done.conversation().clone();
            }
            Ok(())
        })
        .unwrap_or_else(|error| panic!("{error}"));
    assert!(
        shortened.get() > 100,
        "only {} were shortened",
        shortened.get()
    );
}
