use baler_models::clients::SetupError;
use baler_models::{Answer, Finish, Price};
use serde_json::json;

use super::*;

#[tokio::test]
async fn answer_has_text_and_usage() {
    for provider in PROVIDERS {
        let said = Answer::new("Ein \"Text\"\nmit Zeilen 🦀", Finish::Stop).with_usage(123, 45);
        let answer = ask_one(provider, Reply::answer(provider, &said), PLENTY).await;
        assert_eq!(answer, Ok(said), "{provider:?}");
    }
}

#[tokio::test]
async fn requests_follow_the_protocol_of_the_provider() {
    let (system, user) = ("Summarise.", "A \"long\" conversation\nwith ünicode.");
    let messages =
        json!([{"role": "system", "content": system}, {"role": "user", "content": user}]);
    for (provider, path, body) in [
        (
            Provider::OpenAi,
            "/v1/chat/completions",
            json!({"model": "some-model", "messages": messages, "max_completion_tokens": 99, "stream": false}),
        ),
        (
            Provider::Compatible,
            "/v1/chat/completions",
            json!({"model": "qwen3:8b", "messages": messages, "max_tokens": 99, "stream": false}),
        ),
        (
            Provider::Anthropic,
            "/v1/messages",
            json!({"model": "some-model", "system": system, "max_tokens": 99,
                "messages": [{"role": "user", "content": user}]}),
        ),
        (
            Provider::Gemini,
            "/v1beta/models/some-model:generateContent",
            json!({"systemInstruction": {"parts": [{"text": system}]},
                "contents": [{"role": "user", "parts": [{"text": user}]}],
                "generationConfig": {"maxOutputTokens": 99}}),
        ),
    ] {
        let server = server([Reply::text(provider, "yes")]);
        let client = builder(provider, &server).build().unwrap();
        ask(&client, PLENTY).await.unwrap();
        let requests = server.requests();
        assert_eq!(requests.len(), 1);
        let request = &requests[0];
        assert_eq!(
            (request.method.as_str(), request.path.as_str()),
            ("POST", path)
        );
        assert_eq!(request.json(), body, "{provider:?}");
        assert_eq!(request.header("content-type"), Some("application/json"));
        let version = (provider == Provider::Anthropic).then_some("2023-06-01");
        assert_eq!(request.header("anthropic-version"), version);
    }
}

#[tokio::test]
async fn request_without_instructions_has_no_system_prompt() {
    for provider in PROVIDERS {
        let server = server([Reply::text(provider, "yes")]);
        let client = builder(provider, &server).build().unwrap();
        let question = question().with_instructions("");
        client.ask(&question, PLENTY, &|| true).await.unwrap();
        let body = server.requests()[0].body.to_lowercase();
        assert!(!body.contains("system"), "{body}");
    }
}

#[tokio::test]
async fn request_limits_the_answer_to_what_the_model_can_write() {
    let server = server([Reply::text(Provider::OpenAi, "yes")]);
    let client = builder(Provider::OpenAi, &server)
        .max_output_tokens(7)
        .build()
        .unwrap();
    ask(&client, PLENTY).await.unwrap();
    assert_eq!(server.requests()[0].json()["max_completion_tokens"], 7);
}

#[tokio::test]
async fn extra_fields_are_merged_into_the_request() {
    for (provider, fields, place, value) in [
        (
            Provider::OpenAi,
            json!({"reasoning_effort": "low"}),
            "/reasoning_effort",
            json!("low"),
        ),
        (
            Provider::Gemini,
            json!({"generationConfig": {"thinkingConfig": {"thinkingBudget": 0}}}),
            "/generationConfig",
            json!({"maxOutputTokens": 99, "thinkingConfig": {"thinkingBudget": 0}}),
        ),
    ] {
        let server = server([Reply::text(provider, "yes")]);
        let fields = fields.as_object().unwrap().clone();
        let client = builder(provider, &server)
            .extra_fields(fields)
            .build()
            .unwrap();
        ask(&client, PLENTY).await.unwrap();
        let body = server.requests()[0].json();
        assert_eq!(body.pointer(place), Some(&value), "{body}");
    }
}

#[tokio::test]
async fn refusal_is_reported() {
    for provider in PROVIDERS {
        let answer = ask_one(provider, Reply::refusal(provider), PLENTY)
            .await
            .unwrap();
        assert_eq!(answer.finish, Finish::Refusal, "{provider:?}");
    }
}

#[tokio::test]
async fn cut_off_answer_is_reported() {
    for provider in PROVIDERS {
        let answer = ask_one(provider, Reply::cut_off(provider, "half"), PLENTY)
            .await
            .unwrap();
        assert_eq!(
            (answer.text.as_str(), answer.finish),
            ("half", Finish::Length)
        );
    }
}

#[tokio::test]
async fn empty_answer_is_an_answer() {
    for provider in PROVIDERS {
        let answer = ask_one(provider, Reply::text(provider, ""), PLENTY)
            .await
            .unwrap();
        assert_eq!((answer.text.as_str(), answer.finish), ("", Finish::Stop));
    }
}

#[tokio::test]
async fn tool_call_gives_an_empty_text() {
    for provider in PROVIDERS {
        let answer = ask_one(provider, Reply::tool_call(provider), PLENTY)
            .await
            .unwrap();
        assert_eq!(answer.text, "", "{provider:?}");
        assert!(answer.input_tokens > Some(0), "estimated");
    }
}

#[tokio::test]
async fn builder_overrides_documented_limits() {
    let server = server([]);
    let price = Price::new(1.0, 2.0).unwrap();
    let client = builder(Provider::Compatible, &server)
        .context_window(32_000)
        .max_output_tokens(2_000)
        .price(price)
        .build()
        .unwrap();
    let info = client.info();
    assert_eq!(info.name, "qwen3:8b");
    assert_eq!(
        (info.context_window, info.max_output_tokens),
        (32_000, 2_000)
    );
    assert_eq!(info.price, Some(price));
}

#[test]
fn builder_derives_and_validates_limits() {
    let server = server([]);
    let small = builder(Provider::OpenAi, &server)
        .context_window(1_000)
        .build();
    assert_eq!(small.unwrap().info().max_output_tokens, 500);
    for (window, output) in [(0, 1), (1, 1), (10, 10), (10, 0)] {
        let built = builder(Provider::OpenAi, &server)
            .context_window(window)
            .max_output_tokens(output)
            .build();
        assert!(
            matches!(built, Err(SetupError::InvalidLimits { .. })),
            "{window} {output}"
        );
    }
}

/// The host may use a runtime for each compaction.
#[test]
fn client_works_in_several_runtimes() {
    let server = server([]);
    server.set_default_reply(Reply::text(Provider::OpenAi, "yes"));
    let client = builder(Provider::OpenAi, &server).build().unwrap();
    for _ in 0..2 {
        let runtime = tokio::runtime::Builder::new_current_thread()
            .enable_all()
            .build()
            .unwrap();
        runtime.block_on(ask(&client, PLENTY)).unwrap();
    }
    assert_eq!(server.requests().len(), 2);
}
