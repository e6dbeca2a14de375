mod limits;

use baler_strategy::Situation;
use baler_strategy::testing::{Recording, TestRun, call, failed, pending, run};

use crate::tiered::Tiered;

/// About 450 tokens in 40 lines, one of which names something.
fn listing(symbol: &str) -> String {
    (0..40)
        .map(|line| {
            if line == 20 {
                format!("    fn {symbol}() {{ carry over }}\n")
            } else {
                format!("    // line {line} is about nothing in particular\n")
            }
        })
        .collect()
}

fn read(path: &str, symbol: &str) -> baler_strategy::testing::Call {
    call(
        "read_file",
        &format!(r#"{{"path":"{path}"}}"#),
        &listing(symbol),
    )
}

/// An agent that mends a ledger in eight steps.
fn ledger() -> Recording {
    Recording::new()
        .system("You mend programs.")
        .user("The ledger is off by one. Never touch vendor/!")
        .step(
            "I look at carry_over first.",
            [read("src/ledger.rs", "carry_over")],
        )
        .step("", [read("src/book.rs", "open_book")])
        .step(
            "",
            [failed(
                "shell",
                r#"{"command":"cargo test"}"#,
                &format!("{}error: total is 41, expected 42\n", listing("sums")),
            )],
        )
        .step(
            "The sums are off because carry_over starts at one.",
            [call(
                "edit",
                r#"{"path":"src/ledger.rs","old":"1..","new":"0.."}"#,
                "ok",
            )],
        )
        .step("", [read("src/ledger.rs", "carry_over")])
        .step("", [read("src/tariff.rs", "winter_tariff")])
        .step("", [read("src/seat.rs", "free_seats")])
        .user("Now commit, please.")
}

#[track_caller]
fn reduced_in(recording: &Recording, situation: &Situation, config: &str) -> TestRun {
    let tested = run::<Tiered>(recording, situation, config)
        .unwrap_or_else(|failure| panic!("failed: {failure:?}"));
    assert!(
        tested.unchanged().is_some() || tested.fits(),
        "{}",
        tested.render()
    );
    tested
}

#[track_caller]
fn reduced(recording: &Recording, budget: u32) -> TestRun {
    reduced_in(recording, &recording.situation(budget), "")
}

fn used(recording: &Recording) -> u32 {
    recording.situation(0).used
}

#[test]
fn what_fits_stays_as_it_is_and_is_not_read() {
    let recording = ledger();
    let tested = reduced(&recording, used(&recording));
    assert!(tested.unchanged().is_some());
    assert_eq!(recording.units_read(), 0);
}

#[test]
fn what_a_later_output_makes_needless_goes_first() {
    let recording = ledger();
    let tested = reduced(&recording, used(&recording) - 300);
    let shown = tested.render();
    assert!(
        shown.contains("left out: the call was made again below")
            || shown.contains("left out: the same stands below"),
        "{shown}"
    );
    // The first reading of the ledger was made again later; nothing else had to change.
    assert_eq!(tested.count("outputs-cut"), Some(1));
    assert_eq!(tested.count("units-digested"), Some(0));
}

#[test]
fn calls_without_arguments_are_not_the_same_call() {
    let recording = Recording::new()
        .user("Mend it.")
        .step("", [call("commit", "{}", &listing("winter_tariff"))])
        .step("", [call("commit", "{}", &listing("free_seats"))])
        .step("", [read("src/a.rs", "open_book")])
        .step("", [read("src/b.rs", "carry_over")])
        .step("", [read("src/c.rs", "sum_lines")])
        .user("Go on.");
    let shown = reduced(&recording, used(&recording) - 100).render();
    assert!(!shown.contains("left out"), "{shown}");
    assert!(shown.contains("winter_tariff"), "{shown}");
}

#[test]
fn old_outputs_are_cut_to_errors_and_names_before_any_step_goes() {
    let recording = ledger();
    let tested = reduced(&recording, used(&recording) - 1000);
    let shown = tested.render();
    assert_eq!(tested.count("units-digested"), Some(0));
    assert!(shown.contains("error: total is 41, expected 42"), "{shown}");
    assert!(
        shown.contains("[output of read_file cut; whole: ref-3]"),
        "{shown}"
    );
}

#[test]
fn a_text_that_was_cut_before_is_not_called_whole() {
    let gap = "[… 3 lines, 90 bytes left out …]\n";
    let shortened = format!("{}{gap}", listing("open_book"));
    let recording = Recording::new()
        .user("Look.")
        .step("", [read("src/a.rs", "carry_over").rewritten()])
        .step(
            "",
            [call("read_file", r#"{"path":"src/b.rs"}"#, &shortened)],
        )
        .step("", [read("src/c.rs", "winter_tariff")])
        .step("", [read("src/d.rs", "free_seats")])
        .step("", [read("src/e.rs", "parse_line")])
        .step("", [read("src/f.rs", "sum_lines")])
        .user("Go on.");
    let shown = reduced(&recording, used(&recording) - 900).render();
    for told in ["longer: ref-1]", "longer: ref-2]", "whole: ref-3]"] {
        let head = format!("[output of read_file cut; {told}");
        assert!(shown.contains(&head), "{head} is not in {shown}");
    }
}

#[test]
fn the_last_error_stays_however_small_its_output_becomes() {
    let error = "error: total is 41, expected 42";
    let recording = ledger();
    for budget in (400..used(&recording)).step_by(100) {
        let shown = reduced(&recording, budget).render();
        // Its own step stays whole, or says it in what is left of it, or the digest does.
        let is_told = shown.contains("keep 4 step") || shown.contains(error);
        assert!(is_told, "{budget}: {shown}");
    }
}

#[test]
fn a_run_that_went_wrong_is_remembered_where_the_next_one_did_not() {
    let test = r#"{"command":"cargo test"}"#;
    let error = "error: total is 41, expected 42";
    let recording = Recording::new()
        .user("Mend it.")
        .step(
            "",
            [failed(
                "shell",
                test,
                &format!("{}{error}\n", listing("sums")),
            )],
        )
        .step("", [call("shell", test, &listing("all is well"))])
        .step("", [read("src/tariff.rs", "winter_tariff")])
        .step("", [read("src/seat.rs", "free_seats")])
        .step("", [read("src/book.rs", "open_book")])
        .user("Go on.");
    let shown = reduced(&recording, used(&recording) - 300).render();
    let left_out = "left out: the call was made again below, it failed";
    assert!(shown.contains(left_out) && shown.contains(error), "{shown}");
}

#[test]
fn the_exit_code_beside_an_output_that_is_cut_is_told() {
    let lines = listing("sums").replace('\n', "\\n");
    let text = format!(r#"{{"output":"{lines}","metadata":{{"exit_code":137}}}}"#);
    let recording = Recording::new()
        .user("Mend it.")
        .step("", [call("shell", r#"{"command":"make tide"}"#, &text)])
        .step("", [read("src/tariff.rs", "winter_tariff")])
        .step("", [read("src/seat.rs", "free_seats")])
        .step("", [read("src/book.rs", "open_book")])
        .user("Go on.");
    let shown = reduced(&recording, used(&recording) - 300).render();
    let head = "cut, it failed (exit code 137)";
    assert!(shown.contains(head), "{shown}");
}

#[test]
fn room_that_is_left_makes_what_was_cut_longer_again() {
    let symbols: String = (0..200).map(|n| format!("symbol_number_{n}\n")).collect();
    let list = |path| call("list_symbols", path, &symbols);
    let recording = Recording::new()
        .user("What is in there?")
        .step("", [list(r#"{"path":"src"}"#)])
        .step("", [read("src/tariff.rs", "winter_tariff")])
        .step("", [read("src/seat.rs", "free_seats")])
        .step("", [read("src/book.rs", "open_book")])
        .user("Go on.");
    let whole = used(&recording);
    for budget in [whole - 150, whole - 300, whole - 500] {
        let tested = reduced(&recording, budget);
        assert_eq!(tested.count("outputs-cut"), Some(1));
        let unused = u64::from(budget) - tested.tokens();
        assert!(unused < 150, "{unused} of {budget} are not used");
    }
}

#[test]
fn old_steps_are_handed_over_in_words_and_the_newest_stay() {
    let recording = ledger();
    let tested = reduced(&recording, 900);
    let shown = tested.render();
    for told in [
        "src/ledger.rs: read",
        "error: total is 41, expected 42",
        "because carry_over starts at one",
    ] {
        assert!(shown.contains(told), "{told} is not in {shown}");
    }
    assert!(tested.count("units-digested") > Some(0));
    assert!(tested.kept().contains(&8), "{shown}");
}

#[test]
fn what_the_user_ruled_is_in_the_digest_word_for_word() {
    let recording = (0..30).fold(
        Recording::new()
            .user("Begin.")
            .user("Only use metric units, and never round!"),
        |recording, step| {
            recording.step(
                &format!("Step {step} of many."),
                [read("a.rs", "parse_line")],
            )
        },
    );
    let recording = recording.user("Go on.");
    let shown = reduced(&recording, 900).render();
    assert!(
        shown.contains("Only use metric units, and never round!"),
        "{shown}"
    );
}

#[test]
fn pending_calls_and_what_stands_around_them_stay() {
    let recording = ledger().step("", [pending("shell", r#"{"command":"git commit"}"#)]);
    let units = 10;
    let tested = reduced(&recording, 600);
    assert!(tested.kept().contains(&units), "{}", tested.render());
}

#[test]
fn an_earlier_digest_goes_on_in_the_next() {
    let recording = Recording::new()
        .user("Mend it.")
        .summary("## What the user said\n- Never touch vendor/!\n\n## History\n- src/a.rs: edited ×2 (carry_over)\n");
    let recording = (0..20).fold(recording, |recording, step| {
        recording.step("", [read(&format!("src/part_{step}.rs"), "parse_line")])
    });
    let shown = reduced(&recording.user("Go on."), 800).render();
    assert!(shown.contains("Never touch vendor/!"), "{shown}");
}

#[test]
fn where_other_words_are_forbidden_outputs_are_cut_to_their_own() {
    let error = "error: total is 41, expected 42";
    let long = format!("{}{error}\n{}", listing("sums"), listing("more_sums"));
    let verbatim = |path: &str, symbol| read(path, symbol).verbatim();
    let recording = Recording::new()
        .user("The ledger is off by one.")
        .step("", [verbatim("src/ledger.rs", "carry_over")])
        .step(
            "",
            [failed("shell", r#"{"command":"cargo test"}"#, &long).verbatim()],
        )
        .step("", [verbatim("src/ledger.rs", "carry_over")])
        .step("", [verbatim("src/tariff.rs", "winter_tariff")])
        .step("", [verbatim("src/seat.rs", "free_seats")])
        .step("", [verbatim("src/book.rs", "open_book")])
        .user("Go on.");
    let mut cut = 0;
    for budget in (300..used(&recording)).step_by(50) {
        let tested = reduced(&recording, budget);
        let shown = tested.render();
        assert!(!shown.contains("[output of"), "{budget}: {shown}");
        let is_told = shown.contains("keep 2 step") || shown.contains(error);
        assert!(is_told, "{budget}: {shown}");
        cut += tested.count("outputs-cut").unwrap_or_default();
    }
    assert!(cut > 20, "only {cut} outputs were cut");
}
