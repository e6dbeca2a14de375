//! Asking again, for as long as there is time.

use std::time::{Duration, SystemTime};

use reqwest::header::{HeaderMap, RETRY_AFTER};
use tokio::time::{Instant, sleep_until, timeout_at};

use super::failure::Failure;
use crate::{Again, ModelError};

/// The first pause; each further one is twice as long.
const FIRST_PAUSE: Duration = Duration::from_millis(500);
const LONGEST_PAUSE: Duration = Duration::from_secs(30);

/// How long it is tried again where nobody answers at all: a server that restarts is back by then.
const NOBODY: Duration = Duration::from_secs(10);

/// How often it is tried where somebody answers, but not with an answer. The pauses between are a
/// minute together at most, unless the server asks for more: a limit by the minute is over then, and who
/// waits for a compaction has waited long enough.
const ATTEMPTS: u32 = 8;

/// For a time that no clock reaches.
const FOR_EVER: Duration = Duration::from_secs(365 * 24 * 60 * 60);

/// Runs attempts until one gives an answer or an error that would come again, or `time` is over, or
/// there is no leave to try `again`.
pub(super) async fn within<T, F: Future<Output = Result<T, Failure>>>(
    time: Duration,
    attempt_time: Duration,
    again: Again<'_>,
    mut attempt: impl FnMut() -> F,
) -> Result<T, ModelError> {
    let start = Instant::now();
    let until =
        |from: Instant, time: Duration| from.checked_add(time).unwrap_or_else(|| from + FOR_EVER);
    let deadline = until(start, time.min(FOR_EVER));
    if time.is_zero() {
        return Err(ModelError::Unavailable(
            "there was no time to ask".to_owned(),
        ));
    }
    let mut attempts = 0_u32;
    let mut before = String::new();
    let mut was_there = false;
    loop {
        attempts = attempts.saturating_add(1);
        let now = Instant::now();
        let end = deadline.min(until(now, attempt_time.min(FOR_EVER)));
        let (reason, told) = match timeout_at(end, attempt()).await {
            Ok(Ok(answer)) => return Ok(answer),
            Ok(Err(Failure::Final(error))) => return Err(error),
            Ok(Err(Failure::Passing {
                reason,
                is_alone,
                told,
            })) => {
                was_there |= !is_alone;
                before.clone_from(&reason);
                (reason, told)
            }
            Err(_) => {
                was_there = true;
                // The last attempt may have had but an instant. Then what was before it tells more.
                let then = if before.is_empty() { "" } else { "; then " };
                let waited = (end - now).as_secs_f64();
                (
                    format!("{before}{then}no answer within {waited:.1} s"),
                    None,
                )
            }
        };
        let pause = pause(attempts, told);
        let next = until(Instant::now(), pause);
        // Waiting for what comes too late helps nobody.
        let is_hopeless = !was_there && next - start > NOBODY;
        if next >= deadline || is_hopeless || attempts >= ATTEMPTS {
            return Err(gave_up(&reason, told, attempts, start.elapsed(), ""));
        }
        if !again() {
            let why = "; no further request is granted";
            return Err(gave_up(&reason, told, attempts, start.elapsed(), why));
        }
        sleep_until(next).await;
    }
}

/// `why` ends it, where neither the time nor the number of attempts did.
fn gave_up(
    reason: &str,
    told: Option<Duration>,
    attempts: u32,
    waited: Duration,
    why: &str,
) -> ModelError {
    let times = if attempts == 1 { "attempt" } else { "attempts" };
    let told = told.map_or(String::new(), |told| {
        format!("; it asks to wait for {:.1} s", told.as_secs_f64())
    });
    ModelError::Unavailable(format!(
        "{reason} ({attempts} {times} in {:.1} s{told}{why})",
        waited.as_secs_f64()
    ))
}

/// How long to wait behind the attempt of this number.
fn pause(attempt: u32, told: Option<Duration>) -> Duration {
    let doubled = FIRST_PAUSE.saturating_mul(1 << (attempt - 1).min(16));
    let longest = doubled.min(LONGEST_PAUSE);
    // At random, so that not all who were turned away come back at once. A server that asks for no time at
    // all is not asked the faster.
    match told {
        Some(told) if told >= FIRST_PAUSE => {
            told.saturating_add(FIRST_PAUSE.mul_f64(fastrand::f64() / 2.0))
        }
        _ => longest.mul_f64(0.5 + fastrand::f64() / 2.0),
    }
}

/// How long a server asks to wait, in any of three spellings.
pub(super) fn told(headers: &HeaderMap, now: SystemTime) -> Option<Duration> {
    let text = |name: &str| headers.get(name)?.to_str().ok();
    // OpenAI's and Azure's.
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
    // A date that is over: at once.
    Some(date.duration_since(now).unwrap_or_default())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn asked(name: &'static str, value: &str) -> Option<Duration> {
        let now = httpdate::parse_http_date("Fri, 01 Jan 2027 00:00:00 GMT").unwrap();
        let mut headers = HeaderMap::new();
        headers.insert(name, value.parse().unwrap());
        told(&headers, now)
    }

    #[test]
    fn a_server_asks_for_seconds_or_until_a_date() {
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
    fn pauses_grow_up_to_a_limit_and_are_never_the_same() {
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
    fn what_the_provider_asks_for_is_waited() {
        let told = Duration::from_secs(20);
        let pause = pause(1, Some(told));
        assert!(pause >= told && pause < told + FIRST_PAUSE, "{pause:?}");
        assert_eq!(super::pause(1, Some(Duration::MAX)), Duration::MAX);
        assert!(super::pause(9, Some(Duration::ZERO)) >= LONGEST_PAUSE / 2);
    }

    #[tokio::test(start_paused = true)]
    async fn the_time_is_kept_whatever_the_attempts_do() {
        let time = Duration::from_secs(60);
        for hang in [true, false] {
            let start = Instant::now();
            let result: Result<(), _> =
                within(time, Duration::from_secs(7), &|| true, || async move {
                    if hang {
                        std::future::pending::<()>().await;
                    }
                    Err(Failure::passing("status 503"))
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
    async fn a_server_that_fails_again_and_again_is_left_alone_after_a_minute() {
        let start = Instant::now();
        let result: Result<(), _> = within(Duration::MAX, Duration::MAX, &|| true, || async {
            Err(Failure::passing("status 500"))
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
    async fn any_time_can_be_given() {
        for time in [Duration::MAX, FOR_EVER, Duration::from_secs(1)] {
            let answer = within(time, Duration::MAX, &|| true, || async { Ok(7) }).await;
            assert_eq!(answer, Ok(7));
        }
        let none = within(Duration::ZERO, Duration::MAX, &|| true, || async { Ok(7) }).await;
        assert!(matches!(none, Err(ModelError::Unavailable(_))));
    }
}
