//! Repeating attempts while time and the caller permit it.

use std::time::{Duration, SystemTime};

use reqwest::header::{HeaderMap, RETRY_AFTER};
use tokio::time::{Instant, sleep_until, timeout_at};

use super::failure::Failure;
use crate::{MayRetry, ModelError};

/// The first pause. Each further pause is twice as long.
const FIRST_PAUSE: Duration = Duration::from_millis(500);
const LONGEST_PAUSE: Duration = Duration::from_secs(30);

/// How long attempts continue if no connection can be made: a server that restarts is back by then.
const UNREACHABLE_TIME: Duration = Duration::from_secs(10);

/// The most attempts at a server that responds with errors. Their pauses together are at most about a minute,
/// unless the server asks for more: a rate limit per minute has passed then, and a caller should not wait
/// longer.
const MAX_ATTEMPTS: u32 = 8;

/// Replaces times that are too long to be added to a clock.
const FOREVER: Duration = Duration::from_secs(365 * 24 * 60 * 60);

/// Repeats attempts until one gives an answer or a final error, `time` is over, or `may_retry` forbids
/// another attempt.
pub(super) async fn within<T, F: Future<Output = Result<T, Failure>>>(
    time: Duration,
    attempt_timeout: Duration,
    may_retry: MayRetry<'_>,
    mut attempt: impl FnMut() -> F,
) -> Result<T, ModelError> {
    let start = Instant::now();
    let until =
        |from: Instant, time: Duration| from.checked_add(time).unwrap_or_else(|| from + FOREVER);
    let deadline = until(start, time.min(FOREVER));
    if time.is_zero() {
        return Err(ModelError::Unavailable(
            "no time was left to ask".to_owned(),
        ));
    }
    let mut attempts = 0_u32;
    let mut last_reason = String::new();
    let mut was_reachable = false;
    loop {
        attempts = attempts.saturating_add(1);
        let now = Instant::now();
        let end = deadline.min(until(now, attempt_timeout.min(FOREVER)));
        let (reason, retry_after) = match timeout_at(end, attempt()).await {
            Ok(Ok(answer)) => return Ok(answer),
            Ok(Err(Failure::Final(error))) => return Err(error),
            Ok(Err(Failure::Transient {
                reason,
                is_unreachable,
                retry_after,
            })) => {
                was_reachable |= !is_unreachable;
                last_reason.clone_from(&reason);
                (reason, retry_after)
            }
            Err(_) => {
                was_reachable = true;
                // The last attempt may have had little time, so the reason before it says more.
                let then = if last_reason.is_empty() {
                    ""
                } else {
                    "; then "
                };
                let waited = (end - now).as_secs_f64();
                (
                    format!("{last_reason}{then}no answer within {waited:.1} s"),
                    None,
                )
            }
        };
        let pause = pause(attempts, retry_after);
        let next = until(Instant::now(), pause);
        // An attempt after the deadline is useless.
        let is_hopeless = !was_reachable && next - start > UNREACHABLE_TIME;
        if next >= deadline || is_hopeless || attempts >= MAX_ATTEMPTS {
            return Err(gave_up(&reason, retry_after, attempts, start.elapsed(), ""));
        }
        if !may_retry() {
            let why = "; no further request is granted";
            return Err(gave_up(
                &reason,
                retry_after,
                attempts,
                start.elapsed(),
                why,
            ));
        }
        sleep_until(next).await;
    }
}

/// The error after the last attempt. `why` is added if neither the time nor the number of attempts ended
/// them.
fn gave_up(
    reason: &str,
    retry_after: Option<Duration>,
    attempts: u32,
    waited: Duration,
    why: &str,
) -> ModelError {
    let times = if attempts == 1 { "attempt" } else { "attempts" };
    let asked = retry_after.map_or(String::new(), |time| {
        format!("; it asks to wait for {:.1} s", time.as_secs_f64())
    });
    ModelError::Unavailable(format!(
        "{reason} ({attempts} {times} in {:.1} s{asked}{why})",
        waited.as_secs_f64()
    ))
}

/// How long to wait after this attempt; the first is 1.
fn pause(attempt: u32, retry_after: Option<Duration>) -> Duration {
    let doubled = FIRST_PAUSE.saturating_mul(1 << (attempt - 1).min(16));
    let longest = doubled.min(LONGEST_PAUSE);
    // Random, so that clients that were rejected together do not return together. A server that asks for
    // hardly any time still gets the usual pause.
    match retry_after {
        Some(time) if time >= FIRST_PAUSE => {
            time.saturating_add(FIRST_PAUSE.mul_f64(fastrand::f64() / 2.0))
        }
        _ => longest.mul_f64(0.5 + fastrand::f64() / 2.0),
    }
}

/// Reads how long a server asks to wait, in any of three forms.
pub(super) fn retry_after(headers: &HeaderMap, now: SystemTime) -> Option<Duration> {
    let text = |name: &str| headers.get(name)?.to_str().ok();
    // OpenAI and Azure.
    if let Some(milliseconds) =
        text("retry-after-ms").and_then(|text| text.trim().parse::<f64>().ok())
    {
        return Duration::try_from_secs_f64(milliseconds / 1_000.0).ok();
    }
    let after = text(RETRY_AFTER.as_str())?.trim();
    if let Ok(seconds) = after.parse::<f64>() {
        return Duration::try_from_secs_f64(seconds).ok();
    }
    let date = httpdate::parse_http_date(after).ok()?;
    // A date in the past means no wait.
    Some(date.duration_since(now).unwrap_or_default())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn asked(name: &'static str, value: &str) -> Option<Duration> {
        let now = httpdate::parse_http_date("Fri, 01 Jan 2027 00:00:00 GMT").unwrap();
        let mut headers = HeaderMap::new();
        headers.insert(name, value.parse().unwrap());
        retry_after(&headers, now)
    }

    #[test]
    fn retry_after_reads_seconds_milliseconds_and_dates() {
        for (name, value, wanted) in [
            ("retry-after", "7", Some(Duration::from_secs(7))),
            ("retry-after", "0.5", Some(Duration::from_millis(500))),
            (
                "retry-after",
                "Fri, 01 Jan 2027 00:00:09 GMT",
                Some(Duration::from_secs(9)),
            ),
            (
                "retry-after",
                "Thu, 31 Dec 2026 00:00:00 GMT",
                Some(Duration::ZERO),
            ),
            ("retry-after-ms", "250", Some(Duration::from_millis(250))),
            ("retry-after", "-1", None),
            ("retry-after", "NaN", None),
            ("retry-after", "1e300", None),
            ("retry-after", "soon", None),
        ] {
            assert_eq!(asked(name, value), wanted, "{name}: {value}");
        }
    }

    #[test]
    fn pauses_double_up_to_a_limit_and_vary() {
        for attempt in 1..100 {
            let longest = FIRST_PAUSE
                .saturating_mul(1 << (attempt - 1).min(10))
                .min(LONGEST_PAUSE);
            let pause = pause(attempt, None);
            assert!(
                pause >= longest / 2 && pause <= longest,
                "{attempt}: {pause:?}"
            );
        }
        let pauses: Vec<_> = (0..10).map(|_| pause(3, None)).collect();
        assert!(pauses.iter().any(|pause| *pause != pauses[0]));
    }

    #[test]
    fn pause_respects_what_the_provider_asks_for() {
        let asked = Duration::from_secs(20);
        let pause = pause(1, Some(asked));
        assert!(pause >= asked && pause < asked + FIRST_PAUSE, "{pause:?}");
        assert_eq!(super::pause(1, Some(Duration::MAX)), Duration::MAX);
        assert!(super::pause(9, Some(Duration::ZERO)) >= LONGEST_PAUSE / 2);
    }

    #[tokio::test(start_paused = true)]
    async fn within_ends_in_time_whatever_the_attempts_do() {
        let time = Duration::from_secs(60);
        for hang in [true, false] {
            let start = Instant::now();
            let result: Result<(), _> =
                within(time, Duration::from_secs(7), &|| true, || async move {
                    if hang {
                        std::future::pending::<()>().await;
                    }
                    Err(Failure::transient("status 503"))
                })
                .await;
            let Err(ModelError::Unavailable(reason)) = result else {
                panic!("{result:?}");
            };
            assert!(reason.contains("attempts in"), "{reason}");
            assert!(start.elapsed() <= time, "{:?}", start.elapsed());
        }
    }

    #[tokio::test(start_paused = true)]
    async fn within_gives_up_on_a_failing_server_after_a_minute() {
        let start = Instant::now();
        let result: Result<(), _> = within(Duration::MAX, Duration::MAX, &|| true, || async {
            Err(Failure::transient("status 500"))
        })
        .await;
        let Err(ModelError::Unavailable(reason)) = result else {
            panic!("{result:?}");
        };
        assert!(reason.contains("status 500 (8 attempts in"), "{reason}");
        let waited = start.elapsed();
        assert!((30..=62).contains(&waited.as_secs()), "{waited:?}");
    }

    #[tokio::test(start_paused = true)]
    async fn within_accepts_any_time() {
        for time in [Duration::MAX, FOREVER, Duration::from_secs(1)] {
            let answer = within(time, Duration::MAX, &|| true, || async { Ok(7) }).await;
            assert_eq!(answer, Ok(7));
        }
        let none = within(Duration::ZERO, Duration::MAX, &|| true, || async { Ok(7) }).await;
        assert!(matches!(none, Err(ModelError::Unavailable(_))));
    }
}
