//! The generators make what their rows say, and the fit finds what it is there for.

use std::collections::HashSet;

use baler_generated::Kind;
use baler_host::{Budget, Host, Request, Strategy};
use clap::Parser as _;

use crate::arguments::Arguments;
use crate::case::{self, OF_STRATEGIES, State};
use crate::dimensions::calls;
use crate::fit::{self, MOST, Measured};
use crate::measure::{quickest, stops_growing};
use crate::stage::{Run, Stage};
use crate::summary::{self, Told};
use crate::watch::Ran;

#[test]
fn every_dimension_makes_documents_that_are_what_its_row_says() {
    let host = Host::builder().build().expect("a host");
    let mut wrong = Vec::new();
    for line in case::lines() {
        // One stage is enough, and receipts are not conversations.
        if !matches!(line.stage, Stage::Read | Stage::Plan) {
            continue;
        }
        let document = line.input(64).document();
        let read = match host.read(document.as_str()) {
            Ok(read) => read,
            Err(error) => {
                wrong.push(format!("{}: {error}", line.label()));
                continue;
            }
        };
        let is_broken = read.broken().next().is_some();
        let is_wrong = match line.state {
            State::Valid | State::Planned => is_broken,
            // A repair has something to do, be it a warning.
            State::Broken => read
                .violations()
                .iter()
                .all(|found| found.rule.is_about_size()),
            State::Odd => false,
        };
        if is_wrong {
            let first = read.broken().next().map(ToString::to_string);
            wrong.push(format!("{}: {first:?}", line.label()));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn documents_grow_with_their_size() {
    for line in case::lines() {
        if !matches!(line.stage, Stage::Read | Stage::Plan) {
            continue;
        }
        let [small, large] = [64, 1_024].map(|size| line.input(size));
        let length = |input: &case::Input| input.document().len() + input.answer.len();
        let label = line.label();
        // The pins grow beside the document.
        if line.dimension != "pins of one unit" {
            assert!(length(&small) * 3 < length(&large), "{label}");
        }
    }
}

#[test]
fn the_lines_of_nothing_said_leave_out_no_dimension_of_any_format() {
    let lines = case::lines();
    // A dimension has lines of the first stage, of its plans or receipts alone, or of a life.
    let is_first = |stage| matches!(stage, Stage::Read | Stage::Plan | Stage::Live);
    let there: HashSet<(&str, &str)> = lines
        .iter()
        .filter(|line| line.is_chosen() && is_first(line.stage))
        .map(|line| (line.dimension, line.wire.name()))
        .collect();
    let whole = [
        Stage::Read,
        Stage::Validate,
        Stage::Repair,
        Stage::Compact("native:truncate"),
    ];
    for line in &lines {
        let label = line.label();
        assert!(
            there.contains(&(line.dimension, line.wire.name())),
            "{label}"
        );
        assert!(line.is_chosen() || !whole.contains(&line.stage), "{label}");
    }
    for name in OF_STRATEGIES {
        let mut of_name = lines.iter().filter(|line| line.dimension == name);
        assert!(
            of_name.any(|line| line.stage == Stage::Compact("tiered") && line.is_chosen()),
            "{name}"
        );
    }
    let chosen = lines.iter().filter(|line| line.is_chosen()).count();
    assert!(chosen * 2 < lines.len(), "{chosen} of {}", lines.len());
}

#[test]
fn who_names_lines_gets_them_chosen_or_not() {
    let of = |words: &[&str]| {
        let words = ["scaling"].iter().chain(words);
        Arguments::try_parse_from(words).expect("they are known")
    };
    let wants = |arguments: Arguments, is_chosen| arguments.wants("turns gemini append", is_chosen);
    assert!(wants(of(&[]), true));
    assert!(!wants(of(&[]), false));
    assert!(wants(of(&["--all"]), false));
    assert!(wants(of(&["turns", "append"]), false));
    assert!(!wants(of(&["turns", "undo"]), true));
    assert_eq!(
        of(&["--max", "1024"]).sizes(),
        [32, 64, 128, 256, 512, 1_024]
    );
    assert!(of(&[]).enough() < of(&["--all"]).enough());
}

#[test]
fn outputs_that_nobody_saw_are_all_shortened() {
    let host = Host::builder().build().expect("a host");
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()
        .expect("a runtime");
    for wire in Kind::ALL {
        let input = calls::unseen_outputs(wire, 96);
        let conversation = host.read(input.document()).expect("it can be read");
        let request = Request::default().with_budget(Budget::Share(0.3));
        let chain = [Strategy::truncate()];
        let compaction = runtime
            .block_on(host.compact(&conversation, &chain, &request))
            .expect("a compaction");
        let units = &compaction.receipt().units;
        assert_eq!(units.texts_shortened, 3, "{wire:?}");
    }
}

/// Measurements whose seconds a function of the size gives.
fn measured(seconds: impl Fn(f64) -> f64) -> Vec<Measured> {
    [8_192, 16_384, 32_768, 65_536, 131_072]
        .into_iter()
        .map(|size| Measured {
            size,
            seconds: seconds(size as f64),
            reference: size as f64 * 1e-7,
            megabytes: None,
            outcome: "read".to_owned(),
        })
        .collect()
}

#[test]
fn what_is_worse_than_n_log_n_is_found_even_with_a_small_factor() {
    let n_log_n = fit::times(&measured(|n| n * n.ln() * 1e-7)).expect("it takes long enough");
    assert!(n_log_n.worst() < 1.2, "{n_log_n:?}");
    let square = fit::times(&measured(|n| n * n * 1e-9)).expect("it takes long enough");
    assert!(square.all > 1.9, "{square:?}");
    // Half of its time is linear even at the largest size.
    let hidden = fit::times(&measured(|n| n * 1e-6 + n * n * 1e-11)).expect("long enough");
    assert!(hidden.worst() > MOST, "{hidden:?}");
}

#[test]
fn what_the_machine_adds_to_linear_work_is_taken_off() {
    let on_slow_memory = |seconds: fn(f64) -> f64| {
        let mut measured = measured(seconds);
        for one in &mut measured {
            one.reference = (one.size as f64).powf(1.4) * 1e-9;
        }
        fit::times(&measured).expect("it takes long enough").worst()
    };
    let linear = on_slow_memory(|n| n.powf(1.4) * 1e-7);
    assert!((0.99..1.01).contains(&linear), "{linear}");
    assert!(on_slow_memory(|n| n * n * 1e-8) > MOST);
    // Quicker memory makes nothing worse.
    let mut quick = measured(|n| n * 1e-6);
    for one in &mut quick {
        one.reference = 1e-3;
    }
    let fit = fit::times(&quick).expect("it takes long enough");
    assert!((0.99..1.01).contains(&fit.worst()), "{fit:?}");
}

#[test]
fn noise_and_sizes_that_ended_otherwise_are_not_fitted() {
    assert_eq!(fit::times(&measured(|n| n * n * 1e-12)), None);
    let mut at_a_limit = measured(|n| n * 1e-6);
    at_a_limit[4].seconds = 60.0;
    at_a_limit[4].outcome = "timeout".to_owned();
    let fit = fit::times(&at_a_limit).expect("four sizes ended alike");
    assert!(fit.worst() < 1.1, "{fit:?}");
}

#[test]
fn three_sizes_are_enough_for_a_fit_and_two_are_not() {
    let mut few = measured(|n| n * n * 1e-9);
    few.truncate(3);
    let fit = fit::times(&few).expect("three sizes");
    assert!(
        (1.99..2.01).contains(&fit.all) && (1.99..2.01).contains(&fit.top),
        "{fit:?}"
    );
    few.truncate(2);
    assert_eq!(fit::times(&few), None);
}

#[test]
fn a_line_stops_growing_where_it_has_sizes_and_time_enough() {
    assert!(stops_growing(3, 0.030, 0.26, 0.25));
    // Two sizes cannot be fitted, whatever they take.
    assert!(!stops_growing(2, 3.0, 9.0, 0.25));
    assert!(!stops_growing(3, 0.030, 0.24, 0.25));
    // What is timed is noise yet, so it goes on, but not for ever.
    assert!(!stops_growing(3, 0.010, 0.90, 0.25));
    assert!(stops_growing(3, 0.010, 1.10, 0.25));
}

#[test]
fn the_quickest_of_several_short_runs_counts() {
    let of = |seconds: &[f64]| {
        let mut left = seconds.iter();
        let best = quickest(|| {
            Ok(Run {
                seconds: *left.next().expect("no run more than there are"),
                outcome: "read".to_owned(),
            })
        });
        (best.expect("it ran").seconds, left.count())
    };
    assert_eq!(of(&[0.049, 0.030, 0.040]), (0.030, 0));
    assert_eq!(of(&[0.060, 0.055, 0.001]), (0.055, 1));
    assert_eq!(of(&[0.600, 0.001]), (0.600, 1));
}

#[test]
fn what_is_measured_again_takes_the_better_times_and_further_sizes() {
    let ran = |seconds: &[f64]| Ran {
        measured: measured(|n| n * 1e-6)
            .into_iter()
            .zip(seconds)
            .map(|(one, seconds)| Measured {
                seconds: *seconds,
                ..one
            })
            .collect(),
        stopped: None,
    };
    let mut noisy = ran(&[0.01, 0.02, 0.09]);
    assert!(noisy.is_over());
    noisy.merge(ran(&[0.02, 0.03, 0.04, 0.08]));
    let merged: Vec<f64> = noisy.measured.iter().map(|one| one.seconds).collect();
    assert_eq!(merged, [0.01, 0.02, 0.04, 0.08]);
    assert!(!noisy.is_over());
}

#[test]
fn the_summary_tells_median_and_highest_of_each_stage_and_format() {
    let told = |stage: &str, kind, dimension, exponent| Told {
        stage: stage.to_owned(),
        kind,
        dimension,
        exponent,
        is_stopped: false,
    };
    let mut lines = vec![
        told("read", "gemini", "turns", Some(0.9)),
        told("read", "gemini", "steps", Some(1.5)),
        told("read", "gemini", "pins", None),
        told("read", "anthropic", "turns", Some(1.1)),
        told("undo", "gemini", "turns", None),
    ];
    lines[4].is_stopped = true;
    let table = summary::markdown(&lines);
    let rows: Vec<&str> = table.lines().skip(2).collect();
    assert_eq!(
        rows,
        [
            "| read | gemini | 3 | 1 | 1.20 | 1.50 | steps |",
            "| read | anthropic | 1 | 0 | 1.10 | 1.10 | turns |",
            "| undo | gemini | 1 | 0 | – | – | – |",
            "",
            "5 lines: 1 above 1.3, 1 stopped.",
        ]
    );
}
