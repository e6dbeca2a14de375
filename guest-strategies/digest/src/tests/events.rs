//! What happened comes before what was read.

use super::{count, section, text_of};
use crate::{Costs, Notes, Part};

fn call(tool: &str, arguments: &str, output: &str, failed: bool) -> Vec<Part<'static>> {
    vec![
        Part::Call {
            id: "c".into(),
            name: tool.to_owned().into(),
            arguments: arguments.to_owned().into(),
        },
        Part::Output {
            call_id: "c".into(),
            name: tool.to_owned().into(),
            failed,
            text: output.to_owned().into(),
        },
    ]
}

/// Files that are read, with names in them that nobody uses again.
fn reading(notes: &mut Notes, files: std::ops::Range<usize>) {
    for file in files {
        let lines: String = (0..20)
            .map(|line| format!("berth_{file}_{line} = moor_{file}_{line}(quay_{file})\n"))
            .collect();
        let path = format!(r#"{{"file_path": "harbour/quay_{file}.py"}}"#);
        notes.read(&call("Read", &path, &lines, false));
        let search = format!(r#"{{"command": "grep -rn moor_{file}_1 harbour"}}"#);
        let found: String = (0..20)
            .map(|hit| format!("harbour/pier_{file}_{hit}.py\n"))
            .collect();
        notes.read(&call("bash", &search, &found, false));
    }
}

/// The digest of all units.
fn digest(notes: &Notes, tokens: u32) -> String {
    text_of(notes, &[], tokens)
}

#[test]
fn what_calls_came_to_stands_before_what_was_read() {
    let mut notes = Notes::default();
    reading(&mut notes, 0..10);
    notes.read(&call(
        "book_berth",
        r#"{"ship": "Möwe", "quay": 7}"#,
        &format!(
            r#"{{"booking": "B-4471", "status": "confirmed", "notes": "{}"}}"#,
            "x".repeat(200)
        ),
        false,
    ));
    notes.read(&call(
        "send_mail",
        r#"{"to": "kapitän@möwe.example"}"#,
        "550 mailbox full",
        true,
    ));
    notes.read(&call(
        "open_ticket",
        r#"{"title": "Crane 3"}"#,
        "T-2231",
        false,
    ));
    notes.read(&call(
        "order_tug",
        r#"{"at": "06:40"}"#,
        "timeout after 30 s, the order may or may not exist",
        false,
    ));
    notes.read(&call(
        "bash",
        r#"{"command": "./dredge.sh --quay 7", "run_in_background": true}"#,
        // Longer than an outcome that is a line of its own.
        "Command running in background with ID: dr_81f3. Output is being written to: /srv/harbour/agents/quay-7/sessions/b7a5c1e/tasks/dr_81f3.output",
        false,
    ));
    reading(&mut notes, 10..30);
    let digest = digest(&notes, 400);
    for (what, came_to) in [
        (r"book_berth(quay=7, ship=Möwe)", "status=confirmed; "),
        ("send_mail", "→ 550 mailbox full — failed"),
        ("open_ticket", "→ T-2231"),
        ("order_tug", "may or may not exist"),
        ("dredge.sh", "with ID: dr_81f3"),
    ] {
        let mut lines = digest.lines();
        let line = lines.find(|line| line.contains(what)).unwrap_or_default();
        assert!(line.contains(came_to), "{what}: {digest}");
    }
    assert!(digest.contains("booking=B-4471"), "{digest}");
}

#[test]
fn reports_of_agents_keep_their_findings_at_any_budget() {
    let mut notes = Notes::default();
    for (subject, found) in [
        (
            "tides",
            "The table of pier 9 is an hour late since the clock went back.",
        ),
        ("ropes", "推奨：係留索は六本とも交換する。"),
    ] {
        let log: String = (10..50)
            .map(|second| format!("05:12:{second} DEBUG buoy {second} answered\n"))
            .collect();
        let report = format!("## Result\n{found}\n\n{log}");
        let arguments = format!(r#"{{"description": "{subject}", "prompt": "Look."}}"#);
        notes.read(&call("Task", &arguments, &report, false));
    }
    reading(&mut notes, 0..30);
    for tokens in [250, 400, 800, 2_000, 6_000] {
        let digest = digest(&notes, tokens);
        assert!(digest.contains("- Reported: tides: ## Result\n  The table of pier 9"));
        assert!(
            digest.contains("係留索は六本とも交換"),
            "{tokens}: {digest}"
        );
        assert!(!digest.contains("buoy 44"), "{tokens}: {digest}");
    }
}

#[test]
fn of_several_errors_the_open_one_is_told_from_those_that_were_repaired() {
    let mut notes = Notes::default();
    notes.read(&call(
        "bash",
        r#"{"command": "pytest -q"}"#,
        "FAILED tests/test_tide.py::test_ebb - AssertionError: 3 != 4\n\
         FAILED tests/test_lock.py::test_gate - KeyError: 'east'\n2 failed, 31 passed",
        false,
    ));
    notes.read(&call(
        "bash",
        r#"{"command": "pytest -q tests/test_lock.py"}"#,
        "4 passed",
        false,
    ));
    reading(&mut notes, 0..30);
    let digest = digest(&notes, 500);
    assert!(
        digest.contains("- Output: FAILED tests/test_tide.py::test_ebb - AssertionError: 3 != 4\n"),
        "{digest}"
    );
    let mut lines = digest.lines();
    let gate = lines.find(|line| line.contains("test_gate"));
    assert!(
        gate.is_none_or(|line| line.ends_with("(repaired later)")),
        "{digest}"
    );
    // Read again, it is not an open error.
    let mut again = Notes::default();
    again.read(&[Part::Summary(
        "## History\n- Output: KeyError: 'east' (repaired later)".into(),
    )]);
    assert_eq!(again.needed(&[], &mut Costs::new(&count)), 0);
}

/// The line of the digest of these calls that has this text.
fn line_of(calls: &[(&str, &str, &str, bool)], text: &str) -> String {
    let mut notes = Notes::default();
    for (tool, arguments, output, failed) in calls {
        notes.read(&call(tool, arguments, output, *failed));
    }
    reading(&mut notes, 0..30);
    let digest = digest(&notes, 700);
    let mut lines = digest.lines();
    let line = lines.rfind(|line| line.contains(text));
    line.unwrap_or_default().to_owned()
}

#[test]
fn only_what_went_well_repairs_an_error() {
    let edit = r#"{"file_path": "lock/gate.py", "old_string": "a", "new_string": "b"}"#;
    let read = r#"{"file_path": "lock/gate.py"}"#;
    let no_match = ("Edit", edit, "Error: old_string not found in gate", true);
    let edited = ("Edit", edit, "The file was updated.", false);
    let test = r#"{"command": "pytest tests/test_gate.py"}"#;
    let lint = r#"{"command": "ruff check tests/test_gate.py"}"#;
    let bent = "FAILED tests/test_gate.py::test_hinge - bent";
    let failing = ("bash", test, bent, true);
    for (calls, text, is_repaired) in [
        ([no_match, edited], "not found in gate", true),
        (
            [no_match, ("Read", read, "gate = 1", false)],
            "not found in gate",
            false,
        ),
        ([failing, ("bash", test, "4 passed", false)], "bent", true),
        ([failing, ("bash", lint, "All good", false)], "bent", false),
        (
            [failing, ("bash", test, "1 failed, 3 passed", false)],
            "bent",
            false,
        ),
        // What a tool prints does not make it so.
        (
            [
                no_match,
                ("bash", "{}", "Error: shut (repaired later)", true),
            ],
            "shut",
            false,
        ),
    ] {
        let line = line_of(&calls, text);
        assert!(line.contains(text), "{calls:?}");
        assert_eq!(line.ends_with("(repaired later)"), is_repaired, "{line}");
    }
}

#[test]
fn what_a_tool_answers_in_sentences_stands_with_what_it_was_called_with() {
    let answer = "Your invoice was paid today, and the supplier has been told. It will reach them on Monday, \
        after which the second half is due.";
    let calls = [(
        "pay_invoice",
        r#"{"number": "R-118", "to": "Möwe GmbH"}"#,
        answer,
        false,
    )];
    let line = line_of(&calls, "pay_invoice");
    assert!(
        line.contains("R-118") && line.contains("Möwe GmbH") && line.contains(answer),
        "{line}"
    );
}

#[test]
fn a_summary_of_another_program_keeps_its_goal_and_what_is_pending() {
    let summary = "Summary:\n1. Goal:\n   The user wants the harbour plan by Friday and no night shifts.\n\n\
        2. Files:\n   - harbour/plan.py: shift() plans one day\n\n3. Pending Tasks:\n   - Ask Oyelaran about quay 4\n\
        \x20  - Print the plan\n";
    let mut notes = Notes::default();
    notes.read(&[Part::Summary(summary.into())]);
    reading(&mut notes, 0..30);
    let digest = digest(&notes, 400);
    assert!(
        digest.contains(
            "- 1. Goal:\n  The user wants the harbour plan by Friday and no night shifts."
        ),
        "{digest}"
    );
    assert!(
        digest.contains("- 3. Pending Tasks:\n  - Ask Oyelaran about quay 4\n  - Print the plan"),
        "{digest}"
    );
}

#[test]
fn after_many_compactions_each_step_is_still_told_to_be_done() {
    let mut text = String::new();
    for quay in 1..=8 {
        let mut notes = Notes::default();
        notes.read(&[Part::Summary(text.clone().into())]);
        reading(&mut notes, quay * 10..quay * 10 + 10);
        let arguments = format!(r#"{{"quay": {quay}}}"#);
        let answer = format!("quay {quay} surveyed, sheet ab3{quay}f9");
        notes.read(&call("survey", &arguments, &answer, false));
        text = digest(&notes, 900);
    }
    let history = section(&text, "## History");
    for quay in 1..=8 {
        let told = format!("called survey(quay={quay}) → quay {quay} surveyed");
        assert!(history.contains(&told), "{quay}: {text}");
    }
}

#[test]
fn names_that_stand_with_nothing_take_at_most_a_tenth() {
    let mut notes = Notes::default();
    reading(&mut notes, 0..40);
    let digest = digest(&notes, 2_000);
    let names = section(&digest, "## Names that came up");
    assert!(!names.is_empty(), "{digest}");
    assert!(count(names) <= 250, "{} {names}", count(names));
}
