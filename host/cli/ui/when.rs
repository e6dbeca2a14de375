//! When something was. The browser's time zone is not known here, so times are relative, or UTC.

use std::time::{SystemTime, UNIX_EPOCH};

use maud::{Markup, html};

use crate::figures;

/// Returns the seconds since 1970.
pub(super) fn now() -> u64 {
    let since = SystemTime::now().duration_since(UNIX_EPOCH);
    since.map_or(0, |since| since.as_secs())
}

/// Returns how long ago a time was, with the time itself as a hint.
pub(super) fn ago(time: u64) -> Markup {
    let at = written(time);
    html! { time datetime=(at) title=(at) { (since(now().saturating_sub(time))) } }
}

/// Returns a time of day, with the day as a hint.
pub(super) fn clock(time: u64) -> Markup {
    let at = written(time);
    let clock = at.get(11..19).unwrap_or_default().to_owned();
    html! { time datetime=(at) title=(at) { (clock) } }
}

/// Returns a time in UTC.
pub(super) fn written(time: u64) -> String {
    figures::utc(time)
}

/// Returns a time in UTC, as people write it.
pub(super) fn day_and_time(time: u64) -> String {
    let at = written(time);
    let part = |range| at.get(range).unwrap_or_default();
    format!("{} {} UTC", part(0..10), part(11..16))
}

fn since(seconds: u64) -> String {
    match seconds {
        0..60 => "just now".to_owned(),
        60..3_600 => format!("{} min ago", seconds / 60),
        3_600..86_400 => format!("{} h ago", seconds / 3_600),
        86_400..172_800 => "yesterday".to_owned(),
        _ => format!("{} days ago", seconds / 86_400),
    }
}

/// Returns a span of time, such as `2 h 5 min`.
pub(super) fn span(seconds: u64) -> String {
    match seconds {
        0..60 => format!("{seconds} s"),
        60..3_600 => format!("{} min", seconds / 60),
        _ => format!("{} h {} min", seconds / 3_600, seconds % 3_600 / 60),
    }
}
