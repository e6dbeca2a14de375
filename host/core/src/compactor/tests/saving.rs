//! A compactor that was saved goes on as if it had never stopped.

use serde_json::{Value, json};

use baler_conversation::Format;
use baler_conversation::marks::SecretKey;
use baler_generated::Spelling;

use super::{by_tokens, compactor, fill, host, said, state_of, step};
use crate::compactor::Compactor;
use crate::strategy::Strategy;
use crate::{Host, conversation::tokenizers::Tokenizer};

fn begun(document: &str) -> Compactor {
    let host = host();
    let conversation = host.read(document).expect("reads");
    Compactor::new(host, conversation, [Strategy::truncate()], by_tokens(900)).expect("makes sense")
}

fn resumed(compactor: &Compactor) -> Compactor {
    let chain = [Strategy::truncate()];
    Compactor::resume(host(), &state_of(compactor), chain, by_tokens(900)).expect("goes on")
}

/// The compactor that goes on from what this one saves, which is held to be the same. Units have
/// other bytes where an `input` that is a text becomes a list.
fn again(one: &Compactor) -> Compactor {
    let two = resumed(one);
    assert_eq!(two.tokens(), one.tokens());
    assert!(two.history().eq(one.history()));
    assert_eq!(two.compactions(), one.compactions());
    for compaction in 0..one.compactions() {
        assert_eq!(two.seen_before(compaction), one.seen_before(compaction));
    }
    let (before, after) = (one.conversation(), two.conversation());
    assert_eq!(after.format(), before.format());
    assert_eq!(after.overhead(), before.overhead());
    assert_eq!(
        after.tokenizer().to_string(),
        before.tokenizer().to_string()
    );
    assert_eq!(after.units_sent(), before.units_sent());
    assert_eq!(after.log(), before.log());
    assert_eq!(after.recorded_summaries(), before.recorded_summaries());
    let units = |compactor: &Compactor| -> Vec<_> {
        let units = compactor.conversation().units().iter();
        units
            .map(|unit| (unit.kind, unit.turn, unit.messages, unit.tokens))
            .collect()
    };
    assert_eq!(units(&two), units(one));
    assert_eq!(state_of(&two), state_of(one));
    two
}

/// What a document says, however it is spelled and whatever stands around it.
fn value(compactor: &Compactor) -> Value {
    let document = compactor.document().trim_start_matches('\u{feff}');
    serde_json::from_str(document).expect("is JSON")
}

/// A message of about 100 tokens.
fn day(format: Format, number: usize) -> String {
    let text = format!("Day {number} begins at the harbour and ends late with music. ").repeat(8);
    match (format, number % 2) {
        (Format::Gemini, 0) => json!({"role": "model", "parts": [{"text": text}]}),
        (Format::Gemini, _) => json!({"role": "user", "parts": [{"text": text}]}),
        (_, 0) => said("assistant", &text),
        (_, _) => said("user", &text),
    }
    .to_string()
}

fn requests() -> [(Format, Value); 8] {
    let plan = said("user", "Plan our \"week\" by the sea.");
    let block =
        |kind: &str| json!({"role": "user", "content": [{"type": kind, "text": "Plan our week."}]});
    let content = json!({"role": "user", "parts": [{"text": "Plan our week by the sea."}]});
    [
        (
            Format::OpenAiChat,
            json!({"model": "gpt-5", "messages": [plan]}),
        ),
        (Format::OpenAiChat, json!([plan])),
        (
            Format::Anthropic,
            json!({"model": "claude-sonnet-4-5", "max_tokens": 9, "system": "You sail.", "messages": [plan]}),
        ),
        (
            Format::Anthropic,
            json!({"model": "claude-sonnet-4-5", "max_tokens": 9, "messages": [block("text")]}),
        ),
        (
            Format::OpenAiResponses,
            json!({"model": "gpt-5", "instructions": "You sail.", "input": "Plan our \"week\" by the sea."}),
        ),
        (
            Format::OpenAiResponses,
            json!({"model": "gpt-5", "input": [block("input_text")]}),
        ),
        (
            Format::Gemini,
            json!({"contents": [content], "systemInstruction": {"parts": [{"text": "You sail."}]}}),
        ),
        (Format::Gemini, json!([content])),
    ]
}

#[test]
fn requests_of_every_format_and_spelling_are_the_same_after_a_resume() {
    for (format, request) in requests() {
        let plain = request.to_string();
        let mut documents: Vec<String> = Spelling::ALL
            .iter()
            .map(|spelling| spelling.of(&plain))
            .collect();
        documents.push(serde_json::to_string_pretty(&request).expect("JSON"));
        documents.push(format!("\u{feff}{plain}"));
        documents.push(format!("\u{feff}\r\n\t {plain}\r\n "));
        documents.push(format!("\n  {plain}\n"));
        documents.push(plain);
        for document in documents {
            let mut one = begun(&document);
            assert_eq!(one.conversation().format(), format, "{document}");
            // Before anything was compacted.
            let mut two = again(&one);
            for number in 0..12 {
                for compactor in [&mut one, &mut two] {
                    let appended = compactor.append(&day(format, number));
                    appended.expect("is a message");
                }
            }
            assert_eq!(value(&two), value(&one), "{document}");
            let mut two = again(&two);
            for compactor in [&mut one, &mut two] {
                assert!(step(compactor).is_compacted(), "{document}");
            }
            assert_eq!(value(&two), value(&one), "{document}");
            let three = again(&two);
            assert_eq!(value(&three), value(&one), "{document}");
        }
    }
}

#[test]
fn a_text_that_is_all_of_the_input_is_a_message_of_the_users_in_the_history() {
    let mut one = begun(r#"{"model":"gpt-5","input":"Fix the \"bug\"."}"#);
    let message = r#"{"role":"user","content":"Fix the \"bug\"."}"#;
    assert_eq!(one.history().collect::<Vec<_>>(), [message]);
    assert_eq!(resumed(&one).history().collect::<Vec<_>>(), [message]);
    fill(&mut one, 12);
    assert!(step(&mut one).is_compacted());
    assert_eq!(one.seen_before(0).expect("there was one")[0], message);
    // It came, and no compaction wrote it.
    assert_eq!(state_of(&one).matches("Fix the").count(), 1);
    assert!(one.document().contains(message));
}

/// A body with a system prompt shows all that its provider counts, so counts are scaled; another one
/// is taken to hide what was not counted.
#[test]
fn counts_that_a_providers_figure_corrected_stay_so_after_a_resume() {
    for system in ["You plan journeys.", ""] {
        let mut one = compactor(by_tokens(3_000));
        if !system.is_empty() {
            let system = said("system", system).to_string();
            one.append(&system).expect("is a message");
        }
        fill(&mut one, 12);
        let counted = one.tokens();
        assert!(counted < 2_000);
        one.reported(2_950);
        assert_eq!(again(&one).tokens(), 2_950);
        fill(&mut one, 1);
        assert!(step(&mut one).is_compacted());
        // To who reads the document alone it is smaller.
        let read = host().read(one.document()).expect("reads");
        assert!(one.tokens() > read.tokens());
        let mut two = again(&one);
        for compactor in [&mut one, &mut two] {
            fill(compactor, 3);
        }
        assert_eq!(two.tokens(), one.tokens());
        one.reported(1_234);
        fill(&mut one, 1);
        again(&one);
    }
}

#[test]
fn a_log_is_the_same_after_a_resume() {
    let user = json!({"type": "user", "sessionId": "s", "uuid": "a", "parentUuid": null,
        "message": said("user", "Where to?")});
    let answer = json!({"id": "m", "type": "message", "role": "assistant", "model": "claude-sonnet-4-5",
        "content": [{"type": "text", "text": "To the lighthouse."}],
        "usage": {"input_tokens": 700, "output_tokens": 50}});
    let reply = json!({"type": "assistant", "sessionId": "s", "uuid": "b", "parentUuid": "a", "message": answer});
    let mut one = begun(&format!("{user}\n{reply}\n"));
    // What the log does not show is in the provider's figure.
    assert_eq!(one.tokens(), 750);
    assert!(one.conversation().log().is_some());
    let mut two = again(&one);
    for compactor in [&mut one, &mut two] {
        fill(compactor, 3);
        assert!(step(compactor).pressure.is_some());
    }
    again(&one);
    assert_eq!(value(&two), value(&one));
}

#[test]
fn a_state_is_counted_on_by_the_vocabulary_that_it_was_counted_with() {
    let host = Host::builder()
        .key(SecretKey::new([7; 32]))
        .tokenizer(Tokenizer::characters())
        .build()
        .expect("no state that could fail");
    let body = json!({"model": "m", "messages": [said("user", "Sail.")]}).to_string();
    let conversation = host.read(body).expect("reads");
    let chain = [Strategy::truncate()];
    let one = Compactor::new(host.into(), conversation, chain, by_tokens(900)).expect("valid");
    assert_eq!(one.tokens(), 5);
    let two = again(&one);
    assert_eq!(two.conversation().tokenizer().name(), "characters");
}
