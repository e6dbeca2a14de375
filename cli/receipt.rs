//! What people see of a receipt.

use std::fmt::Write as _;
use std::time::Duration;

use baler_host::{
    Limits, Receipt, Strategy,
    fault::{Fault, Quantity},
    model::ModelUsage,
    receipt::{
        Attempt, AttemptResult, CacheEffect, ComponentInfo, FreeText, Outcome, Tokens, Usage,
    },
    strategy::{Metric, MetricValue, Permission},
};

use crate::figures::{self, cleaned, number};
use crate::output::{BAD, BOLD, CHANGED, FAINT, GOOD, styled};

/// What a summary is about, beside the receipt.
#[derive(Debug)]
pub(crate) struct Circumstances<'a> {
    pub(crate) chain: &'a [Strategy],
    pub(crate) archive: Option<&'a str>,
    pub(crate) is_dry_run: bool,
}

/// The receipt in words.
pub(crate) fn text(receipt: &Receipt, circumstances: &Circumstances<'_>) -> String {
    let mut text = headline(receipt, circumstances);
    text.push('\n');
    sizes(&mut text, receipt);
    for attempt in &receipt.attempts {
        tell_attempt(&mut text, attempt, circumstances.chain);
    }
    if receipt.outcome == Outcome::Compacted || !receipt.originals.is_empty() {
        tell_archive(&mut text, receipt, circumstances);
    }
    text
}

fn headline(receipt: &Receipt, circumstances: &Circumstances<'_>) -> String {
    match receipt.outcome {
        Outcome::Compacted => {
            let strategy = cleaned(receipt.strategy.as_deref().unwrap_or_default());
            let verb = if circumstances.is_dry_run {
                "would be compacted"
            } else {
                "compacted"
            };
            if receipt.fell_back {
                let why = below_floor(&receipt.below_floor)
                    .map_or("a fallback".to_owned(), |limits| {
                        format!("{limits} below the floor, so only what has to stay stays")
                    });
                format!("{} by {strategy}: {why}", styled(CHANGED.bold(), verb))
            } else {
                format!("{} by {strategy}", styled(GOOD.bold(), verb))
            }
        }
        Outcome::Repaired(why) => {
            let verb = if circumstances.is_dry_run {
                "would be repaired"
            } else {
                "repaired"
            };
            let verb = styled(GOOD.bold(), verb);
            format!("{verb}, not compacted: {}", why.words())
        }
        Outcome::Unchanged(why) => format!("{}: {}", styled(BOLD, "unchanged"), why.words()),
        _ => styled(BOLD, "done"),
    }
}

/// Which limits cannot be reached, with their verb; none where all can.
fn below_floor(limits: &[Quantity]) -> Option<String> {
    let names: Vec<&str> = limits
        .iter()
        .map(|limit| match limit {
            Quantity::Bytes => "the limit of bytes",
            Quantity::Media => "the limit of media",
            _ => "the budget",
        })
        .collect();
    let verb = if names.len() == 1 { "is" } else { "are" };
    (!names.is_empty()).then(|| format!("{} {verb}", names.join(" and ")))
}

fn sizes(text: &mut String, receipt: &Receipt) {
    let Tokens {
        before,
        after,
        budget,
        floor,
        overhead,
        ..
    } = receipt.tokens;
    let changes = [
        ("tokens", before as usize, after as usize),
        ("bytes", receipt.bytes.before, receipt.bytes.after),
        ("messages", receipt.messages.before, receipt.messages.after),
    ];
    let figures =
        changes.map(|(what, before, after)| (what, number(before as u64), number(after as u64)));
    let wide = |column: fn(&(&str, String, String)) -> usize| {
        figures.iter().map(column).max().unwrap_or(0)
    };
    let (before_wide, after_wide) = (wide(|row| row.1.len()), wide(|row| row.2.len()));
    let is_compacted = receipt.outcome == Outcome::Compacted;
    for ((what, before, after), (_, old, new)) in figures.iter().zip(changes) {
        let line = if is_compacted {
            let share = if old == 0 {
                0.0
            } else {
                new as f64 / old as f64 * 100.0
            };
            format!(
                "{before:>before_wide$} → {after:>after_wide$}  {}",
                styled(FAINT, &format!("{share:>3.0}%"))
            )
        } else {
            format!("{before:>before_wide$}")
        };
        row(text, what, &line);
    }
    let units = receipt.units;
    if is_compacted {
        row(
            text,
            "units",
            &format!(
                "{}: {} kept, {} rewritten, {} removed; {} inserted",
                number(units.before as u64),
                number(units.kept as u64),
                number(units.rewritten as u64),
                number(units.removed as u64),
                figures::count(units.inserted, "text"),
            ),
        );
    } else {
        row(text, "units", &number(units.before as u64));
    }
    let over = if after > budget {
        styled(CHANGED, "  the result is over it")
    } else {
        String::new()
    };
    row(
        text,
        "budget",
        &format!(
            "{} tokens{}{}",
            number(budget),
            styled(
                FAINT,
                &format!("  floor {}, overhead {}", number(floor), number(overhead))
            ),
            if is_compacted { over } else { String::new() }
        ),
    );
    // That of tokens stands in the row above.
    let others = receipt.below_floor.iter().copied();
    let others: Vec<Quantity> = others.filter(|of| *of != Quantity::Tokens).collect();
    if let Some(limits) = below_floor(&others) {
        row(
            text,
            "limits",
            &styled(
                CHANGED,
                &format!("{limits} below what has to stay, so the result is over it"),
            ),
        );
    }
    if let Some(cache) = receipt.cache.filter(|_| is_compacted) {
        row(text, "cache", &cache_effect(&cache));
    }
    if receipt.units.thinking_removed > 0 {
        row(
            text,
            "thinking",
            &format!(
                "{} left out of what stayed",
                figures::count(receipt.units.thinking_removed, "block")
            ),
        );
    }
    if receipt.units.outputs_shortened > 0 {
        row(
            text,
            "outputs",
            &format!(
                "shortened {} that the model has not seen",
                figures::count(receipt.units.outputs_shortened, "output")
            ),
        );
    }
    if !receipt.repairs.is_empty() {
        row(text, "repaired", &repairs(receipt));
    }
    row(
        text,
        "counted",
        &format!("{} with {}", receipt.format, receipt.tokenizer),
    );
}

fn repairs(receipt: &Receipt) -> String {
    let counts = &receipt.repair_counts;
    let rules: Vec<&str> = counts.rules.iter().map(|own| own.rule.id()).collect();
    let listed = match receipt.repairs.len() {
        all if all == counts.total => "them".to_owned(),
        some => format!("the first {}", number(some)),
    };
    format!(
        "{} for {}; the receipt (--receipt, --json) lists {listed}",
        figures::count(counts.total, "change"),
        rules.join(", ")
    )
}

pub(crate) fn cache_effect(cache: &CacheEffect) -> String {
    let thrown_away = format!(
        "{} of {} cached tokens cannot be used again",
        number(cache.tokens_thrown_away),
        number(cache.tokens_cached)
    );
    let saved = format!("each later request saves {}", number(cache.tokens_saved));
    if cache.pays_after_requests == 0 {
        format!("{thrown_away}; {saved}")
    } else {
        format!(
            "{thrown_away}; {saved}, which pays after {}",
            figures::count(cache.pays_after_requests as usize, "request")
        )
    }
}

fn row(text: &mut String, name: &str, value: &str) {
    // Writing to a string cannot fail.
    let _ = writeln!(text, "  {name:<8}  {value}");
}

fn tell_attempt(text: &mut String, attempt: &Attempt, chain: &[Strategy]) {
    let name = styled(BOLD, &cleaned(&attempt.strategy));
    let mut more = Vec::new();
    let said = match &attempt.result {
        AttemptResult::Accepted => {
            // Some do without an answer.
            if let Some(model) = attempt.model.filter(|model| model.failed == model.calls)
                && let Some(failure) = model.failure
            {
                more.push(remedy_of_model(failure).to_owned());
            }
            styled(GOOD, "its plan was carried out")
        }
        AttemptResult::Declined => styled(CHANGED, "it says that nothing should be done"),
        AttemptResult::Fault { fault } => {
            more.push(remedy(fault));
            styled(BAD, &fault.to_string())
        }
        AttemptResult::Failure { failure } => {
            let hint = if attempt.free_text.is_none() {
                " (--words shows what it says)"
            } else {
                ""
            };
            let failure_of_model = attempt.model.and_then(|model| model.failure);
            let remedy =
                failure_of_model.map_or("check its config, or ask its author", remedy_of_model);
            more.push(format!("{remedy}{hint}"));
            styled(BAD, &failure.to_string())
        }
        AttemptResult::Host { error } => {
            more.push("the strategy is not to blame; try again, or with lower limits".to_owned());
            styled(BAD, &cleaned(error))
        }
        AttemptResult::Quarantined => styled(BAD, "it faulted too often and rests"),
        AttemptResult::Busy => styled(BAD, "it was not asked: enough of its calls ran already"),
        _ => styled(BAD, "it came to nothing"),
    };
    let _ = writeln!(text, "\n{name}: {said}");
    for line in more {
        let _ = writeln!(text, "  → {line}");
    }
    if let Some(component) = &attempt.component {
        let limits = chain
            .iter()
            .find(|strategy| strategy.name() == attempt.strategy)
            .map_or_else(Limits::default, |strategy| *strategy.limits());
        row(
            text,
            "is",
            &format!(
                "{} {}",
                short_digest(component),
                styled(FAINT, &component.contract)
            ),
        );
        row(text, "may", &permissions(component));
        let time = match attempt.model {
            Some(_) => limits.model_time,
            None => limits.time,
        };
        row(text, "used", &usage(&attempt.usage, &limits, time));
    } else {
        row(text, "used", &time_of(&attempt.usage));
    }
    let may_ask = attempt
        .component
        .as_ref()
        .is_some_and(|component| component.permissions.contains(&Permission::Model));
    if let Some(model) = &attempt.model {
        row(text, "asked", &asked(model));
    } else if may_ask && matches!(attempt.result, AttemptResult::Accepted) {
        row(text, "asked", "no model: there was nothing to ask it");
    }
    if attempt.usage.log_lines > 0 && attempt.free_text.is_none() {
        let lines = usize::try_from(attempt.usage.log_lines).unwrap_or(usize::MAX);
        row(
            text,
            "logged",
            &format!("{}; --words shows them", figures::count(lines, "line")),
        );
    }
    if !attempt.metrics.is_empty() {
        let metrics: Vec<String> = attempt.metrics.iter().map(metric).collect();
        row(text, "reports", &metrics.join(", "));
    }
    if let Some(words) = &attempt.free_text {
        tell_words(text, words);
    }
}

/// A figure of a strategy's own. Its name and words are a stranger's.
pub(crate) fn metric(metric: &Metric) -> String {
    let value = match &metric.value {
        MetricValue::Count(count) => number(*count),
        MetricValue::Ratio(ratio) => ratio.to_string(),
        MetricValue::Flag(flag) => if *flag { "yes" } else { "no" }.to_owned(),
        MetricValue::Text(text) => format!("`{}`", cleaned(text)),
    };
    format!("{} {value}", cleaned(&metric.name))
}

fn tell_words(text: &mut String, words: &FreeText) {
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

/// What to do where the newest question to a model came to nothing.
fn remedy_of_model(failure: &str) -> &'static str {
    match failure {
        "unavailable" => "the model did not answer: is its server there?",
        "refused" => "the provider refused the question: check the key and the model's name",
        "too-long" => {
            "the model's window is too small: name it by --model-window, or another model"
        }
        "spent" => "what it may ask is used up: raise --model-calls or --model-cost",
        _ => "the model gave no usable answer: try again, or another model",
    }
}

/// What was asked of a model.
fn asked(model: &ModelUsage) -> String {
    let mut told = format!(
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
        let _ = write!(told, ", at a price of {cost:.4}");
    }
    told
}

/// What to do about a fault, with the option that does it.
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

/// As much of the digest as tells components apart at a glance.
pub(crate) fn short_digest(component: &ComponentInfo) -> String {
    component
        .content_hash
        .to_string()
        .chars()
        .take("sha256:".len() + 12)
        .collect()
}

/// What a component may do, in words.
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
            Permission::Model => "ask a model, where you grant one",
            other => other.name(),
        })
        .collect();
    words.join(", ")
}

fn usage(usage: &Usage, limits: &Limits, time: Duration) -> String {
    let fuel = match usage.fuel {
        Some(fuel) => number(fuel),
        None => "not known".to_owned(),
    };
    format!(
        "fuel {fuel} of {}; {} of {}; {} of {} of memory; {} of the host",
        number(limits.fuel),
        time_of(usage),
        figures::time(time),
        figures::bytes(usage.memory_bytes),
        figures::bytes(limits.memory as u64),
        figures::count(
            usize::try_from(usage.host_calls).unwrap_or(usize::MAX),
            "call"
        ),
    )
}

fn time_of(usage: &Usage) -> String {
    figures::time(Duration::from_micros(usage.time_us))
}

fn tell_archive(text: &mut String, receipt: &Receipt, circumstances: &Circumstances<'_>) {
    let told = match circumstances.archive {
        Some(place) => {
            let is_compacted = receipt.outcome == Outcome::Compacted;
            let units = receipt
                .archive
                .as_ref()
                .map(Vec::len)
                .filter(|_| is_compacted);
            let units = units.map(|units| figures::count(units, "removed or rewritten unit"));
            let originals = Some(receipt.original_count).filter(|originals| *originals > 0);
            let originals = originals.map(|originals| {
                let messages = figures::count(originals, "message");
                format!("{messages} as they were before the repair")
            });
            let what: Vec<String> = units.into_iter().chain(originals).collect();
            let verb = match circumstances.is_dry_run {
                true => "would archive",
                false => "archived",
            };
            format!("{verb} {} in `{}`", what.join(" and "), cleaned(place))
        }
        _ if circumstances.is_dry_run => {
            "what is removed would be lost: there is no archive".to_owned()
        }
        _ => "what was removed is lost: there is no archive".to_owned(),
    };
    let _ = writeln!(text, "\n{told}");
}
