//! Questions in the form of another host, whose remote strategy this server is.

use baler_host::{Deadline, Question};

use super::App;
use super::admission::Gates;
use super::catalog::within;
use super::error::ApiError;

/// Answers by the chain of who names no strategy.
pub(crate) async fn answer(
    app: &App,
    question: Question,
    body: &str,
    deadline: &Deadline,
    gates: &Gates,
) -> Result<String, ApiError> {
    let chain = gates.before(app.catalog.default_chain().to_vec());
    let chain = within(chain, deadline);
    let answer = app.host.answer(question, body, &chain, deadline).await?;
    if question == Question::Introspect {
        return Ok(with_time(app, answer));
    }
    Ok(answer)
}

/// An answer to who we are, with the time that this server takes for a question.
fn with_time(app: &App, answer: String) -> String {
    let Ok(serde_json::Value::Object(mut said)) = serde_json::from_str(&answer) else {
        return answer;
    };
    // A moment more, so that its own refusal still arrives.
    let time = app.limits.request_time.as_millis().saturating_add(1_000);
    let time = u64::try_from(time).unwrap_or(u64::MAX);
    said.insert("timeout-ms".to_owned(), time.into());
    serde_json::Value::Object(said).to_string()
}
