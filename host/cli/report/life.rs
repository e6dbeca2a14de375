//! The section of a page about several compactions of one conversation: how it grew and was compacted.

use maud::{Markup, html};

use super::read::Run;
use super::words::{Px, Untrusted, share};
use crate::figures::number;

const LEFT: f64 = 72.0;
const WIDTH: f64 = 960.0;
const HIGH: f64 = 220.0;
const TOP: f64 = 24.0;
/// The height of the numbers below the axis.
const BELOW: f64 = 30.0;

/// A run, with the number of its section and the name of its file.
pub(crate) type Named<'a> = (usize, &'a str, &'a Run);

pub(crate) fn section(runs: &[Named<'_>]) -> Markup {
    html! {
        section id="life" {
            h2 { "Over time" }
            figure {
                figcaption { "Tokens over time: falling where it was compacted, rising where it grew; a dash is the budget" }
                div class="scroll" tabindex="0" role="group" aria-label="sizes over time" { (svg(runs)) }
            }
            div class="scroll" { (table(runs)) }
        }
    }
}

fn svg(runs: &[Named<'_>]) -> Markup {
    let sizes = |run: &Run| [run.receipt.tokens.before, run.receipt.tokens.after];
    let all = runs.iter().flat_map(|(_, _, run)| {
        let [before, after] = sizes(run);
        [
            before,
            after,
            run.receipt.tokens.budget.min(before.saturating_mul(2)),
        ]
    });
    let most = all.max().unwrap_or(0).max(1);
    let y = |tokens: u32| TOP + HIGH - f64::from(tokens) / f64::from(most) * HIGH;
    let pitch = (WIDTH - LEFT - 24.0) / runs.len() as f64;
    // A compaction is drawn as a steep fall, the growth up to the next one as a gentle slope.
    let x = |index: usize| {
        let before = LEFT + (index as f64 + 0.6) * pitch;
        [before, before + (pitch * 0.2).min(24.0)]
    };
    let mut way: Vec<String> = Vec::new();
    for (index, (_, _, run)) in runs.iter().enumerate() {
        for (x, tokens) in x(index).into_iter().zip(sizes(run)) {
            way.push(format!("{x:.1},{:.1}", y(tokens)));
        }
    }
    let is_sparse = runs.len() <= 12;
    html! {
        svg viewBox={ "0 0 " (Px(WIDTH)) " " (Px(TOP + HIGH + BELOW)) } width=(Px(WIDTH)) role="img" aria-label="tokens before and after each compaction; the table below has the figures" {
            @for (part, tokens) in [(0.0, 0), (0.5, most / 2), (1.0, most)] {
                @let y = TOP + HIGH - part * HIGH;
                line class=(if part == 0.0 { "axis" } else { "grid" }) x1=(Px(LEFT)) x2=(Px(WIDTH)) y1=(Px(y)) y2=(Px(y)) {}
                text class="tick" x=(Px(LEFT - 8.0)) y=(Px(y + 4.0)) text-anchor="end" { (number(tokens)) }
            }
            polyline class="way" points=(way.join(" ")) {}
            @for (index, (id, _, run)) in runs.iter().enumerate() {
                @let [before, after] = x(index);
                @let tokens = &run.receipt.tokens;
                @if tokens.budget <= most {
                    line class="budget" x1=(Px(before - pitch * 0.2)) x2=(Px(after + pitch * 0.2)) y1=(Px(y(tokens.budget))) y2=(Px(y(tokens.budget))) {
                        title { "budget " (number(tokens.budget)) }
                    }
                }
                circle class="before" cx=(Px(before)) cy=(Px(y(tokens.before))) r="4" { title { "before " (id) ": " (number(tokens.before)) " tokens" } }
                circle class="after" cx=(Px(after)) cy=(Px(y(tokens.after))) r="4" { title { "after " (id) ": " (number(tokens.after)) " tokens" } }
                @if is_sparse {
                    text class="figure" x=(Px(before)) y=(Px(y(tokens.before) - 10.0)) text-anchor="middle" { (number(tokens.before)) }
                    text class="figure" x=(Px(after)) y=(Px(y(tokens.after) + 18.0)) text-anchor="middle" { (number(tokens.after)) }
                }
                @if is_sparse || index.is_multiple_of(runs.len().div_ceil(12)) {
                    text class="tick" x=(Px(f64::midpoint(before, after))) y=(Px(TOP + HIGH + 20.0)) text-anchor="middle" { (id) }
                }
            }
        }
    }
}

fn table(runs: &[Named<'_>]) -> Markup {
    html! {
        table {
            caption { "Each compaction: tokens, units, faults of strategies, and lost tokens of the provider’s cache" }
            thead { tr {
                th scope="col" { "file" } th scope="col" { "outcome" } th scope="col" { "by" }
                th scope="col" class="number" { "before" } th scope="col" class="number" { "after" } th scope="col" class="number" { "" } th scope="col" class="number" { "budget" }
                th scope="col" class="number" { "rewritten" } th scope="col" class="number" { "removed" } th scope="col" class="number" { "inserted" }
                th scope="col" class="number" { "faults" } th scope="col" class="number" { "cache" }
            } }
            tbody {
                @for (id, file, run) in runs {
                    @let receipt = &run.receipt;
                    tr {
                        th scope="row" class="file" { a href={ "#f" (id) } { (id) " " (Untrusted(file)) } }
                        td { (Untrusted(&receipt.outcome)) }
                        td { (Untrusted(receipt.strategy.as_deref().unwrap_or("–"))) @if receipt.fell_back { " " span class="changed" { "fallback" } } }
                        td class="number" { (number(receipt.tokens.before)) }
                        td class="number" { (number(receipt.tokens.after)) }
                        td class="number muted" { (share(receipt.tokens.after.into(), receipt.tokens.before.into())) }
                        td class="number" { (number(receipt.tokens.budget)) }
                        td class="number" { (number(receipt.units.rewritten)) }
                        td class="number" { (number(receipt.units.removed)) }
                        td class="number" { (number(receipt.units.inserted)) }
                        td class="number" { (receipt.attempts.iter().filter(|attempt| attempt.result.is_bad()).count()) }
                        td class="number" { @match &receipt.cache { Some(cache) => (number(cache.tokens_thrown_away)), None => "–" } }
                    }
                }
            }
        }
    }
}
