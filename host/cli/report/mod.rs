//! Report pages, made of receipts and evaluations. A page is self-contained, runs no script and holds no text
//! of a message. Every value on it may be untrusted; the markup escapes it.

mod chart;
pub(crate) mod unit_chart;
pub(crate) mod compaction;
mod evaluation;
mod life;
pub(crate) mod read;
pub(crate) mod reasons;
pub(crate) mod words;

use maud::{DOCTYPE, Markup, PreEscaped, html};

#[cfg(feature = "http")]
pub(crate) use chart::COLOURS;
#[cfg(feature = "eval")]
pub(crate) use evaluation::Evaluation;
pub(crate) use read::{Source, source};
pub(crate) use words::quoted;

/// The style sheet of pages, without the colours.
pub(crate) const STYLE: &str = include_str!("page.css");

/// Forbids the browser to load or run anything, even if a value was not escaped.
const POLICY: &str =
    "default-src 'none'; style-src 'unsafe-inline'; base-uri 'none'; form-action 'none'";

/// Returns the page of these files, in their order.
pub(crate) fn page(sources: &[(String, Source)]) -> String {
    let runs: Vec<life::Named<'_>> = sources
        .iter()
        .enumerate()
        .filter_map(|(index, (file, source))| match source {
            Source::Run(run) => Some((index + 1, file.as_str(), run.as_ref())),
            Source::Evaluation(_) => None,
        })
        .collect();
    let title = match runs.as_slice() {
        [] => "What strategies keep".to_owned(),
        [(_, file, run)] => format!(
            "{}: {}",
            words::label(file, 60),
            compaction::result(&run.receipt)
        ),
        many => format!("{} compactions of a conversation", many.len()),
    };
    let page: Markup = html! {
        (DOCTYPE)
        html lang="en" {
            head {
                meta charset="utf-8";
                meta http-equiv="Content-Security-Policy" content=(POLICY);
                meta name="viewport" content="width=device-width, initial-scale=1";
                meta name="referrer" content="no-referrer";
                title { (title) " – baler" }
                style { (PreEscaped(chart::COLOURS)) (PreEscaped(STYLE)) }
            }
            body {
                header {
                    h1 { (title) }
                    p class="muted" { "Counts, names, content hashes and codes; no text of a message." }
                }
                main {
                    @if !runs.is_empty() { (unit_chart::patterns()) }
                    @if runs.len() > 1 { (life::section(&runs)) }
                    @for (index, (file, source)) in sources.iter().enumerate() {
                        @match source {
                            Source::Run(run) => (compaction::section((index + 1, file, run))),
                            Source::Evaluation(of) => (of.section(file, index + 1)),
                        }
                    }
                }
                footer { "Made by baler " (env!("CARGO_PKG_VERSION")) "." }
            }
        }
    };
    page.into_string() + "\n"
}

/// Returns the contents of the chart files of an evaluation, in the order of [`chart_files`]; `None` for a chart without a
/// point.
#[cfg(feature = "eval")]
pub(crate) fn charts(evaluation: &Evaluation) -> impl Iterator<Item = Option<String>> {
    let charts = evaluation.all();
    charts.map(|chart| chart.has_points().then(|| chart.file()))
}

/// Returns the names of the chart files.
#[cfg(feature = "eval")]
pub(crate) fn chart_files() -> impl Iterator<Item = String> {
    let figures = evaluation::FIGURES.iter();
    figures.map(|figure| format!("{}.svg", figure.name))
}
