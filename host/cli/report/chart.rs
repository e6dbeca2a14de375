//! Charts of means with their intervals: one row for each strategy, one panel for each budget. A chart is
//! rendered as markup of a page, as a separate SVG file, and as a table.

use maud::{Markup, html};
use serde::Deserialize;

use super::words::{Px, Untrusted, label};

/// The style sheet with the colours, for pages and for files.
pub(crate) const COLOURS: &str = include_str!("colours.css");

/// A mean, and the interval that holds 95 % of the bootstrap's means.
#[derive(Debug, Clone, Copy, Deserialize)]
pub(crate) struct Interval {
    pub(crate) mean: f64,
    pub(crate) low: f64,
    pub(crate) high: f64,
    pub(crate) conversations: u64,
}

/// The fewest conversations of which an interval is shown (`host/eval/src/statistics.rs` says why).
const LEAST: u64 = 10;

impl Interval {
    /// Returns the bounds, if they say how certain the mean is.
    fn bounds(&self) -> Option<[f64; 2]> {
        (self.conversations >= LEAST).then_some([self.low, self.high])
    }

    fn text(&self) -> String {
        self.bounds().map_or_else(
            || format!("{:.2}", self.mean),
            |[low, high]| format!("{:.2} ({low:.2}–{high:.2})", self.mean),
        )
    }
}

/// A chart.
pub(crate) struct Chart<'a> {
    pub(crate) title: String,
    /// The caption of the axis, which goes from 0 to 1.
    pub(crate) axis: &'static str,
    pub(crate) rows: Vec<Row<'a>>,
    pub(crate) panels: Vec<Panel>,
}

pub(crate) struct Row<'a> {
    pub(crate) name: &'a str,
    /// Whether the row is a baseline, which the others are compared with.
    pub(crate) is_baseline: bool,
}

pub(crate) struct Panel {
    pub(crate) title: String,
    /// A point for each row.
    pub(crate) points: Vec<Option<Point>>,
}

/// A figure of a strategy.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Point {
    pub(crate) of: Interval,
    /// Whether results were over the budget too often to compare it with others.
    pub(crate) is_over: bool,
}

const NAMES: f64 = 176.0;
const HEAD: f64 = 30.0;
const LINE: f64 = 22.0;
const FOOT: f64 = 44.0;
/// The width of the figures to the right of a panel.
const FIGURE: f64 = 38.0;

impl Chart<'_> {
    fn size(&self) -> (f64, f64) {
        let panels = self.panels.len().max(1) as f64;
        let width = NAMES + panels * self.panel();
        (width, HEAD + self.rows.len() as f64 * LINE + FOOT)
    }

    /// Returns whether anything was measured.
    pub(crate) fn has_points(&self) -> bool {
        let mut panels = self.panels.iter();
        panels.any(|panel| panel.points.iter().any(Option::is_some))
    }

    fn is_any_over(&self) -> bool {
        let points = self.panels.iter().flat_map(|panel| &panel.points);
        points.flatten().any(|point| point.is_over)
    }

    fn panel(&self) -> f64 {
        (784.0 / self.panels.len().max(1) as f64).clamp(150.0, 400.0)
    }

    /// Returns the chart as markup of a page.
    pub(crate) fn svg(&self) -> Markup {
        let (width, height) = self.size();
        html! {
            svg viewBox={ "0 0 " (Px(width)) " " (Px(height)) } width=(Px(width)) role="img" aria-label={ (self.title) "; the table below has the figures" } {
                (self.drawing())
            }
        }
    }

    /// Returns the chart as the content of a self-contained SVG file.
    #[cfg(feature = "eval")]
    pub(crate) fn file(&self) -> String {
        let (width, height) = self.size();
        let drawn = html! {
            svg xmlns="http://www.w3.org/2000/svg" viewBox={ "-16 -40 " (Px(width + 32.0)) " " (Px(height + 48.0)) } width=(Px(width + 32.0)) height=(Px(height + 48.0)) role="img" {
                title { (self.title) }
                style { (maud::PreEscaped(COLOURS)) }
                rect class="paper" x="-16" y="-40" width=(Px(width + 32.0)) height=(Px(height + 48.0)) {}
                text class="title" x="0" y="-14" { (self.title) }
                (self.drawing())
            }
        };
        drawn.into_string() + "\n"
    }

    fn drawing(&self) -> Markup {
        let bottom = HEAD + self.rows.len() as f64 * LINE;
        let (width, height) = self.size();
        html! {
            @for (index, row) in self.rows.iter().enumerate() {
                @let y = HEAD + (index as f64 + 0.5) * LINE;
                @if index % 2 == 0 {
                    rect class="band" x="0" y=(Px(y - LINE / 2.0)) width=(Px(width)) height=(Px(LINE)) {}
                }
                text class=(if row.is_baseline { "name baseline" } else { "name" }) x=(Px(NAMES - 12.0)) y=(Px(y + 4.0)) text-anchor="end" {
                    title { (Untrusted(row.name)) }
                    (label(row.name, 24))
                }
            }
            @for (index, panel) in self.panels.iter().enumerate() {
                @let left = NAMES + index as f64 * self.panel();
                @let wide = self.panel() - FIGURE - 14.0;
                text class="panel" x=(Px(left)) y="18" { (panel.title) }
                @for tick in [0.0, 0.25, 0.5, 0.75, 1.0] {
                    @let x = left + tick * wide;
                    line class=(if tick == 0.0 { "axis" } else { "grid" }) x1=(Px(x)) x2=(Px(x)) y1=(Px(HEAD)) y2=(Px(bottom)) {}
                    @if tick == 0.0 || tick == 0.5 || tick == 1.0 {
                        text class="tick" x=(Px(x)) y=(Px(bottom + 16.0)) text-anchor="middle" { (tick) }
                    }
                }
                @for (row, (point, of)) in panel.points.iter().zip(&self.rows).enumerate() {
                    @let y = HEAD + (row as f64 + 0.5) * LINE;
                    @match point {
                        None => text class="tick" x=(Px(left + wide + 12.0)) y=(Px(y + 4.0)) { "–" },
                        Some(point) => (mark(point, of, left, wide, y)),
                    }
                }
            }
            text class="tick" x=(Px(f64::midpoint(NAMES, width))) y=(Px(height - 8.0)) text-anchor="middle" {
                (self.axis) @if self.is_any_over() { " (* over the budget too often to compare)" }
            }
        }
    }

    /// Returns the same figures as a table.
    pub(crate) fn table(&self) -> Markup {
        html! {
            table {
                caption { (self.title) ": mean, interval of 95 % (of ten conversations and more), conversations" }
                thead { tr { th scope="col" { "strategy" } @for panel in &self.panels { th scope="col" class="number" { (panel.title) } } } }
                tbody {
                    @for (index, row) in self.rows.iter().enumerate() {
                        tr {
                            th scope="row" { (Untrusted(row.name)) @if row.is_baseline { span class="muted" { " (baseline)" } } }
                            @for panel in &self.panels {
                                td class="number" {
                                    @match panel.points.get(index).copied().flatten() {
                                        None => "–",
                                        Some(Point { of, is_over }) => {
                                            (of.text()) span class="muted" { ", of " (of.conversations) }
                                            @if is_over { span class="changed" { ", over the budget" } }
                                        },
                                    }
                                }
                            }
                        }
                    }
                }
            }
        }
    }
}

fn mark(point: &Point, of: &Row<'_>, left: f64, wide: f64, y: f64) -> Markup {
    let x = |value: f64| Px(left + value.clamp(0.0, 1.0) * wide);
    let Point { of: point, is_over } = point;
    let class = match (is_over, of.is_baseline) {
        (true, _) => "mark over",
        (false, true) => "mark baseline",
        (false, false) => "mark",
    };
    html! {
        g class=(class) {
            title { (Untrusted(of.name)) ": " (point.text()) ", of " (point.conversations) " conversations" @if *is_over { "; over the budget" } }
            @if let Some([low, high]) = point.bounds() {
                line x1=(x(low)) x2=(x(high)) y1=(Px(y)) y2=(Px(y)) {}
                @for end in [low, high] {
                    line x1=(x(end)) x2=(x(end)) y1=(Px(y - 4.0)) y2=(Px(y + 4.0)) {}
                }
            }
            circle cx=(x(point.mean)) cy=(Px(y)) r="4.5" {}
        }
        text class=(if *is_over { "figure over" } else { "figure" }) x=(Px(left + wide + 12.0)) y=(Px(y + 4.0)) { (format!("{:.2}", point.mean)) @if *is_over { "*" } }
    }
}
