//! The sizes of requests over time.

use baler_proxy::{Action, Exchange};
use maud::{Markup, html};

use super::page::short;
use super::when;
use crate::figures::number;
use crate::report::words::Px;

const LEFT: f64 = 52.0;
const WIDTH: f64 = 960.0;
const TOP: f64 = 30.0;
const HIGH: f64 = 200.0;
const BELOW: f64 = 26.0;

/// The most columns. With more requests, a column is the largest of several.
const COLUMNS: usize = 240;

/// The widest column.
const WIDEST: f64 = 28.0;

/// Compactions of which the number fits above the chart.
const NUMBERED: usize = 24;

/// A column: requests in a row, of which the largest count.
#[derive(Debug, Default)]
struct Column<'a> {
    first: usize,
    came: u32,
    sent: u32,
    /// The last compaction among them, with its number.
    compaction: Option<(usize, &'a Exchange)>,
}

fn columns(exchanges: &[Exchange]) -> Vec<Column<'_>> {
    let counted = || (1..).zip(exchanges).filter(|(_, of)| of.tokens[0] > 0);
    let many = counted().count().div_ceil(COLUMNS).max(1);
    let mut columns: Vec<Column<'_>> = Vec::new();
    let mut compactions = 0;
    for (index, (place, exchange)) in counted().enumerate() {
        if index % many == 0 {
            columns.push(Column {
                first: place,
                ..Column::default()
            });
        }
        let Some(column) = columns.last_mut() else {
            continue;
        };
        let [came, sent] = exchange.tokens;
        column.came = column.came.max(came);
        column.sent = column.sent.max(sent);
        if exchange.action == Action::Compacted {
            compactions += 1;
            column.compaction = Some((compactions, exchange));
        }
    }
    columns
}

/// Returns the numbers at the axis, of which the last is not below `most`.
fn ticks(most: u32) -> Vec<f64> {
    let most = f64::from(most.max(4));
    let power = 10_f64.powf((most / 4.0).log10().floor());
    let steps = [1.0, 2.0, 2.5, 5.0, 10.0].map(|step| step * power);
    let step = steps.into_iter().find(|step| step * 5.0 >= most);
    let step = step.unwrap_or(most);
    let many = (most / step).ceil() as u32;
    (0..=many).map(|tick| f64::from(tick) * step).collect()
}

/// Returns the chart of a session; `None` if no request was counted.
pub(super) fn sizes(exchanges: &[Exchange], budget: Option<u32>) -> Option<Markup> {
    let columns = columns(exchanges);
    let (first, last) = (exchanges.first()?, exchanges.last()?);
    let most = columns.iter().map(|column| column.came).max()?;
    let ticks = ticks(most);
    let top = ticks.last().copied()?;
    let ground = TOP + HIGH;
    let high = |tokens: u32| f64::from(tokens) / top * HIGH;
    let pitch = ((WIDTH - LEFT) / columns.len() as f64).min(WIDEST);
    let gap = if pitch >= 4.0 {
        (pitch * 0.25).min(3.0)
    } else {
        0.0
    };
    let wide = pitch - gap;
    let right = LEFT + pitch * columns.len() as f64;
    let compactions = columns.iter().filter(|column| column.compaction.is_some());
    let is_numbered = compactions.count() <= NUMBERED;
    let described = format!(
        "sizes of {} requests: at most {} tokens came, at most {} were sent; the table of requests has the figures",
        exchanges.len(),
        number(most),
        number(columns.iter().map(|column| column.sent).max()?),
    );
    Some(html! {
        svg viewBox={ "0 0 " (Px(WIDTH)) " " (Px(ground + BELOW)) } width=(Px(WIDTH)) role="img" aria-label=(described) {
            @for (index, tick) in ticks.iter().enumerate() {
                @let y = ground - tick / top * HIGH;
                line class=(if index == 0 { "axis" } else { "grid" }) x1=(Px(LEFT)) x2=(Px(WIDTH)) y1=(Px(y)) y2=(Px(y)) {}
                text class="tick" x=(Px(LEFT - 8.0)) y=(Px(y + 4.0)) text-anchor="end" { (short(*tick as u64)) }
            }
            @for (index, column) in columns.iter().enumerate() {
                @let x = LEFT + index as f64 * pitch + gap / 2.0;
                g {
                    title { (hint(column)) }
                    rect class="came" x=(Px(x)) y=(Px(ground - high(column.came))) width=(Px(wide)) height=(Px(high(column.came))) {}
                    rect class="sent" x=(Px(x)) y=(Px(ground - high(column.sent))) width=(Px(wide)) height=(Px(high(column.sent))) {}
                    @if let Some((place, _)) = column.compaction {
                        @let middle = x + wide / 2.0;
                        line class="cut" x1=(Px(middle)) x2=(Px(middle)) y1=(Px(TOP - 6.0)) y2=(Px(ground)) {}
                        path class="cut" d={ "M" (Px(middle - 4.0)) " " (Px(TOP - 12.0)) "h8l-4 7z" } {}
                        @if is_numbered { text class="tick" x=(Px(middle)) y=(Px(TOP - 16.0)) text-anchor="middle" { (place) } }
                    }
                }
            }
            @if let Some(budget) = budget.filter(|budget| f64::from(*budget) <= top) {
                @let y = ground - high(budget);
                line class="budget" x1=(Px(LEFT)) x2=(Px(right)) y1=(Px(y)) y2=(Px(y)) { title { "budget " (number(budget)) } }
            }
            text class="tick" x=(Px(LEFT)) y=(Px(ground + 18.0)) { "request 1, " (when::day_and_time(first.time)) }
            @if columns.len() > 1 && right - LEFT > 420.0 {
                text class="tick" x=(Px(right)) y=(Px(ground + 18.0)) text-anchor="end" { "request " (exchanges.len()) ", " (when::span(last.time.saturating_sub(first.time))) " later" }
            }
        }
    })
}

fn hint(column: &Column<'_>) -> String {
    let sizes = format!(
        "from request {}: {} tokens came, {} sent",
        column.first,
        number(column.came),
        number(column.sent)
    );
    match column.compaction {
        Some((place, exchange)) => {
            let [came, sent] = exchange.tokens;
            format!(
                "compaction {place}: {} tokens → {}",
                number(came),
                number(sent)
            )
        }
        None => sizes,
    }
}

/// The size of a sparkline, and its most columns.
const SPARK: (f64, f64, usize) = (120.0, 28.0, 60);

/// Returns a small chart of the same, without words: the row that it stands in has the figures.
pub(super) fn sparkline(sizes: &[[u32; 2]]) -> Markup {
    let (width, height, most) = SPARK;
    let many = sizes.len().div_ceil(most).max(1);
    let largest = |column: &[[u32; 2]], which: usize| {
        let sizes = column.iter().filter_map(|sizes| sizes.get(which));
        sizes.copied().max().unwrap_or(0)
    };
    let columns: Vec<[u32; 2]> = sizes
        .chunks(many)
        .map(|column| [largest(column, 0), largest(column, 1)])
        .collect();
    let top = f64::from(largest(&columns, 0).max(1));
    let pitch = (width / columns.len().max(1) as f64).min(6.0);
    let path = |which: usize| {
        let mut path = format!("M0 {height:.1}");
        for (index, column) in columns.iter().enumerate() {
            let size = column.get(which).copied().unwrap_or(0);
            let y = height - f64::from(size) / top * height;
            path.push_str(&format!("V{y:.1}H{:.1}", (index + 1) as f64 * pitch));
        }
        path + &format!("V{height:.1}z")
    };
    html! {
        svg class="spark" viewBox={ "0 0 " (Px(width)) " " (Px(height)) } width=(Px(width)) height=(Px(height)) aria-hidden="true" {
            path class="came" d=(path(0)) {}
            path class="sent" d=(path(1)) {}
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_axis_has_few_round_numbers() {
        for (most, expected) in [
            (0, vec![0, 1, 2, 3, 4]),
            (100, vec![0, 20, 40, 60, 80, 100]),
            (131_000, vec![0, 50_000, 100_000, 150_000]),
            (49_000, vec![0, 10_000, 20_000, 30_000, 40_000, 50_000]),
        ] {
            let found: Vec<u64> = ticks(most).iter().map(|tick| *tick as u64).collect();
            assert_eq!(found, expected, "{most}");
        }
    }

    #[test]
    fn a_sparkline_of_nothing_is_empty() {
        assert!(sparkline(&[]).into_string().contains("svg"));
    }
}
