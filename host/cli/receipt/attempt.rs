//! What became of one attempt: its result with the remedy, the component, what it used and reported.

use std::fmt::Write as _;
use std::time::Duration;

use baler_host::{
    Limits, Strategy,
    fault::{DeclaredFailure, Fault, Quantity},
    model::ModelUsage,
    receipt::{Attempt, AttemptResult, ComponentInfo, FreeText, Usage, Verification},
    strategy::{Metric, MetricValue, Permission},
};

use super::row;
use crate::figures::{self, cleaned, number};
use crate::output::{BAD, BOLD, CHANGED, FAINT, GOOD, styled};

/// Adds the lines of an attempt.
pub(super) fn push(text: &mut String, attempt: &Attempt, chain: &[Strategy]) {
    let name = styled(BOLD, &cleaned(&attempt.strategy));
    // Writing to a string cannot fail.
    let _ = writeln!(text, "\n{name}: {}", result(attempt));
    if let Some(remedy) = remedy_of_attempt(attempt) {
        let _ = writeln!(text, "  → {remedy}");
    }
    push_usage(text, attempt, chain);
    push_model(text, attempt);
    if let Some(verification) = attempt.verification {
        row(text, "verified", verified(verification));
    }
    push_reported(text, attempt);
}

/// Returns the result of an attempt, in words.
fn result(attempt: &Attempt) -> String {
    match &attempt.result {
        AttemptResult::Accepted => styled(GOOD, "its plan was applied"),
        AttemptResult::Declined => styled(CHANGED, "it declined"),
        AttemptResult::Fault { fault } => styled(BAD, &fault.to_string()),
        AttemptResult::Failure { failure } => styled(BAD, &failure.to_string()),
        AttemptResult::Host { error } => styled(BAD, &cleaned(error)),
        AttemptResult::Quarantined => styled(BAD, "not run: in quarantine after too many faults"),
        AttemptResult::Busy => styled(BAD, "not run: too many of its calls were running"),
        _ => styled(BAD, "no result"),
    }
}

/// Returns what to do about the result of an attempt; `None` if nothing has to be done.
fn remedy_of_attempt(attempt: &Attempt) -> Option<String> {
    match &attempt.result {
        // Some strategies return a plan although the model did not answer.
        AttemptResult::Accepted => attempt
            .model
            .filter(|model| model.failed == model.calls)
            .and_then(|model| model.failure)
            .map(|failure| remedy_of_model(failure).to_owned()),
        AttemptResult::Fault { fault } => Some(remedy(fault)),
        AttemptResult::Failure { .. } => {
            let hint = if attempt.free_text.is_none() {
                " (--words shows its message)"
            } else {
                ""
            };
            let of_model = attempt.model.and_then(|model| model.failure);
            let remedy = match (attempt.declared_failure(), of_model) {
                (_, Some(failure)) => remedy_of_model(failure),
                (Some(DeclaredFailure::Model), None) if attempt.model.is_some() => {
                    "use a model that answers better, or a strategy that asks none"
                }
                _ => "check its config, or ask its author",
            };
            Some(format!("{remedy}{hint}"))
        }
        AttemptResult::Host { .. } => {
            Some("the strategy did not cause this; try again, or with lower limits".to_owned())
        }
        _ => None,
    }
}

/// Adds the component, its permissions, and what the attempt used; of other strategies only the time.
fn push_usage(text: &mut String, attempt: &Attempt, chain: &[Strategy]) {
    let Some(component) = &attempt.component else {
        row(text, "used", &time_of(&attempt.usage));
        return;
    };
    let limits = chain
        .iter()
        .find(|strategy| strategy.name() == attempt.strategy)
        .map_or_else(Limits::default, |strategy| *strategy.limits());
    let contract = styled(FAINT, &component.contract);
    row(
        text,
        "is",
        &format!("{} {contract}", short_digest(component)),
    );
    row(text, "may", &permissions(component));
    let time = match attempt.model {
        Some(_) => limits.model_time,
        None => limits.time,
    };
    row(text, "used", &usage(&attempt.usage, &limits, time));
}

/// Adds what the attempt asked a model, or that it asked nothing although it may.
fn push_model(text: &mut String, attempt: &Attempt) {
    let may_ask = attempt
        .component
        .as_ref()
        .is_some_and(|component| component.permissions.contains(&Permission::Model));
    if let Some(model) = &attempt.model {
        row(text, "asked", &asked(model));
    } else if may_ask && matches!(attempt.result, AttemptResult::Accepted) {
        row(text, "asked", "no model: there was nothing to ask it");
    }
}

/// Returns what came of asking a strategy twice, in words.
fn verified(verification: Verification) -> &'static str {
    match verification {
        Verification::Same => "asked twice, with the same answer",
        Verification::Different => "asked twice, with different answers",
        Verification::CutOff => "no: the second answer was cut off",
        Verification::AskedModel => "no: it asked a model, which may answer in another way",
        _ => "unknown",
    }
}

/// Adds what the strategy itself reports: log lines, figures and free text.
fn push_reported(text: &mut String, attempt: &Attempt) {
    if attempt.usage.log_lines > 0 && attempt.free_text.is_none() {
        let dropped = match attempt.usage.log_lines_dropped {
            0 => String::new(),
            lines => format!(", and {} above the limit, which are gone", number(lines)),
        };
        let logged = figures::count(attempt.usage.log_lines, "line");
        row(
            text,
            "logged",
            &format!("{logged}{dropped}; --words shows them"),
        );
    }
    if !attempt.metrics.is_empty() {
        let metrics: Vec<String> = attempt.metrics.iter().map(metric).collect();
        row(text, "reports", &metrics.join(", "));
    }
    if let Some(words) = &attempt.free_text {
        push_free_text(text, words);
    }
}

/// Returns a figure that a strategy reports, as text. Its name and value are untrusted.
pub(crate) fn metric(metric: &Metric) -> String {
    let value = match &metric.value {
        MetricValue::Count(count) => number(*count),
        MetricValue::Ratio(ratio) => ratio.to_string(),
        MetricValue::Flag(flag) => if *flag { "yes" } else { "no" }.to_owned(),
        MetricValue::Text(text) => format!("`{}`", cleaned(text)),
    };
    format!("{} {value}", cleaned(&metric.name))
}

/// Adds the free-text messages of a strategy.
fn push_free_text(text: &mut String, words: &FreeText) {
    if let Some(reason) = &words.reason {
        row(text, "says", &cleaned(reason));
    }
    for line in &words.log {
        let level = format!("{:?}", line.level).to_lowercase();
        row(
            text,
            "logs",
            &format!("{} {}", styled(FAINT, &level), cleaned(&line.text)),
        );
    }
}

/// Returns the remedy for the newest question to a model that failed.
fn remedy_of_model(failure: &str) -> &'static str {
    match failure {
        "unavailable" => "the model did not answer: check that its server is running",
        "refused" => "the provider refused the question: check the key and the model's name",
        "too-long" => {
            "the model's window is too small: set it with --model-window, or name another model"
        }
        "spent" => "the limits of the model are used up: raise --model-calls or --model-cost",
        _ => "the model gave no usable answer: try again, or another model",
    }
}

/// Returns what a strategy asked a model, in words.
fn asked(model: &ModelUsage) -> String {
    let mut line = format!(
        "a model {}, {} tokens in and {} out, {:.1} s",
        match model.calls {
            1 => "once".to_owned(),
            calls => format!("{} times", number(calls)),
        },
        number(model.input_tokens),
        number(model.output_tokens),
        model.time_us as f64 / 1e6
    );
    if let Some(cost) = model.cost {
        let _ = write!(line, ", cost {cost:.4}");
    }
    line
}

/// Returns the remedy for a fault, with the option that applies it.
pub(crate) fn remedy(fault: &Fault) -> String {
    let option = match fault {
        Fault::OutOfFuel { .. } => " (--fuel)",
        Fault::Timeout { .. } => " (--timeout)",
        Fault::Memory { .. } => " (--memory)",
        Fault::OverBudget {
            what: Quantity::Bytes,
            ..
        } => " (--max-bytes, --config)",
        Fault::OverBudget {
            what: Quantity::Media,
            ..
        } => " (--max-media, --config)",
        Fault::OverBudget { .. } => " (--budget, --config)",
        _ => "",
    };
    format!("{}{option}", fault.remedy())
}

/// Returns the beginning of the content hash of a component, enough to distinguish components.
pub(crate) fn short_digest(component: &ComponentInfo) -> String {
    component
        .content_hash
        .to_string()
        .chars()
        .take("sha256:".len() + 12)
        .collect()
}

/// Returns what a component may do, in words.
pub(crate) fn permissions(component: &ComponentInfo) -> String {
    if component.permissions.is_empty() {
        return "only compute".to_owned();
    }
    let words: Vec<&str> = component
        .permissions
        .iter()
        .map(|permission| match permission {
            Permission::Conversation => "read the conversation",
            Permission::Tokenizer => "count tokens",
            Permission::Log => "log",
            Permission::Model => "ask a model, if you grant one",
            Permission::Wasi => "use WASI, with nothing behind it",
            other => other.name(),
        })
        .collect();
    words.join(", ")
}

/// Returns what a component used of its limits, in words.
fn usage(usage: &Usage, limits: &Limits, time: Duration) -> String {
    let fuel = match usage.fuel {
        Some(fuel) => number(fuel),
        None => "unknown".to_owned(),
    };
    format!(
        "fuel {fuel} of {}; {} of {}; {} of {} of memory; {}",
        number(limits.fuel),
        time_of(usage),
        figures::time(time),
        figures::bytes(usage.memory_bytes),
        figures::bytes(limits.memory as u64),
        figures::count(usage.host_calls, "host call"),
    )
}

fn time_of(usage: &Usage) -> String {
    figures::time(Duration::from_micros(usage.time_us))
}
