//! The section of a page about one compaction: sizes, units, reasons, attempts, and how to undo it.

use std::collections::BTreeMap;
use std::time::Duration;

use baler_host::strategy::MetricValue;
use maud::{Markup, html};
use serde_json::Value;

use super::life::Named;
use super::read::{Attempt, Ended, Receipt, Run};
use super::reasons::meaning;
use super::unit_chart;
use super::words::{Px, Untrusted, label, quoted, reference, share};
use crate::figures::{self, count, number};
use crate::receipt::cache_effect;

pub(crate) fn section((id, file, run): Named<'_>) -> Markup {
    let receipt = &run.receipt;
    html! {
        section id={ "f" (id) } {
            h2 { (id) ". " (headline(receipt)) " " code { (Untrusted(file)) } }
            (sizes(receipt))
            (units(run))
            (details(run))
            (retrieval(receipt, file))
            (measured(receipt))
        }
    }
}

/// Returns the strip of units.
fn units(run: &Run) -> Markup {
    match &run.units {
        Some(units) if !units.is_empty() => unit_chart::figure(run, units),
        _ => html! {
            p class="muted" { "A receipt alone does not say how large each unit was; the output of " code { "baler compact --json" } " does." }
        },
    }
}

/// Returns why it was done so: reasons, attempts, the provider's cache, repairs and broken rules.
pub(crate) fn details(run: &Run) -> Markup {
    let receipt = &run.receipt;
    html! {
        (reasons(run))
        (attempts(&receipt.attempts))
        @if let Some(cache) = &receipt.cache { h3 { "The provider’s cache" } p { (cache_effect(cache)) "." } }
        (repairs(receipt))
    }
}

/// Returns by what was counted, and what took how long.
pub(crate) fn measured(receipt: &Receipt) -> Markup {
    html! {
        p class="muted" {
            "Counted as " (Untrusted(&receipt.format)) " with " (Untrusted(&receipt.tokenizer)) ". Trigger: " (Untrusted(&receipt.trigger)) ". Took " (time(receipt.time_us))
            @if !receipt.stages.is_empty() {
                ": " @for (index, (stage, us)) in receipt.stages.iter().take(CODES).enumerate() {
                    @if index > 0 { ", " } (Untrusted(stage.trim_end_matches("-us"))) " " (time(*us))
                }
            }
            "."
        }
    }
}

/// Returns the result in a few words, for a title.
pub(super) fn result(receipt: &Receipt) -> String {
    let tokens = &receipt.tokens;
    match receipt.outcome.as_str() {
        "compacted" => format!(
            "{} tokens become {}",
            number(tokens.before),
            number(tokens.after)
        ),
        other => format!("{}, {} tokens", label(other, 40), number(tokens.before)),
    }
}

pub(crate) fn headline(receipt: &Receipt) -> Markup {
    let by = receipt.strategy.as_deref().unwrap_or_default();
    html! {
        (Untrusted(&receipt.outcome))
        @if let Some(why) = &receipt.why { ": " (Untrusted(&why.replace('-', " "))) }
        @if !by.is_empty() { " by " (Untrusted(by)) }
        @if receipt.fell_back { " " span class="badge changed" { "fallback" } }
    }
}

fn time(us: u64) -> String {
    figures::time(Duration::from_micros(us))
}

/// Returns a table of the sizes before and after, with bars.
pub(crate) fn sizes(receipt: &Receipt) -> Markup {
    let tokens = &receipt.tokens;
    let rows = [
        (
            "tokens",
            u64::from(tokens.before),
            u64::from(tokens.after),
            Some(tokens.budget),
        ),
        (
            "bytes",
            receipt.bytes.before as u64,
            receipt.bytes.after as u64,
            None,
        ),
        (
            "messages",
            receipt.messages.before as u64,
            receipt.messages.after as u64,
            None,
        ),
    ];
    let units = &receipt.units;
    html! {
        div class="scroll" tabindex="0" role="group" aria-label="sizes" { table class="sizes" {
            thead { tr { th scope="col" { "size" } th scope="col" class="number" { "before" } th scope="col" class="number" { "after" } th scope="col" class="number" { "" } th scope="col" { span class="key before" {} " before " span class="key after" {} " after " span class="key limit" {} " budget" } } }
            tbody {
                @for (what, before, after, budget) in rows {
                    tr {
                        th scope="row" { (what) }
                        td class="number" { (number(before)) }
                        td class="number" { (number(after)) }
                        td class="number muted" { (share(after as f64, before as f64)) }
                        td { (bar(before, after, budget)) }
                    }
                }
            }
        } }
        p {
            "Of " (count(units.before, "unit")) ": " (number(units.kept as u64)) " kept, " (number(units.rewritten as u64)) " rewritten, "
            (number(units.removed as u64)) " removed; " (number(units.inserted as u64)) " inserted"
            @if units.thinking_removed > 0 { "; " (number(units.thinking_removed as u64)) " blocks of thinking removed from the remaining messages" }
            @if units.texts_shortened > 0 { "; shortened " (count(units.texts_shortened, "text")) " that must stay" }
            @if units.pictures_left_out > 0 { "; left out " (count(units.pictures_left_out, "picture")) " too large for the provider" }
            ". Budget " (number(tokens.budget)) " tokens; floor " (number(tokens.floor)) " (of which " (number(tokens.overhead)) " overhead: system prompt, tools and instructions)."
            @if tokens.after > tokens.budget { " " span class="changed" { "The result exceeds the budget." } }
        }
    }
}

pub(crate) fn bar(before: u64, after: u64, budget: Option<u32>) -> Markup {
    let most = before.max(after).max(1) as f64;
    let wide = |size: f64| (size / most * 300.0).min(300.0);
    html! {
        svg class="bar" viewBox="0 0 304 22" width="304" height="22" aria-hidden="true" {
            rect class="before" x="0" y="2" width=(Px(wide(before as f64))) height="8" {}
            rect class="after" x="0" y="12" width=(Px(wide(after as f64))) height="8" {}
            @if let Some(budget) = budget.filter(|budget| f64::from(*budget) <= most) {
                line class="limit" x1=(Px(wide(budget.into()))) x2=(Px(wide(budget.into()))) y1="0" y2="22" { title { "budget " (number(budget)) } }
            }
        }
    }
}

/// The most rows of a table of codes.
const CODES: usize = 100;

/// Returns a table of the reason codes, with the number and the tokens of their units.
fn reasons(run: &Run) -> Markup {
    let sizes: BTreeMap<usize, u64> = run
        .units
        .iter()
        .flat_map(|units| units.iter())
        .filter_map(|unit| Some((unit.unit?, u64::from(unit.tokens_before))))
        .collect();
    // Cumulative sums, so that the tokens of a reason's units are found without a loop over them: many
    // reasons may name all units.
    let (numbers, up_to): (Vec<usize>, Vec<u64>) = sizes
        .iter()
        .scan(0u64, |sum, (number, tokens)| {
            *sum += tokens;
            Some((*number, *sum))
        })
        .unzip();
    let before = |unit: u64| {
        let unit = usize::try_from(unit).unwrap_or(usize::MAX);
        match numbers.partition_point(|number| *number < unit) {
            0 => 0,
            units => up_to[units - 1],
        }
    };
    let mut sums: BTreeMap<&str, (u64, u64)> = BTreeMap::new();
    for reason in run.receipt.reasons.iter() {
        let first = u64::from(reason.first);
        let end = first + u64::from(reason.count);
        let sum = sums.entry(reason.code.as_str()).or_default();
        sum.0 += u64::from(reason.count);
        sum.1 = sum.1.saturating_add(before(end) - before(first));
    }
    let mut sums: Vec<_> = sums.into_iter().collect();
    sums.sort_by_key(|(_, (units, tokens))| std::cmp::Reverse((*tokens, *units)));
    let meant = |code: &str| meaning(run.receipt.strategy.as_deref(), code).unwrap_or_default();
    let explains = sums.iter().any(|(code, _)| !meant(code).is_empty());
    html! {
        @if !sums.is_empty() {
            h3 { "Reasons" }
            div class="scroll" tabindex="0" role="group" aria-label="reasons" { table {
                thead { tr { th scope="col" { "code" } th scope="col" class="number" { "units" } @if !sizes.is_empty() { th scope="col" class="number" { "tokens before" } } @if explains { th scope="col" { "the unit" } } } }
                tbody {
                    @for (code, (units, tokens)) in sums.iter().take(CODES) {
                        tr { th scope="row" { (Untrusted(code)) } td class="number" { (number(*units)) } @if !sizes.is_empty() { td class="number" { (number(*tokens)) } } @if explains { td { (meant(code)) } } }
                    }
                }
            } }
            @if sums.len() > CODES { p class="muted" { (number((sums.len() - CODES) as u64)) " more codes are not shown." } }
        }
    }
}

impl Ended {
    /// Returns whether the attempt failed, which the page highlights.
    pub(crate) fn is_bad(&self) -> bool {
        matches!(self.result.as_str(), "fault" | "failure" | "host")
    }

    /// Returns the result with its codes and numbers.
    fn text(&self) -> String {
        let more = match (&self.fault, &self.failure) {
            (Some(fault), _) => coded(fault, "fault"),
            (_, Some(failure)) => coded(failure, "declared"),
            _ => String::new(),
        };
        format!("{}{more}", self.result.as_str())
    }
}

/// Returns the code of a fault or failure, and its numbers.
fn coded(members: &BTreeMap<String, Value>, name: &str) -> String {
    let code = members
        .get(name)
        .and_then(Value::as_str)
        .unwrap_or_default();
    let numbers = members.iter().filter_map(|(key, value)| {
        let value = number(value.as_u64()?);
        Some(format!(", {} {value}", key.replace('-', " ")))
    });
    format!(": {code}{}", numbers.collect::<String>())
}

fn attempts(attempts: &[Attempt]) -> Markup {
    html! {
        @if !attempts.is_empty() {
            h3 { "Attempts" }
            div class="scroll" tabindex="0" role="group" aria-label="attempts" { table {
                thead { tr {
                    th scope="col" { "strategy" } th scope="col" { "result" } th scope="col" class="number" { "fuel" } th scope="col" class="number" { "time" }
                    th scope="col" class="number" { "memory" } th scope="col" class="number" { "host calls" } th scope="col" { "model" } th scope="col" { "reported figures" }
                } }
                tbody { @for attempt in attempts { (row(attempt)) } }
            } }
        }
    }
}

fn row(attempt: &Attempt) -> Markup {
    let class = match attempt.result.result.as_str() {
        "accepted" => "good",
        _ if attempt.result.is_bad() => "bad",
        _ => "changed",
    };
    html! {
        tr {
            th scope="row" class="wide" {
                (Untrusted(&attempt.strategy))
                @if let Some(component) = &attempt.component {
                    div class="muted small" {
                        span title=(figures::shortened(&component.content_hash)) { (super::words::label(&component.content_hash, 20)) } ", " (figures::bytes(component.bytes)) ", " (Untrusted(&component.contract))
                        @if !component.permissions.is_empty() { ", may reach: " (Untrusted(&component.permissions.join(", "))) }
                    }
                }
            }
            td {
                span class=(class) { (Untrusted(&attempt.result.text())) }
                @if let Some(verification) = &attempt.verification {
                    div class="muted small" { "verification: " (Untrusted(verification.as_str())) }
                }
            }
            td class="number" { @match attempt.usage.fuel { Some(fuel) => (number(fuel)), None => "–" } }
            td class="number" { (time(attempt.usage.time_us)) }
            td class="number" { @if attempt.usage.memory_bytes > 0 { (figures::bytes(attempt.usage.memory_bytes)) } @else { "–" } }
            td class="number" { (number(attempt.usage.host_calls)) }
            td { @if let Some(model) = &attempt.model {
                (number(model.calls)) " questions, " (number(model.input_tokens)) " tokens in, " (number(model.output_tokens)) " out"
                @if let Some(cost) = model.cost { ", " (format!("{cost:.4}")) }
            } @else { "–" } }
            // Metrics that are texts are left out, because they may quote the conversation.
            td class="small" { @for (index, metric) in attempt.metrics.iter().filter(|metric| !matches!(metric.value, MetricValue::Text(_))).take(CODES).enumerate() {
                @if index > 0 { ", " } (Untrusted(&metric.name)) " " (figure(&metric.value))
            } }
        }
    }
}

fn figure(value: &MetricValue) -> String {
    match value {
        MetricValue::Flag(flag) => if *flag { "yes" } else { "no" }.to_owned(),
        MetricValue::Count(of) => number(*of),
        MetricValue::Ratio(of) => format!("{of:.3}"),
        MetricValue::Text(_) => "?".to_owned(),
    }
}

fn repairs(receipt: &Receipt) -> Markup {
    html! {
        @if !receipt.repairs.is_empty() {
            h3 { "Repaired first" }
            ul { @for repair in receipt.repairs.iter().take(CODES) {
                li { @if repair.message > 0 { "message " (repair.message) ": " } (Untrusted(&repair.what)) " (" (Untrusted(&repair.rule)) ")" }
            } }
        }
        @if !receipt.violations.is_empty() {
            h3 { "Broken rules" }
            ul { @for violation in receipt.violations.iter().take(CODES) {
                li { (Untrusted(&violation.rule)) @if let Some(severity) = &violation.severity { " (" (Untrusted(severity)) ")" } }
            } }
        }
    }
}

/// Returns whether the page shows this file name exactly. A name that is not UTF-8 has replacement
/// characters.
fn is_shown_exactly(name: &str) -> bool {
    figures::cleaned(name) == name && !name.contains(char::REPLACEMENT_CHARACTER)
}

/// Returns the list of archived content, with the commands that retrieve it.
fn retrieval(receipt: &Receipt, file: &str) -> Markup {
    let units = receipt.archive.iter().flat_map(|archive| archive.iter());
    let units = units.map(|of| (format!("unit {}", of.unit), of.reference.as_str()));
    let originals = receipt.originals.iter().filter_map(|of| {
        let reference = of.reference.as_deref()?;
        Some((
            format!("message {}, before the repair", of.message),
            reference,
        ))
    });
    let stored = receipt.archive.as_ref().map_or(0, |archive| archive.len());
    let repaired = receipt.originals.iter();
    let repaired = match repaired.filter(|of| of.reference.is_some()).count() {
        0 => 0,
        // If one original is stored, all are, whether the receipt lists them or not.
        listed => listed.max(receipt.original_count),
    };
    let stored = stored.saturating_add(repaired);
    let listed: Vec<(String, &str)> = units.chain(originals).take(unit_chart::MOST).collect();
    // A receipt from standard input has no name.
    let name = if file == "-" { "RECEIPT" } else { file };
    html! {
        @if receipt.undo.is_some() {
            h3 { "Restore and retrieve" }
            @if is_shown_exactly(name) {
                p { "The original conversation: " code { "baler undo " (quoted(name)) } }
            } @else {
                p { "The original conversation: " code { "baler undo" } ", with this file, whose name holds characters that cannot be shown." }
            }
        } @else if receipt.outcome.as_str() == "compacted" {
            h3 { "Restore and retrieve" }
            p class="changed" { "There was no archive: the removed content is lost." }
        }
        @if !listed.is_empty() {
            details {
                summary { (count(stored, "entry")) " in the archive" }
                div class="scroll" { table {
                    thead { tr { th scope="col" { "what" } th scope="col" { "command" } } }
                    tbody { @for (what, of) in &listed {
                        tr { th scope="row" { (what) } td { @match reference(of) { Some(of) => code { "baler expand " (of) }, None => span class="bad" { "not a reference" } } } }
                    } }
                } }
                @if stored > listed.len() { p class="muted" { (number((stored - listed.len()) as u64)) " more are not shown." } }
            }
        }
    }
}
