use super::{PRINTLN, fail, list, ok, prints, rendered};
use crate::stats::Stats;

#[track_caller]
fn stats(turns: &[String], config: &str) -> Stats {
    let turns = list(turns);
    rendered(&format!(r#"{{"turns":{turns}}}"#), config).1
}

/// S1, PT-S29
#[test]
fn no_turns_are_counted_as_none() {
    assert_eq!(stats(&[], "{}"), Stats::default());
}

/// S13a, PT-S30, PT-10
#[test]
fn calls_are_counted() {
    let ten: Vec<String> = (0..10).map(|_| ok(&[("call", "{}")])).collect();
    let stats = stats(&ten, r#"{"tool-call-limit":5}"#);
    assert_eq!((stats.calls.total, stats.calls.shown), (10, 5));
}

/// S13b, PT-S30, PT-N7
#[test]
fn printed_lines_are_counted_and_whether_they_are_shown() {
    let turns: Vec<String> = (0..20).map(|_| prints(&["line"])).collect();
    let counted = stats(&turns, r#"{"println-limit":8}"#);
    assert_eq!((counted.prints.total, counted.prints.shown), (20, 8));
    assert!(!counted.output_rendered);
    let with_tool = format!(r#"{{{PRINTLN},"turns":{}}}"#, list(&turns));
    let (_, with_tool) = rendered(&with_tool, r#"{"println-limit":8}"#);
    assert_eq!(with_tool.prints, counted.prints);
    assert!(with_tool.output_rendered);
}

/// S13c, S13d, S13e, PT-S31
#[test]
fn errors_that_are_not_shown_are_counted() {
    let fail = || fail("(bad)", "no");
    let collapsed = |turns: &[String]| stats(turns, "{}").error_turns_collapsed;
    assert_eq!(collapsed(&[fail(), fail()]), 1);
    assert_eq!(collapsed(&[fail(), fail(), ok(&[])]), 2);
    assert_eq!(collapsed(&[ok(&[]), ok(&[])]), 0);
    assert_eq!(collapsed(&[fail()]), 0);
}

/// S13f, PT-S29, PT-5
#[test]
fn turns_are_counted() {
    let five: Vec<String> = (0..5).map(|_| ok(&[])).collect();
    assert_eq!(stats(&five, "{}").turns_compressed, 5);
    assert_eq!(
        stats(&[ok(&[]), fail("(bad)", "no")], "{}").turns_compressed,
        2
    );
}

/// S13g, PT-S30
#[test]
fn what_failed_turns_called_and_printed_is_not_counted() {
    let turns = [
        r#"{"prints":["a"],"tool-calls":[{"name":"good"}]}"#.to_owned(),
        r#"{"success":false,"prints":["b"],"tool-calls":[{"name":"bad"}]}"#.to_owned(),
    ];
    let stats = stats(&turns, "{}");
    assert_eq!((stats.calls.total, stats.prints.total), (1, 1));
    assert_eq!(stats.failed_turn_calls, 1);
}
