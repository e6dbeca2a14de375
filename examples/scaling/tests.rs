//! The generators make what their rows say, and the fit finds what it is there for.

use baler_host::{Host, LogKind};

use crate::case::{self, State};
use crate::fit::{self, MOST, Measured};
use crate::stage::Stage;

#[test]
fn every_dimension_makes_documents_that_are_what_its_row_says() {
    let host = Host::builder().build().expect("a host");
    let mut wrong = Vec::new();
    for line in case::lines() {
        // One stage is enough, and receipts are no conversations.
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
            State::Valid => is_broken,
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
fn logs_are_found_out_to_be_those_of_their_programs() {
    for line in case::lines() {
        let Some(name) = line.kind.strip_prefix("log: ") else {
            continue;
        };
        let found = LogKind::of(&line.input(64).document());
        assert_eq!(found.map(LogKind::name), Some(name), "{}", line.label());
    }
}

#[test]
fn documents_grow_with_their_size() {
    for line in case::lines() {
        if !matches!(line.stage, Stage::Read | Stage::Plan | Stage::Report) {
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

/// Measurements whose seconds a function of the size gives.
fn measured(seconds: impl Fn(f64) -> f64) -> Vec<Measured> {
    [8_192, 16_384, 32_768, 65_536, 131_072]
        .into_iter()
        .map(|size| Measured {
            size,
            seconds: seconds(size as f64),
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
fn noise_and_sizes_that_ended_otherwise_are_not_fitted() {
    assert_eq!(fit::times(&measured(|n| n * n * 1e-12)), None);
    let mut at_a_limit = measured(|n| n * 1e-6);
    at_a_limit[4].seconds = 60.0;
    at_a_limit[4].outcome = "timeout".to_owned();
    let fit = fit::times(&at_a_limit).expect("four sizes ended alike");
    assert!(fit.worst() < 1.1, "{fit:?}");
}
