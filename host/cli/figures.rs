//! Figures and foreign words, as people see them.

use std::time::Duration;

use crate::visible::is_active;

/// A number with its thousands apart.
pub(crate) fn number(number: impl TryInto<u64>) -> String {
    let digits = number.try_into().unwrap_or(u64::MAX).to_string();
    let mut grouped = String::with_capacity(digits.len() * 4 / 3);
    for (index, digit) in digits.chars().enumerate() {
        if index > 0 && (digits.len() - index).is_multiple_of(3) {
            grouped.push(',');
        }
        grouped.push(digit);
    }
    grouped
}

/// `1 unit`, `2 units`, `3 entries`.
pub(crate) fn count(how_many: impl TryInto<u64>, what: &str) -> String {
    let number = number(how_many);
    match (number.as_str(), what.strip_suffix('y')) {
        ("1", _) => format!("{number} {what}"),
        (_, Some(stem)) => format!("{number} {stem}ies"),
        (_, None) => format!("{number} {what}s"),
    }
}

/// Bytes in the unit that suits them.
pub(crate) fn bytes(bytes: u64) -> String {
    const UNITS: [(&str, u64); 3] = [("GiB", 1 << 30), ("MiB", 1 << 20), ("KiB", 1 << 10)];
    for (unit, size) in UNITS {
        if bytes >= size {
            let whole = bytes / size;
            let tenths = bytes % size * 10 / size;
            return if tenths == 0 {
                format!("{whole} {unit}")
            } else {
                format!("{whole}.{tenths} {unit}")
            };
        }
    }
    format!("{bytes} B")
}

/// A time in the unit that suits it.
pub(crate) fn time(time: Duration) -> String {
    let tenths = |number: u128, unit: &str| match number % 10 {
        0 => format!("{} {unit}", number / 10),
        rest => format!("{}.{rest} {unit}", number / 10),
    };
    match time.as_micros() {
        micros @ 0..1_000 => format!("{micros} µs"),
        micros @ 1_000..1_000_000 => tenths(micros / 100, "ms"),
        micros => tenths(micros / 100_000, "s"),
    }
}

/// Untrusted words on one line, without the characters that a terminal would act on. (Those of
/// any other text are spelled out where it is written, see `output.rs`.)
pub(crate) fn cleaned(text: &str) -> String {
    text.chars()
        .map(|c| if c == '\n' || c == '\t' { ' ' } else { c })
        .filter(|c| !is_active(*c))
        .collect()
}

/// Untrusted text as [`cleaned`], shortened to 500 characters.
pub(crate) fn shortened(text: &str) -> String {
    const LENGTH: usize = 500;
    let mut short: String = cleaned(text).chars().take(LENGTH).collect();
    if text.chars().count() > LENGTH {
        short.push('…');
    }
    short
}

/// Returns a time in UTC, given in seconds since 1970; the last one of the year 9999 for all later ones.
#[cfg(feature = "http")]
pub(crate) fn utc(seconds: u64) -> String {
    let since = std::time::Duration::from_secs(seconds.min(253_402_300_799));
    humantime::format_rfc3339_seconds(std::time::UNIX_EPOCH + since).to_string()
}

/// Returns the status of an answer; a dash if the client left before there was one.
#[cfg(feature = "http")]
pub(crate) fn status(exchange: &baler_proxy::Exchange) -> String {
    match exchange.status {
        0 => "-".to_owned(),
        status => status.to_string(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn figures_read_well() {
        assert_eq!(number(1_234_567u64), "1,234,567");
        assert_eq!(number(999u64), "999");
        assert_eq!(count(1, "unit"), "1 unit");
        assert_eq!(bytes(1_536), "1.5 KiB");
        assert_eq!(bytes(64 << 20), "64 MiB");
        assert_eq!(time(Duration::from_micros(1_250)), "1.2 ms");
        assert_eq!(time(Duration::from_secs(2)), "2 s");
    }

    #[test]
    fn cleaned_text_holds_nothing_that_a_terminal_acts_on() {
        assert_eq!(cleaned("a\u{1b}[31mb\u{202e}c\nd\u{7}"), "a[31mbc d");
    }
}
