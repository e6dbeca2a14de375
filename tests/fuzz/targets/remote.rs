//! A strategy that runs somewhere else, and the host that answers for it, as `baler serve` does,
//! where questions and answers are spoilt on their way: neither host panics, each reads what the
//! other wrote, and whatever plan comes back, the result is valid, within its budget or at its
//! floor, has what must stay, and is smaller; or nothing changed.

#![no_main]

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use baler_fuzz::{HOST, budget, check_any_plan, host_of, made, strategy};
use baler_fuzz_inputs::Spoiler;
use baler_generated::Choices;
use baler_host::conversation::Deadline;
use baler_host::{
    Request, Strategy,
    fault::Fault,
    receipt::{Attempt, AttemptResult},
    remote::{AnswerError, AnswerFuture, Operation, Remote, RemoteError},
    request::ThinkingPolicy,
    strategy::IntrospectError,
};
use libfuzzer_sys::fuzz_target;

/// Things that go wrong with each question, and with each answer.
const SPOILERS: usize = 3;

fuzz_target!(|data: &[u8]| {
    let choices = &mut Choices::from_bytes(data);
    let elsewhere = Arc::new(Elsewhere {
        chain: [strategy(choices)],
        questions: spoilers(choices),
        answers: spoilers(choices),
        is_answer_spoilt: AtomicBool::new(false),
    });
    let mut request = Request::default()
        .with_budget(budget(choices))
        .with_required(choices.one_in(4));
    request.policy.remove_media = choices.one_in(4);
    request.policy.rewrite_outputs = !choices.one_in(4);
    request.policy.excerpts = !choices.one_in(4);
    request.policy.rewrite_assistant = choices.one_in(4);
    request.policy.thinking = match choices.below(6) {
        4 => ThinkingPolicy::Keep,
        5 => ThinkingPolicy::Drop,
        _ => ThinkingPolicy::Auto,
    };
    let made = made(choices);
    let host = host_of(made.kind);
    let conversation = host.read(made.document()).expect("it is one of the format");
    let strategy = Strategy::remote(Arc::clone(&elsewhere) as Arc<dyn Remote>);

    // A clock for the strategy's time, of which nothing here takes any.
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_time()
        .build()
        .expect("a runtime");
    let (said, gate, compaction) = runtime.block_on(async {
        (
            host.introspect(&strategy, None).await,
            host.should_compact(&conversation, &strategy, &request)
                .await,
            host.compact(&conversation, std::slice::from_ref(&strategy), &request)
                .await
                .expect("no archive that could fail"),
        )
    });
    check_any_plan(&conversation, &compaction, &request);
    if !elsewhere.is_answer_spoilt.load(Ordering::Relaxed) {
        let is_read = !matches!(said, Err(IntrospectError::Fault(Fault::OutputMalformed)));
        assert!(is_read, "what a host says of itself");
        assert!(is_read_by(&gate.attempt), "{:?}", gate.attempt);
        let attempt = compaction.receipt().attempts.first();
        assert!(attempt.is_none_or(is_read_by), "{attempt:?}");
    }
});

/// Another host, and the way there and back.
#[derive(Debug)]
struct Elsewhere {
    chain: [Strategy; 1],
    questions: Vec<Spoiler>,
    answers: Vec<Spoiler>,
    is_answer_spoilt: AtomicBool,
}

impl Remote for Elsewhere {
    fn name(&self) -> &str {
        "elsewhere"
    }

    fn address(&self) -> &str {
        "fuzz:elsewhere"
    }

    fn ask(&self, question: Operation, request: String, _: usize) -> AnswerFuture<'_> {
        Box::pin(async move {
            let asked = spoilt(&self.questions, &request);
            match HOST
                .answer(question, &asked, &self.chain, &Deadline::never())
                .await
            {
                Ok(answer) => {
                    let answered = spoilt(&self.answers, &answer);
                    if answered != answer {
                        self.is_answer_spoilt.store(true, Ordering::Relaxed);
                    }
                    Ok(answered.into_bytes())
                }
                Err(error) => {
                    let is_about_form =
                        matches!(error, AnswerError::Malformed { .. } | AnswerError::Contract);
                    assert!(!is_about_form || asked != request, "{error}: {request}");
                    Err(RemoteError::Status(422))
                }
            }
        })
    }
}

fn spoilers(choices: &mut Choices<'_>) -> Vec<Spoiler> {
    (0..SPOILERS).map(|_| Spoiler::new(choices)).collect()
}

fn spoilt(spoilers: &[Spoiler], text: &str) -> String {
    spoilers
        .iter()
        .fold(text.to_owned(), |text, spoiler| spoiler.spoil(&text))
}

/// Whether the answer had the form of one, whatever was in it.
fn is_read_by(attempt: &Attempt) -> bool {
    !matches!(
        attempt.result,
        AttemptResult::Fault {
            fault: Fault::OutputMalformed
        }
    )
}
