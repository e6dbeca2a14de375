//! Answers to another host, whose remote strategy this server is.

use baler_host::{conversation::Deadline, remote::Operation};

use super::App;
use super::admission::Gates;
use super::catalog::limit_times;
use super::error::ApiError;

/// Answers with the server's default chain.
pub(crate) async fn answer(
    app: &App,
    question: Operation,
    body: &str,
    deadline: &Deadline,
    gates: &Gates,
) -> Result<String, ApiError> {
    let chain = gates.attach(app.catalog.default_chain().to_vec());
    let chain = limit_times(chain, deadline);
    let answer = app.host.answer(question, body, &chain, deadline).await?;
    if question == Operation::Introspect {
        return Ok(with_timeout(app, answer));
    }
    Ok(answer)
}

/// Adds this server's time limit of a request to an answer to `introspect`.
fn with_timeout(app: &App, answer: String) -> String {
    let Ok(serde_json::Value::Object(mut introspection)) = serde_json::from_str(&answer) else {
        return answer;
    };
    // One second more, so that this server's own timeout error still arrives.
    let time = app.limits.request_time.as_millis().saturating_add(1_000);
    let time = u64::try_from(time).unwrap_or(u64::MAX);
    introspection.insert("timeout-ms".to_owned(), time.into());
    serde_json::Value::Object(introspection).to_string()
}
