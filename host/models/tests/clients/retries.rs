use std::sync::atomic::{AtomicU32, Ordering};

use super::*;

/// Asks a server that follows a script to its end.
async fn ask_with(
    provider: Provider,
    script: Vec<Reply>,
    time: Duration,
) -> (Result<Answer, ModelError>, usize) {
    let server = server(script);
    let client = builder(provider, &server).build().unwrap();
    let result = ask(&client, time).await;
    (result, server.requests().len())
}

#[tokio::test]
async fn transient_errors_are_retried() {
    for status in [408, 409, 425, 429, 500, 502, 503, 504, 524, 529] {
        let provider = PROVIDERS[usize::from(status) % 4];
        let script = vec![
            Reply::error(provider, status, "not now"),
            Reply::text(provider, "yes"),
        ];
        let (result, requests) = ask_with(provider, script, PLENTY).await;
        assert_eq!(result.unwrap().text, "yes", "{status}");
        assert_eq!(requests, 2);
    }
}

#[tokio::test]
async fn retry_sends_the_same_request() {
    let provider = Provider::Anthropic;
    let server = server([Reply::raw(""), Reply::text(provider, "yes")]);
    let client = builder(provider, &server).build().unwrap();
    ask(&client, PLENTY).await.unwrap();
    let requests = server.requests();
    assert_eq!(requests.len(), 2);
    assert_eq!(requests[0], requests[1]);
}

#[tokio::test]
async fn permanent_errors_are_not_retried() {
    for provider in PROVIDERS {
        for status in [400, 401, 402, 403, 404, 413, 422, 501] {
            let script = vec![
                Reply::error(provider, status, "no"),
                Reply::text(provider, "yes"),
            ];
            let (result, requests) = ask_with(provider, script, PLENTY).await;
            assert!(result.is_err(), "{status}");
            assert_eq!(requests, 1, "{status}");
            match status {
                413 => assert_eq!(result, Err(ModelError::TooLong { fits: None })),
                501 => assert!(matches!(result, Err(ModelError::Unavailable(_)))),
                _ => assert!(matches!(result, Err(ModelError::Refused(_))), "{result:?}"),
            }
        }
    }
}

#[tokio::test]
async fn retry_waits_as_long_as_the_server_asks() {
    let provider = Provider::OpenAi;
    let script = vec![
        Reply::error(provider, 429, "slow").header("retry-after", "1"),
        Reply::text(provider, "yes"),
    ];
    let start = Instant::now();
    let (result, requests) = ask_with(provider, script, PLENTY).await;
    assert_eq!((result.unwrap().text.as_str(), requests), ("yes", 2));
    assert!(start.elapsed() >= Duration::from_secs(1));
}

#[tokio::test]
async fn retry_after_the_deadline_is_not_waited_for() {
    let provider = Provider::Anthropic;
    let start = Instant::now();
    let script = vec![Reply::error(provider, 529, "Overloaded").header("retry-after", "3600")];
    let (result, requests) = ask_with(provider, script, PLENTY).await;
    assert!(start.elapsed() < Duration::from_secs(5));
    assert_eq!(requests, 1);
    let Err(ModelError::Unavailable(reason)) = result else {
        panic!("{result:?}");
    };
    assert!(
        reason.starts_with("status 529, Overloaded (1 attempt in "),
        "{reason}"
    );
    assert!(
        reason.ends_with("it asks to wait for 3600.0 s)"),
        "{reason}"
    );
}

#[tokio::test]
async fn persistent_failure_is_reported_with_the_number_of_attempts() {
    for status in [429, 500, 529] {
        let server = server([]);
        let provider = Provider::Gemini;
        server.set_default_reply(Reply::error(provider, status, "not now"));
        let client = builder(provider, &server).build().unwrap();
        let result = ask(&client, Duration::from_secs(2)).await;
        let Err(ModelError::Unavailable(reason)) = result else {
            panic!("{result:?}");
        };
        let requests = server.requests().len();
        assert!((2..=4).contains(&requests), "{requests}");
        let start = format!("status {status}, not now ({requests} attempts in ");
        assert!(reason.starts_with(&start), "{reason}");
    }
}

#[tokio::test]
async fn timeout_is_reported_with_the_error_before_it() {
    let provider = Provider::OpenAi;
    let script = vec![Reply::error(provider, 503, "not now"), Reply::silence()];
    let (result, requests) = ask_with(provider, script, Duration::from_secs(2)).await;
    assert_eq!(requests, 2);
    let Err(ModelError::Unavailable(reason)) = result else {
        panic!("{result:?}");
    };
    let start = "status 503, not now; then no answer within ";
    assert!(reason.starts_with(start), "{reason}");
}

#[tokio::test]
async fn nothing_is_sent_without_time() {
    let (result, requests) = ask_with(Provider::OpenAi, vec![], Duration::ZERO).await;
    assert!(
        matches!(result, Err(ModelError::Unavailable(_))),
        "{result:?}"
    );
    assert_eq!(requests, 0);
}

#[tokio::test]
async fn nothing_is_retried_without_permission() {
    let provider = Provider::OpenAi;
    let server = server([]);
    server.set_default_reply(Reply::error(provider, 503, "not now"));
    let client = builder(provider, &server).build().unwrap();
    let asked = AtomicU32::new(0);
    // Permits one retry.
    let may_retry = || asked.fetch_add(1, Ordering::Relaxed) == 0;
    let question = question();
    let result = client.ask(&question, PLENTY, &may_retry).await;
    assert_eq!(server.requests().len(), 2);
    let Err(ModelError::Unavailable(reason)) = result else {
        panic!("{result:?}");
    };
    let start = "status 503, not now (2 attempts in ";
    assert!(reason.starts_with(start), "{reason}");
    let end = "; no further request is granted)";
    assert!(reason.ends_with(end), "{reason}");
}
