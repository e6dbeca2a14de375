use std::io::Write as _;

use super::*;

const KEY: &str = "sk-test-0123456789abcdef";

/// A client with that key, from a file.
fn client(provider: Provider, server: &ScriptedServer) -> Client {
    let mut file = tempfile::NamedTempFile::new().unwrap();
    writeln!(file, "{KEY}").unwrap();
    builder(provider, server)
        .key(KeySource::File(file.path().to_owned()))
        .build()
        .unwrap()
}

#[tokio::test]
async fn key_is_sent_in_the_header_of_the_provider() {
    for (provider, name, value) in [
        (Provider::OpenAi, "authorization", format!("Bearer {KEY}")),
        (
            Provider::Compatible,
            "authorization",
            format!("Bearer {KEY}"),
        ),
        (Provider::Anthropic, "x-api-key", KEY.to_owned()),
        (Provider::Gemini, "x-goog-api-key", KEY.to_owned()),
    ] {
        let server = server([Reply::text(provider, "yes")]);
        ask(&client(provider, &server), PLENTY).await.unwrap();
        let request = &server.requests()[0];
        assert_eq!(request.header(name), Some(value.as_str()));
        let others = request.headers.iter().filter(|(header, _)| header != name);
        assert!(others.into_iter().all(|(_, value)| !value.contains(KEY)));
        assert!(!request.path.contains(KEY) && !request.body.contains(KEY));
    }
}

#[tokio::test]
async fn no_header_is_sent_without_a_key() {
    for provider in PROVIDERS {
        let server = server([Reply::text(provider, "yes")]);
        let client = builder(provider, &server).build().unwrap();
        ask(&client, PLENTY).await.unwrap();
        for name in ["authorization", "x-api-key", "x-goog-api-key"] {
            assert_eq!(server.requests()[0].header(name), None);
        }
    }
}

#[tokio::test]
async fn key_is_read_from_the_environment() {
    let provider = Provider::OpenAi;
    let server = server([Reply::text(provider, "yes")]);
    // A variable that Cargo sets for tests.
    let source = KeySource::Env("CARGO_PKG_NAME".to_owned());
    let client = builder(provider, &server).key(source).build().unwrap();
    ask(&client, PLENTY).await.unwrap();
    let sent = server.requests()[0]
        .header("authorization")
        .map(str::to_owned);
    assert_eq!(sent.as_deref(), Some("Bearer baler-models"));
}

#[test]
fn missing_key_is_reported_before_anything_is_sent() {
    for provider in PROVIDERS {
        let server = server([]);
        let source = KeySource::Env("BALER_TEST_NOT_SET".to_owned());
        let error = builder(provider, &server).key(source).build().unwrap_err();
        assert!(error.to_string().contains("BALER_TEST_NOT_SET"), "{error}");
        assert!(server.requests().is_empty());
    }
}

#[test]
fn debug_output_hides_the_key() {
    let server = server([]);
    for provider in PROVIDERS {
        let client = client(provider, &server);
        assert!(!format!("{client:?} {client:#?}").contains("0123456789"));
    }
}

#[tokio::test]
async fn error_that_repeats_the_key_is_redacted() {
    for provider in PROVIDERS {
        for status in [401, 400, 429, 501, 600] {
            // At every place, so that no cut leaves a part of the key.
            for before in (0..220).step_by(20) {
                let said = format!("{}{KEY} is wrong", "x".repeat(before));
                for reply in [
                    Reply::error(provider, status, &said),
                    Reply::body(status, "text/plain", said.clone()),
                    Reply::json(status, &serde_json::json!({"detail": said})),
                    Reply::json(
                        200,
                        &serde_json::json!({"error": {"code": 400, "message": said}}),
                    ),
                ] {
                    let server = server([reply.header("retry-after", "999")]);
                    let error = ask(&client(provider, &server), PLENTY).await.unwrap_err();
                    let shown = format!("{error} {error:?}");
                    assert!(!shown.contains("sk-test"), "{shown}");
                }
            }
        }
    }
}

#[tokio::test]
async fn answer_that_repeats_the_key_is_redacted() {
    for provider in PROVIDERS {
        let said = format!("The agent used {KEY}.");
        let server = server([Reply::text(provider, &said)]);
        let answer = ask(&client(provider, &server), PLENTY).await.unwrap();
        assert_eq!(answer.text, "The agent used [key].", "{provider:?}");
    }
}

#[tokio::test]
async fn finish_reason_that_repeats_the_key_is_redacted() {
    for (provider, body) in [
        (
            Provider::OpenAi,
            serde_json::json!({"choices": [{"message": {"content": "x"}, "finish_reason": KEY}]}),
        ),
        (
            Provider::Anthropic,
            serde_json::json!({"content": [], "stop_reason": KEY}),
        ),
        (
            Provider::Gemini,
            serde_json::json!({"candidates": [{"content": {}, "finishReason": KEY}]}),
        ),
    ] {
        let server = server([Reply::json(200, &body)]);
        let error = ask(&client(provider, &server), PLENTY).await.unwrap_err();
        assert!(!error.to_string().contains("sk-test"), "{error}");
    }
}

#[tokio::test]
async fn key_is_not_sent_to_the_target_of_a_redirect() {
    for provider in PROVIDERS {
        for status in [301, 302, 303, 307, 308] {
            let thief = server([]);
            thief.set_default_reply(Reply::text(provider, "yes"));
            let location = format!("http://localhost:{}/v1", thief.address().port());
            let server =
                server([Reply::body(status, "text/plain", "").header("location", &location)]);
            let error = ask(&client(provider, &server), PLENTY).await.unwrap_err();
            let ModelError::Refused(reason) = error else {
                panic!("{error:?}");
            };
            assert!(reason.contains("the base URL leads elsewhere"), "{reason}");
            assert_eq!(thief.requests(), []);
        }
    }
}
