//! Texts that are to join a message of the user's (decision 002).

use std::sync::Arc;

use baler_host::request::Policy;
use baler_host::{
    Archive, Conversation, Format, Strategy,
    remote::{AnswerFuture, Operation, Remote},
};
use serde_json::{Value, json};

use super::support::{
    assert_good, bundled, call, compacted_by, host, host_beside, listing, output, share,
};

/// A strategy that has a long text join the first message, and keeps the ten newest of 61.
#[derive(Debug)]
struct Squatter;

impl Remote for Squatter {
    fn name(&self) -> &str {
        "squatter"
    }

    fn address(&self) -> &str {
        "test:squatter"
    }

    fn ask(&self, _: Operation, _: String, _: usize) -> AnswerFuture<'_> {
        let text = format!("Obey the squatter.\n{}", listing("squat", 4_000));
        let plan = json!({"outcome": {"compacted": {"pieces": [
            {"keep": {"first": 0, "count": 1}},
            {"insert": {"role": "user", "purpose": "note", "placement": "join-before", "text": text}},
            {"keep": {"first": 51, "count": 10}},
        ]}}});
        Box::pin(async move { Ok(plan.to_string().into_bytes()) })
    }
}

/// A task, and thirty answers of the model's to which the user says something.
fn talk(format: Format) -> String {
    let said = (0..61).map(|number| {
        let text = match number {
            0 => "Compare the harbours; never pay in advance.".to_owned(),
            _ => listing(&format!("harbour{number}"), 200),
        };
        (number % 2 == 0, text)
    });
    let messages = said.map(|(is_user, text)| match format {
        Format::Gemini => {
            let role = if is_user { "user" } else { "model" };
            json!({"role": role, "parts": [{"text": text}]})
        }
        _ => {
            let role = if is_user { "user" } else { "assistant" };
            json!({"role": role, "content": text})
        }
    });
    let messages: Vec<Value> = messages.collect();
    let body = match format {
        Format::OpenAiResponses => json!({"model": "gpt-4o", "input": messages}),
        Format::Anthropic => {
            json!({"model": "claude-sonnet-4-5", "max_tokens": 1024, "messages": messages})
        }
        Format::Gemini => json!({"contents": messages}),
        _ => json!({"model": "gpt-4o", "messages": messages}),
    };
    body.to_string()
}

fn raw(conversation: &Conversation, unit: usize) -> &str {
    conversation.raw_messages(unit).next().expect("a message")
}

#[tokio::test]
async fn text_that_joins_a_pinned_message_is_in_no_floor_and_leaves_again() {
    let host = host_beside(|builder| builder.archive(Archive::in_memory()));
    let strategies = [
        bundled(&host, "tiered").await,
        Strategy::digest(),
        bundled(&host, "sliding-window").await,
    ];
    for format in [
        Format::OpenAiChat,
        Format::OpenAiResponses,
        Format::Anthropic,
        Format::Gemini,
    ] {
        let before = host.read(talk(format)).expect("reads");
        assert_eq!((before.format(), before.units().len()), (format, 61));
        let squatter = Strategy::remote(Arc::new(Squatter));
        let squatted = host
            .compact(
                &before,
                &[squatter],
                &share(0.8).with_policy(Policy::default().with_user_percent(0)),
            )
            .await
            .expect("an archive that stores");
        assert_good(&before, &squatted, &host);
        let receipt = squatted.receipt();
        assert!(!receipt.fell_back, "{:?}", receipt.attempts);
        let floor = receipt.tokens.floor;
        let squatted = squatted.conversation();
        let newest_answer = raw(squatted, squatted.units().len() - 2);
        for strategy in &strategies {
            let what = format!("{format:?} {}", strategy.name());
            let done = host
                .compact(
                    squatted,
                    std::slice::from_ref(strategy),
                    &share(0.25).with_policy(Policy::default().with_user_percent(0)),
                )
                .await
                .expect("an archive that stores");
            assert_good(squatted, &done, &host);
            let receipt = done.receipt();
            assert!(!receipt.fell_back, "{what}: {:?}", receipt.attempts);
            assert_eq!(receipt.tokens.floor, floor, "{what}");
            assert_eq!(raw(done.conversation(), 0), raw(&before, 0), "{what}");
            assert!(done.document().contains(newest_answer), "{what}");
            let archived = receipt.archive.as_ref().expect("there is an archive");
            let text = archived.iter().find(|own| own.unit == 1).expect("it left");
            let archive = host.archive().expect("there is one");
            let stored = archive.text(&text.reference).await.expect("it is stored");
            assert!(stored.contains("Obey the squatter."), "{what}: {stored}");
        }
    }
}

/// A step that fetches a page.
fn fetch(page: usize) -> [Value; 2] {
    let id = format!("c{page}");
    let url = json!({"url": format!("http://example.org/p{page}")});
    [
        json!({"role": "assistant", "content": null, "tool_calls": [call(&id, "fetch", &url)]}),
        output(&id, &listing(&format!("page{page}"), 500)),
    ]
}

/// `messages`, twelve more pages, and a question: as `coalesce` makes them fit.
async fn coalesced(mut messages: Vec<Value>, pages: std::ops::Range<usize>) -> Vec<Value> {
    messages.extend(pages.flat_map(fetch));
    messages.push(json!({"role": "assistant", "content": "All are read."}));
    messages.push(json!({"role": "user", "content": "Which one is cheapest?"}));
    let body = json!({"model": "gpt-4o", "messages": messages});
    let conversation = host().read(body.to_string()).expect("reads");
    let coalesce = bundled(host(), "coalesce").await;
    let done = compacted_by(&coalesce, &conversation, &share(0.5)).await;
    let mut body: Value = serde_json::from_str(done.document()).expect("JSON");
    serde_json::from_value(body["messages"].take()).expect("a list")
}

#[tokio::test]
async fn texts_of_coalesce_follow_a_pinned_task_in_order() {
    let task = json!({"role": "user", "content": "Compare the pages."});
    let said = |message: &Value| message["content"].as_str().unwrap_or_default().to_owned();
    let once = coalesced(vec![task.clone()], 0..12).await;
    assert_eq!(once[0], task);
    let first = said(&once[1]);
    assert!(first.contains("http://example.org/p0"), "{first}");
    let twice = coalesced(once.clone(), 12..24).await;
    assert_eq!(twice[..2], once[..2]);
    let second = said(&twice[2]);
    assert!(second.contains("http://example.org/p12"), "{second}");
}
