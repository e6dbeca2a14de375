use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::{Duration, Instant};

use baler_models::{AnswerFuture, MayRetry, Model, ModelError, ModelInfo, Question};

use super::scripted::{Scripted, answer};
use super::{ModelGrant, ModelLimits, Spending};
use crate::conversation::tokenizers::Tokenizer;

fn question(words: usize) -> Question {
    Question::new("harbour ".repeat(words), 1_000).with_instructions("Sum it up.")
}

fn counter() -> Tokenizer {
    Tokenizer::named("o200k_base").expect("is one")
}

fn soon() -> Instant {
    Instant::now() + Duration::from_secs(10)
}

#[tokio::test]
async fn questions_are_asked_until_one_of_the_limits_is_reached() {
    let limits = ModelLimits {
        calls: 2,
        ..ModelLimits::default()
    };
    let few = ModelLimits {
        input_tokens: 500,
        ..ModelLimits::default()
    };
    let short = ModelLimits {
        output_tokens: 10,
        ..ModelLimits::default()
    };
    let cheap = ModelLimits {
        cost: Some(0.003),
        ..ModelLimits::default()
    };
    for (limits, asked, what) in [
        (limits, 2, "2 requests"),
        (few, 4, "500 tokens of questions"),
        (short, 1, "10 tokens of answers"),
        (cheap, 8, "a cost of 0.003"),
    ] {
        let model = Scripted::new((0..9).map(|_| answer("We sailed.")));
        let grant = model.grant().with_limits(limits);
        let spending = Spending::default();
        let mut last = Ok(());
        for _ in 0..9 {
            last = spending
                .ask(&grant, question(80), &counter(), soon())
                .await
                .map(drop);
            if last.is_err() {
                break;
            }
        }
        assert_eq!(last, Err(ModelError::Spent(what.to_owned())));
        assert_eq!(model.asked().len(), asked, "{what}");
        let used = spending.so_far();
        assert_eq!(used.calls as usize, asked);
        assert_eq!(used.input_tokens, 100 * asked as u64);
        assert_eq!(used.output_tokens, 10 * asked as u64);
        let cost = used.cost.expect("prices are known");
        assert!((cost - 0.00012 * asked as f64).abs() < 1e-9, "{cost}");
    }
}

/// ALL-N8, PL-N17, PU-N15
#[tokio::test]
async fn a_question_that_does_not_fit_the_window_is_not_sent() {
    let model = Scripted::with_window([], 2_000);
    let spending = Spending::default();
    let error = spending
        .ask(&model.grant(), question(3_000), &counter(), soon())
        .await
        .expect_err("too long");
    assert_eq!(error, ModelError::TooLong { fits: Some(984) });
    assert!(model.asked().is_empty());
    assert_eq!(spending.so_far().calls, 0);
}

/// ALL-N9, AP-N10, PU-N13
#[tokio::test]
async fn a_model_that_hangs_is_given_up_at_the_deadline() {
    let model = Scripted::hanging();
    let spending = Spending::default();
    let start = Instant::now();
    let deadline = start + Duration::from_millis(500);
    let error = spending
        .ask(&model.grant(), question(1), &counter(), deadline)
        .await
        .expect_err("no answer");
    assert!(matches!(error, ModelError::Unavailable(_)), "{error}");
    assert!(start.elapsed() < Duration::from_secs(5));
    assert_eq!(spending.so_far().failed, 1);
}

#[tokio::test]
async fn where_nobody_says_what_would_fit_half_of_it_may() {
    let model = Scripted::new([Err(ModelError::TooLong { fits: None })]);
    let error = Spending::default()
        .ask(&model.grant(), question(1_000), &counter(), soon())
        .await
        .expect_err("too long");
    let ModelError::TooLong { fits: Some(fits) } = error else {
        panic!("{error}");
    };
    assert!((490..530).contains(&fits), "{fits}");
}

/// A model whose provider never answers. It asks again as often as it may.
#[derive(Debug)]
struct Stubborn {
    info: ModelInfo,
    sent: AtomicU32,
}

impl Model for Stubborn {
    fn info(&self) -> &ModelInfo {
        &self.info
    }

    fn ask<'a>(&'a self, _: &'a Question, _: Duration, again: MayRetry<'a>) -> AnswerFuture<'a> {
        Box::pin(async move {
            self.sent.fetch_add(1, Ordering::Relaxed);
            while again() {
                self.sent.fetch_add(1, Ordering::Relaxed);
            }
            Err(ModelError::Unavailable("status 503".to_owned()))
        })
    }
}

#[tokio::test]
async fn what_is_sent_again_counts_again() {
    let model = Arc::new(Stubborn {
        info: Scripted::new([]).info().clone(),
        sent: AtomicU32::new(0),
    });
    let grant = ModelGrant::new(model.clone()).with_limits(ModelLimits {
        calls: 3,
        ..ModelLimits::default()
    });
    let spending = Spending::default();
    let ask = async || spending.ask(&grant, question(1), &counter(), soon()).await;
    let first = ask().await;
    assert!(
        matches!(first, Err(ModelError::Unavailable(_))),
        "{first:?}"
    );
    assert_eq!(model.sent.load(Ordering::Relaxed), 3);
    let used = spending.so_far();
    // None of them was answered.
    assert_eq!((used.calls, used.failed), (3, 3));
    let second = ask().await;
    assert_eq!(second, Err(ModelError::Spent("3 requests".to_owned())));
    assert_eq!(model.sent.load(Ordering::Relaxed), 3);
}

#[tokio::test]
async fn tokens_and_cost_of_what_is_sent_again_count_each_time() {
    let texts = question(80);
    let one = u64::from(counter().count(texts.instructions.as_deref().expect("has some")))
        + u64::from(counter().count(&texts.prompt))
        + super::QUESTION_TOKENS;
    let limits = ModelLimits::default();
    let few = ModelLimits {
        input_tokens: 3 * one - 1,
        ..limits
    };
    // Half a question more than three questions and an answer of 1000 tokens, each of which costs two of a question.
    let cheap = ModelLimits {
        cost: Some((3.5 * one as f64 + 2_000.0) / 1e6),
        ..limits
    };
    for (limits, sent) in [(few, 2), (cheap, 3)] {
        let model = Arc::new(Stubborn {
            info: Scripted::new([]).info().clone(),
            sent: AtomicU32::new(0),
        });
        let grant = ModelGrant::new(model.clone()).with_limits(limits);
        let spending = Spending::default();
        let result = spending.ask(&grant, question(80), &counter(), soon()).await;
        assert!(
            matches!(result, Err(ModelError::Unavailable(_))),
            "{result:?}"
        );
        assert_eq!(model.sent.load(Ordering::Relaxed), sent);
        let used = spending.so_far();
        assert_eq!((used.calls, used.failed), (sent, sent));
        assert_eq!(used.input_tokens, u64::from(sent) * one);
        let cost = used.cost.expect("prices are known");
        let expected = f64::from(sent) * one as f64 / 1e6;
        assert!((cost - expected).abs() < 1e-9, "{cost}");
    }
}
