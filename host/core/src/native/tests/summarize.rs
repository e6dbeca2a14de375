use std::sync::Arc;
use std::time::Duration;

use baler_models::{Answer, Finish, ModelError};
use serde_json::json;

use baler_conversation::SecretKey;

use crate::model::scripted::{Scripted, answer};
use crate::sample;
use crate::{
    Budget, Compaction, Conversation, Host, Request, Strategy,
    conversation::tokenizers::Tokenizer,
    fault::DeclaredFailure,
    receipt::{AttemptResult, Outcome, Unchanged, Verification},
    request::Trigger,
    strategy::{Gate, Permit},
};

fn host() -> Host {
    Host::builder()
        .key(SecretKey::new([7; 32]))
        .tokenizer(Tokenizer::named("o200k_base").expect("is one"))
        .build()
        .expect("no state that could fail")
}

/// Returns a conversation of a task, so many messages of about 100 tokens, and a last question.
fn journey(messages: usize) -> Conversation {
    let mut list =
        vec![json!({"role": "user", "content": "Plan our week by the sea. Never by plane!"})];
    for number in 0..messages {
        let role = if number % 2 == 0 { "assistant" } else { "user" };
        let text =
            format!("Day {number} begins at the harbour and ends late with music. ").repeat(8);
        list.push(json!({"role": role, "content": text}));
    }
    list.push(json!({"role": "user", "content": "And then?"}));
    host().read(json!(list).to_string()).expect("reads")
}

async fn compact(
    conversation: &Conversation,
    model: &Arc<Scripted>,
    request: &Request,
) -> Compaction {
    let chain = [Strategy::summarize(model.grant())];
    host()
        .compact(conversation, &chain, request)
        .await
        .expect("no archive that could fail")
}

/// PAIN-21, P4, PL-13, PL-4, PL-5, PL-S9
#[tokio::test]
async fn summarize_keeps_the_newest_messages_and_summarizes_the_rest() {
    let conversation = journey(30);
    let model = Scripted::new([answer("Summary of old messages.")]);
    let compaction = compact(&conversation, &model, &sample::request()).await;
    let receipt = compaction.receipt();
    assert_eq!(receipt.strategy.as_deref(), Some("native:summarize"));
    assert_eq!(receipt.attempts[0].model.expect("asked").calls, 1);
    assert!(
        compaction
            .document()
            .contains("\\nSummary of old messages.\\n")
    );
    // The task, the summary, the newest answer, and the question behind it.
    assert_eq!(compaction.conversation().units().len(), 4);
    let asked = &model.asked()[0];
    assert!(asked.prompt.contains("Assistant: Day 0 begins"));
    assert!(
        !asked.prompt.contains("Day 29"),
        "the newest messages are kept"
    );
    assert!(receipt.tokens.after <= receipt.tokens.budget);
}

#[tokio::test]
async fn a_receipt_says_that_an_answer_with_a_models_words_was_not_verified() {
    let conversation = journey(30);
    let model = Scripted::new([answer("Two ferries, one storm.")]);
    let request = Request::default().with_verify(true);
    let compaction = compact(&conversation, &model, &request).await;
    let attempt = &compaction.receipt().attempts[0];
    assert_eq!(attempt.verification, Some(Verification::AskedModel));
    assert_eq!(model.asked().len(), 1);
}

/// P24, PL-S6, PL-I4, PL-N2, ALL-N2
#[tokio::test]
async fn summarize_asks_no_model_if_nothing_must_be_removed() {
    let conversation = journey(0);
    let model = Scripted::new([]);
    let request = Request {
        budget: Budget::Tokens(1),
        ..sample::request()
    };
    let compaction = compact(&conversation, &model, &request).await;
    assert!(!compaction.is_compacted());
    assert!(model.asked().is_empty());
}

/// P7, P8, PL-S7, PL-S8, PL-14, PU-S14, PU-S22, SU7, AP-13, AP-S20, PL-N13
#[tokio::test]
async fn failing_model_leaves_the_conversation_unchanged_with_a_reason() {
    let cut = Answer::new("We sai", Finish::Length).with_usage(1, 1);
    for reply in [
        Err(ModelError::Unavailable("no connection".to_owned())),
        Err(ModelError::Refused("wrong key".to_owned())),
        answer(""),
        answer("<think>\nOkay, they want a summary. Let me see, the first thing"),
        Ok(cut),
    ] {
        let conversation = journey(30);
        let model = Scripted::new([reply]);
        let request = Request {
            free_text_in_receipt: true,
            ..sample::request()
        };
        let compaction = compact(&conversation, &model, &request).await;
        let receipt = compaction.receipt();
        assert_eq!(
            receipt.outcome,
            Outcome::Unchanged(Unchanged::StrategyFailed)
        );
        assert_eq!(compaction.document(), conversation.document());
        assert_eq!(receipt.failures_in_a_row, 1);
        let attempt = &receipt.attempts[0];
        assert!(matches!(
            attempt.result,
            AttemptResult::Failure {
                failure: DeclaredFailure::Model
            }
        ));
        let words = attempt
            .free_text
            .as_ref()
            .and_then(|words| words.reason.as_ref());
        assert!(words.is_some_and(|words| !words.is_empty()));
    }
}

/// AP-S21, AP-14, A6, AP-I2: after the third failure in a row the chain continues.
#[tokio::test]
async fn third_failure_in_a_row_and_required_compactions_fall_back_to_digest() {
    let conversation = journey(30);
    for (failures_in_a_row, required) in [(2, false), (0, true)] {
        let model = Scripted::new([]);
        let request = Request {
            failures_in_a_row,
            required,
            ..sample::request()
        };
        let compaction = compact(&conversation, &model, &request).await;
        let receipt = compaction.receipt();
        assert_eq!(receipt.strategy.as_deref(), Some("native:digest"));
        assert_eq!(receipt.failures_in_a_row, 0);
        assert!(receipt.fell_back);
    }
}

/// PAIN-27, P9, PL-N1, PL-I11, AP-S23, AH4, PU-N18, ALL-N1
#[tokio::test]
async fn earlier_summary_is_given_to_the_model_and_replaced() {
    let first = Scripted::new([answer("They sail on Tuesday.")]);
    let compaction = compact(&journey(30), &first, &sample::request()).await;
    let mut conversation = compaction.conversation().clone();
    for number in 0..30 {
        let text = format!("Night {number} was calm. ").repeat(20);
        let message = json!({"role": "assistant", "content": text});
        conversation.append(&message.to_string()).expect("is one");
    }
    let second = Scripted::new([answer("They sail on Tuesday, and thirty nights were calm.")]);
    let request = Request {
        budget: Budget::Share(0.3),
        ..sample::request()
    };
    let compaction = compact(&conversation, &second, &request).await;
    assert!(compaction.is_compacted());
    let asked = &second.asked()[0].prompt;
    let (before, after) = asked.split_once("<conversation>").expect("has one");
    assert!(before.contains("<summary_so_far>\nEarlier summary: They sail on Tuesday.\n"));
    let asked = second.asked();
    let told = asked[0].instructions.as_deref().expect("has some");
    assert!(told.contains(baler_digest::ABOUT_EARLIER), "{told}");
    assert!(!after.contains("They sail on Tuesday."));
    assert!(!after.contains("baler:summary"));
}

/// PAIN-2, ALL-N8, PL-N17
#[tokio::test]
async fn too_long_question_loses_its_oldest_units_in_few_steps() {
    let conversation = journey(200);
    let model = Scripted::with_window([answer("We sailed.")], 6_000);
    let compaction = compact(&conversation, &model, &sample::request()).await;
    assert!(compaction.is_compacted());
    let asked = model.asked();
    assert_eq!(asked.len(), 1);
    assert!(
        asked[0]
            .prompt
            .contains("oldest parts of the conversation do not fit here")
    );
    assert!(!asked[0].prompt.contains("Day 0 begins"));
    // The provider refuses the question as too long, without its limit: each try is about half as long.
    let refusals = (0..3).map(|_| Err(ModelError::TooLong { fits: None }));
    let model = Scripted::new(refusals.chain([answer("We sailed.")]));
    assert!(
        compact(&conversation, &model, &sample::request())
            .await
            .is_compacted()
    );
    let lengths: Vec<usize> = model
        .asked()
        .iter()
        .map(|asked| asked.prompt.len())
        .collect();
    assert_eq!(lengths.len(), 4);
    assert!(
        lengths.windows(2).all(|pair| pair[1] < pair[0]),
        "{lengths:?}"
    );
}

/// PL-I9
#[tokio::test]
async fn wish_of_a_manual_trigger_is_in_the_instructions() {
    let model = Scripted::new([answer("We sailed.")]);
    let request = Request {
        trigger: Trigger::Manual(Some("keep the API design".to_owned())),
        ..sample::request()
    };
    compact(&journey(30), &model, &request).await;
    let instructions = model.asked()[0].instructions.clone().expect("has some");
    assert!(instructions.contains("keep the API design"));
}

/// Escaping the host's own tags costs tokens, so they are replaced before the summary is cut.
#[tokio::test]
async fn summary_full_of_tags_fits_the_budget() {
    // Letters instead of a number: an answer that repeats itself or invents numbers is rejected.
    let word = |number: usize| -> String {
        let letter = |place: u32| char::from(b'a' + (number / 26_usize.pow(place) % 26) as u8);
        (0..4).map(letter).collect()
    };
    let tags: String = (0..20_000)
        .map(|number| format!("</baler:x>{} ", word(number)))
        .collect();
    let model = Scripted::new([answer(&tags)]);
    let compaction = compact(&journey(30), &model, &sample::request()).await;
    let receipt = compaction.receipt();
    assert_eq!(receipt.strategy.as_deref(), Some("native:summarize"));
    assert!(receipt.tokens.after <= receipt.tokens.budget);
    assert!(compaction.document().contains(" /baler:x>"));
}

/// ALL-N9
#[tokio::test]
async fn hanging_model_is_stopped_at_the_time_limit() {
    let model = Scripted::hanging();
    let strategy = Strategy::summarize(model.grant());
    let limits = crate::Limits {
        model_time: Duration::from_millis(100),
        ..*strategy.limits()
    };
    let start = std::time::Instant::now();
    let compaction = host()
        .compact(
            &journey(30),
            &[strategy.with_limits(limits)],
            &sample::request(),
        )
        .await
        .expect("no archive");
    assert!(!compaction.is_compacted());
    assert!(start.elapsed() < Duration::from_secs(5));
}

#[tokio::test]
async fn host_model_is_asked_before_native_digest() {
    let model = Scripted::new([answer("We sailed.")]);
    let host = Host::builder()
        .key(SecretKey::new([7; 32]))
        .model(model.grant())
        .build()
        .expect("no state");
    let compaction = host
        .compact(&journey(30), &[], &sample::request())
        .await
        .expect("no archive");
    assert_eq!(
        compaction.receipt().strategy.as_deref(),
        Some("native:summarize")
    );
}

/// A gate that admits no call.
#[derive(Debug)]
struct Closed;

impl Gate for Closed {
    fn enter(&self) -> Option<Permit> {
        None
    }
}

#[tokio::test]
async fn closed_gate_skips_the_summarizer_of_the_host() {
    let model = Scripted::new([answer("We sailed.")]);
    let host = Host::builder()
        .tokenizer(Tokenizer::named("o200k_base").expect("is one"))
        .model(model.grant())
        .build()
        .expect("no state that could fail")
        .with_summarizer_gate(Arc::new(Closed));
    let compaction = host
        .compact(&journey(30), &[], &sample::request())
        .await
        .expect("no archive that could fail");
    let receipt = compaction.receipt();
    assert!(matches!(receipt.attempts[0].result, AttemptResult::Busy));
    assert_eq!(receipt.attempts[0].strategy, "native:summarize");
    assert_eq!(receipt.strategy.as_deref(), Some("native:digest"));
    assert!(model.asked().is_empty());
}
