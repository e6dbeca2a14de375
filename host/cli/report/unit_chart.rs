//! The strip of a compaction: a column for each unit, whose height is the number of its tokens.

use std::collections::BTreeSet;

use maud::{Markup, html};

use super::read::{Run, Unit, UnitOutcome};
use super::words::{Px, Untrusted};
use crate::figures::{cleaned, number};

/// The most columns in one line.
const PER_LINE: usize = 150;

/// The most columns that are drawn, and rows of the table. More would slow a browser down.
pub(crate) const MOST: usize = 4_000;

/// The most codes that are shown for one unit. A strategy gives one or two.
const CODES: usize = 8;

const LEFT: f64 = 64.0;
const WIDTH: f64 = 896.0;
const HIGH: f64 = 132.0;
const ABOVE: f64 = 8.0;
const BELOW: f64 = 30.0;
/// The minimum height of a column, so that the outcome of small units can be seen next to a huge one.
const LEAST: f64 = 3.0;

const QUOTED: &str = ", quoted in an inserted text";

impl UnitOutcome {
    pub(crate) const ALL: [Self; 5] = [
        Self::Kept,
        Self::Rewritten,
        Self::Joined,
        Self::Removed,
        Self::Inserted,
    ];

    pub(crate) const fn name(self) -> &'static str {
        match self {
            Self::Kept => "kept",
            Self::Rewritten => "rewritten",
            Self::Joined => "joined",
            Self::Removed => "removed",
            Self::Inserted => "inserted",
        }
    }

    const fn about(self) -> &'static str {
        match self {
            Self::Kept => "byte-identical",
            Self::Rewritten => "in the result, with some parts changed",
            Self::Joined => "unchanged, and joined with a text of the strategy",
            Self::Removed => "not in the result",
            Self::Inserted => "a text that the strategy wrote",
        }
    }
}

/// Returns the patterns that columns are filled with, once for each page. Not all readers can distinguish
/// colours.
pub(crate) fn patterns() -> Markup {
    html! {
        svg class="patterns" width="0" height="0" aria-hidden="true" {
            defs {
                pattern id="rewritten" width="6" height="6" patternUnits="userSpaceOnUse" patternTransform="rotate(45)" {
                    rect class="ground" width="6" height="6" {} rect class="ink" width="3" height="6" {}
                }
                pattern id="removed" width="5" height="5" patternUnits="userSpaceOnUse" patternTransform="rotate(-45)" {
                    rect class="ground" width="5" height="5" {} rect class="ink" width="1.5" height="5" {}
                }
                pattern id="inserted" width="5" height="5" patternUnits="userSpaceOnUse" {
                    rect class="ground" width="5" height="5" {} circle class="ink" cx="2.5" cy="2.5" r="1.3" {}
                }
                pattern id="joined" width="6" height="6" patternUnits="userSpaceOnUse" {
                    rect class="ground" width="6" height="6" {} rect class="ink" width="6" height="2" {}
                }
            }
        }
    }
}

/// Returns the strip with its legend and its table.
pub(crate) fn figure(run: &Run, units: &[Unit]) -> Markup {
    let drawn = &units[..units.len().min(MOST)];
    let reasons = reasons(run, drawn);
    html! {
        figure {
            figcaption { "Unit by unit, the oldest first; the height is the number of tokens" }
            ul class="legend" {
                @for outcome in UnitOutcome::ALL.iter().filter(|outcome| drawn.iter().any(|unit| unit.outcome == **outcome)) {
                    li title=(outcome.about()) { svg viewBox="0 0 14 14" width="14" height="14" aria-hidden="true" { rect class=(outcome.name()) x="0.5" y="0.5" width="13" height="13" {} } (outcome.name()) }
                }
                @if drawn.iter().any(|unit| unit.protected) {
                    li title="instructions, pinned units, the user's words, pending calls, outputs that the model has not seen" { svg viewBox="0 0 14 14" width="14" height="14" aria-hidden="true" { rect class="protected" x="0" y="9" width="14" height="4" {} } "protected: must not be removed" }
                }
            }
            div class="scroll" tabindex="0" role="group" aria-label="strip of units" { (svg(drawn, &reasons)) }
            @if drawn.len() < units.len() {
                p class="muted" { (number((units.len() - drawn.len()) as u64)) " more units are not shown." }
            }
            details {
                summary { "Table of units" }
                div class="scroll" tabindex="0" role="group" aria-label="table of units" { (table(drawn, &reasons)) }
            }
        }
    }
}

/// Returns the codes of each unit that is drawn.
fn reasons<'a>(run: &'a Run, drawn: &[Unit]) -> Vec<Vec<&'a str>> {
    let units = drawn.iter().filter_map(|unit| unit.unit).max();
    let mut codes = vec![Vec::new(); units.map_or(0, |last| last.saturating_add(1).min(MOST))];
    // Units with fewer than `CODES` codes. Many reasons may name all units, so full ones are skipped.
    let mut open: BTreeSet<usize> = (0..codes.len()).collect();
    for reason in run.receipt.reasons.iter() {
        let first = reason.first as usize;
        let end = first.saturating_add(reason.count as usize);
        let named: Vec<usize> = open.range(first..end).copied().collect();
        for unit in named {
            codes[unit].push(reason.code.as_str());
            if codes[unit].len() == CODES {
                open.remove(&unit);
            }
        }
    }
    codes
}

fn reasons_of(unit: &Unit, reasons: &[Vec<&str>]) -> String {
    let codes = unit.unit.and_then(|unit| reasons.get(unit));
    codes.map_or_else(String::new, |codes| codes.join(", "))
}

fn svg(units: &[Unit], reasons: &[Vec<&str>]) -> Markup {
    let lines = units.len().div_ceil(PER_LINE).max(1);
    let high = if lines == 1 { HIGH } else { HIGH / 1.4 };
    let line = ABOVE + high + BELOW;
    let pitch = (WIDTH / units.len().clamp(1, PER_LINE) as f64).min(44.0);
    let wide = (pitch - (pitch * 0.2).min(3.0)).max(1.0);
    let size = |unit: &Unit| unit.tokens_before.max(unit.tokens_after.unwrap_or(0));
    let most = units.iter().map(size).max().unwrap_or(0).max(1);
    let scaled = |tokens: u32| (f64::from(tokens) / f64::from(most) * high).max(LEAST);
    let (width, height) = (LEFT + WIDTH, lines as f64 * line);
    html! {
        svg class="strip" viewBox={ "0 0 " (Px(width)) " " (Px(height)) } width=(Px(width)) role="img" aria-label={ "outcome of " (units.len()) " units and inserted texts; the table below has the figures" } {
            @for (index, units) in units.chunks(PER_LINE).enumerate() {
                @let ground = index as f64 * line + ABOVE + high;
                line class="grid" x1=(Px(LEFT)) x2=(Px(width)) y1=(Px(ground - high)) y2=(Px(ground - high)) {}
                text class="tick" x=(Px(LEFT - 8.0)) y=(Px(ground - high + 4.0)) text-anchor="end" { (number(most)) }
                text class="tick" x=(Px(LEFT - 8.0)) y=(Px(ground + 4.0)) text-anchor="end" { "0" }
                line class="axis" x1=(Px(LEFT)) x2=(Px(width)) y1=(Px(ground)) y2=(Px(ground)) {}
                @for (column, unit) in units.iter().enumerate() {
                    @let x = LEFT + column as f64 * pitch + (pitch - wide) / 2.0;
                    @let shown = unit.tokens_after.filter(|_| unit.outcome != UnitOutcome::Removed).unwrap_or(unit.tokens_before);
                    @if unit.outcome == UnitOutcome::Rewritten {
                        rect class="was" x=(Px(x)) y=(Px(ground - scaled(unit.tokens_before))) width=(Px(wide)) height=(Px(scaled(unit.tokens_before))) {}
                    }
                    rect class={ "unit " (unit.outcome.name()) } x=(Px(x)) y=(Px(ground - scaled(shown))) width=(Px(wide)) height=(Px(scaled(shown))) {
                        title { (hint(unit, reasons)) }
                    }
                    @if unit.protected {
                        rect class="protected" x=(Px(x)) y=(Px(ground + 3.0)) width=(Px(wide)) height="4" {}
                    }
                    @if let Some(number) = unit.unit.filter(|number| is_labelled(*number, pitch)) {
                        text class="tick" x=(Px(x + wide / 2.0)) y=(Px(ground + 20.0)) text-anchor="middle" { (number) }
                    }
                }
            }
        }
    }
}

/// Returns whether a unit's number fits below its column.
fn is_labelled(unit: usize, pitch: f64) -> bool {
    let steps = [1, 2, 5, 10, 20, 50];
    let step = steps.into_iter().find(|step| *step as f64 * pitch >= 26.0);
    unit.is_multiple_of(step.unwrap_or(100))
}

fn hint(unit: &Unit, reasons: &[Vec<&str>]) -> String {
    let mut hint = match unit.unit {
        Some(number) => format!("unit {number}: "),
        None => String::new(),
    };
    hint.push_str(&format!("{}, {}", cleaned(&unit.kind), unit.outcome.name()));
    let before = number(unit.tokens_before);
    hint.push_str(&match (unit.outcome, unit.tokens_after.map(number)) {
        (UnitOutcome::Removed, _) | (_, None) => format!(", {before} tokens"),
        (UnitOutcome::Rewritten | UnitOutcome::Joined, Some(after)) => {
            format!(", {before} → {after} tokens")
        }
        (UnitOutcome::Kept | UnitOutcome::Inserted, Some(after)) => format!(", {after} tokens"),
    });
    if unit.protected {
        hint.push_str(", protected");
    }
    if unit.quoted {
        hint.push_str(QUOTED);
    }
    let codes = reasons_of(unit, reasons);
    if !codes.is_empty() {
        hint.push_str(&format!(" ({codes})"));
    }
    crate::figures::shortened(&hint)
}

fn table(units: &[Unit], reasons: &[Vec<&str>]) -> Markup {
    html! {
        table {
            thead { tr {
                th scope="col" class="number" { "unit" } th scope="col" { "kind" } th scope="col" { "outcome" } th scope="col" { "protected" }
                th scope="col" class="number" { "messages" } th scope="col" class="number" { "tokens before" } th scope="col" class="number" { "after" } th scope="col" { "reason" }
            } }
            tbody {
                @for unit in units {
                    tr {
                        th scope="row" class="number" { @match unit.unit { Some(number) => (number), None => "+" } }
                        td { (Untrusted(&unit.kind)) }
                        td class=(unit.outcome.name()) { (unit.outcome.name()) @if unit.quoted { (QUOTED) } }
                        td { @if unit.protected { "yes" } }
                        td class="number" { (number(unit.messages as u64)) }
                        td class="number" { (number(unit.tokens_before)) }
                        td class="number" { @match unit.tokens_after { Some(after) => (number(after)), None => "–" } }
                        td { (Untrusted(&reasons_of(unit, reasons))) }
                    }
                }
            }
        }
    }
}
