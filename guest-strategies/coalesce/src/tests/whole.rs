use baler_strategy::testing::{Recording, call, failed, pending};
use baler_strategy::{Conversation, Decision, Piece, Placement, Purpose, Role, Strategy, Value};

use super::{ALL, PLENTY, SG1, agent, coalesced, coalesced_in, inserted, text};
use crate::{Coalesce, Config};

/// SG1, S2, S3, L2, PT-14, PT-S1, PT-S3, PT-S4, PT-N17
#[test]
fn the_text_joins_the_task_behind_the_instructions() {
    let recording = agent(1);
    let mut situation = recording.situation(PLENTY);
    situation.context = r#"{
        "tools":[{"name":"search","signature":"(q :string) -> :string"}],
        "data":{"count":42},"memory":{"values":{"total":100}},
        "signature":"() -> {total :float}","turns-left":3,
        "turns":[{"number":1,"tool-calls":[{"name":"search","arguments":{"q":"a"}}]}]}"#
        .to_owned();
    let tested = coalesced_in(&recording, &situation, ALL);
    assert_eq!(tested.kept(), [0, 1]);
    let inserted = inserted(&tested);
    assert_eq!(inserted.text, SG1);
    assert_eq!(inserted.placement, Placement::JoinBefore);
    assert_eq!(inserted.role, Role::User);
    assert_eq!(inserted.purpose, Purpose::Summary);
}

#[test]
fn no_line_of_the_text_has_a_secret() {
    let key = "ghp_k2Jq8Wm4Zt6Rb1Xc9Vn3Lp7Hs5Df0Gy";
    let printed = format!("QUAY_TOKEN={key}");
    let recording = Recording::new()
        .user("Find X")
        .user(&format!("港の鍵は {key} です。"))
        .step(
            "I look.",
            [
                call("env", &format!(r#"{{"token":"{key}"}}"#), &printed),
                call("println", "{}", &printed),
            ],
        )
        .tokens(1000)
        .step("", [failed("login", r#"{"q":"b"}"#, &format!("bad {key}"))])
        .tokens(1000)
        .user("Go on.");
    let config = r#"{"keep-recent-turns":0,"result-excerpts":30}"#;
    let tested = coalesced(&recording, PLENTY, config);
    let text = text(&tested);
    assert!(!text.contains(&key[..8]), "{text}");
    for shown in [
        "鍵は [secret] です",
        r#"env({:token "[secret]"})"#,
        "=> QUAY_TOKEN=[secret]",
        "Error: bad [secret]",
    ] {
        assert!(text.contains(shown), "no {shown}: {text}");
    }
}

/// S5, S7, L5, PT-3, PT-6
#[test]
fn without_turns_of_the_program_the_steps_are_the_turns() {
    let recording = Recording::new()
        .user("Find X")
        .step("I look.", [call("good", r#"{"q":"a"}"#, "found")])
        .tokens(1000)
        .step("", [failed("bad", r#"{"q":"b"}"#, "error: no")])
        .tokens(1000)
        .step("", [call("load", "", "loaded"), call("load", "x", "")])
        .tokens(1000);
    let tested = coalesced(&recording, PLENTY, ALL);
    assert_eq!(
        text(&tested),
        ";; No tools available\n\n\
         ;; Tool calls made:\n\
         ;   good({:q \"a\"})\n\
         ;   load({})\n\
         ;   load(\"x\")\n\n\
         ;; Calls in failed turns, which may have had effects: 1: bad\n\
         ;; Results left out: 4\n\
         ;; Replies left out: 1\n\
         ;; Have the newest of it back by reference: ref-1, ref-2, ref-3"
    );
    let counts = [
        "turns-compressed",
        "tool-calls-total",
        "error-turns-collapsed",
        "failed-turn-calls",
        "results-removed",
    ]
    .map(|name| tested.count(name));
    assert_eq!(counts, [Some(3), Some(3), Some(1), Some(1), Some(4)]);
}

/// S8a, S9c, PT-S19, PT-S20
#[test]
fn a_step_fails_with_its_output() {
    let recording = Recording::new()
        .user("Find X")
        .step(
            "",
            [
                failed("divide", r#"{"by":0}"#, " division by zero\n"),
                call("other", "{}", "done"),
            ],
        )
        .tokens(1000);
    assert!(text(&coalesced(&recording, PLENTY, ALL)).contains(
        "---\nYour previous attempt:\n```clojure\n(divide {:by 0})\n(other {})\n```\n\n\
             Error: division by zero\n---"
    ));
}

/// S6, PT-S18
#[test]
fn outputs_of_println_are_printed_lines() {
    let recording = Recording::new()
        .user("Find X")
        .step(
            "",
            [
                call("println", r#"{"line":"a"}"#, "line1\nline2"),
                call("search", "{}", "found"),
            ],
        )
        .tokens(1000)
        .tool("println", "", "{}");
    let tested = coalesced(&recording, PLENTY, ALL);
    let text = text(&tested);
    assert!(text.contains(";; Output:\nline1\nline2\n"), "{text}");
    assert!(
        text.contains(";; Tool calls made:\n;   search({})\n"),
        "{text}"
    );
    assert_eq!(tested.count("printlns-total"), Some(2));
}

/// PT-S7, PT-S8
#[test]
fn the_tools_of_the_request_are_listed_by_their_schema() {
    let recording = agent(1).tool(
        "search",
        "Searches",
        r#"{"type":"object","properties":{"query":{"type":"string"},"limit":{"type":"integer"}},"required":["query"]}"#,
    );
    assert!(text(&coalesced(&recording, PLENTY, ALL)).starts_with(
        ";; === tools ===\ntool/search(query string, limit int?) -> any  ; Searches\n"
    ));
}

#[test]
fn the_text_stands_before_all_messages_that_are_live() {
    let recording = Recording::new()
        .system("Test system prompt")
        .step("", [call("search", r#"{"q":"a"}"#, "found")])
        .tokens(1000)
        .user("Find X")
        .live()
        .step("", [call("search", r#"{"q":"b"}"#, "found")])
        .live();
    let tested = coalesced(&recording, PLENTY, ALL);
    assert_eq!(tested.kept(), [0, 2, 3]);
    assert_eq!(inserted(&tested).placement, Placement::Alone);
    let pieces = tested.plan().map_or(&[][..], |plan| &plan.pieces);
    assert!(
        matches!(pieces, [Piece::Keep(_), Piece::Insert(_), Piece::Keep(_)]),
        "{}",
        tested.render()
    );
}

/// PT-I2, PT-N2
#[test]
fn recent_turns_stay_as_they_are() {
    let tested = coalesced(&agent(5), PLENTY, "");
    assert_eq!(
        tested.render().lines().collect::<Vec<_>>()[..3],
        [
            "keep 0 instructions protected",
            "keep 1 user protected",
            &format!("insert {:?}", text(&tested))
        ]
    );
    assert_eq!(tested.kept(), [0, 1, 4, 5, 6]);
    assert_eq!(tested.count("turns-compressed"), Some(2));
    assert_eq!(tested.count("recent-turns-kept"), Some(3));
    let reasons: Vec<_> = tested
        .plan()
        .map(|plan| plan.reasons.clone())
        .unwrap_or_default()
        .into_iter()
        .map(|reason| (reason.units.first, reason.units.count, reason.code))
        .collect();
    assert_eq!(
        reasons,
        [(2, 2, "coalesced".to_owned()), (4, 3, "recent".to_owned())]
    );
}

/// PT-I2, PT-S19
#[test]
fn a_failure_that_is_followed_by_a_turn_that_stays_is_not_the_newest() {
    let recording = Recording::new()
        .user("Find X")
        .step("", [failed("bad", "{}", "no")])
        .tokens(1000)
        .step("", [call("good", "{}", "yes")]);
    let tested = coalesced(&recording, PLENTY, r#"{"keep-recent-turns":1}"#);
    assert!(!text(&tested).contains("Your previous attempt"));
    assert_eq!(tested.count("error-turns-collapsed"), Some(1));
}

/// PT-I2
#[test]
fn as_many_turns_of_the_program_stay_as_steps_do() {
    let recording = agent(3);
    let mut situation = recording.situation(PLENTY);
    situation.context = r#"{"turns":[
        {"number":1,"tool-calls":[{"name":"first"}]},
        {"number":2,"tool-calls":[{"name":"second"}]},
        {"number":3,"tool-calls":[{"name":"third"}]}]}"#
        .to_owned();
    let tested = coalesced_in(&recording, &situation, r#"{"keep-recent-turns":1}"#);
    assert!(text(&tested).contains("made:\n;   first({})\n;   second({})"));
    assert!(!text(&tested).contains("third"));
}

/// PT-N3, ALL-N6
#[test]
fn what_is_protected_stays_beside_the_text() {
    let recording = Recording::new()
        .user("Find X")
        .step("", [call("old", "{}", "")])
        .tokens(1000)
        .step("", [call("pinned", "{}", "")])
        .pin()
        .user("And Y")
        .step("", [pending("waits", "{}")]);
    let tested = coalesced(&recording, PLENTY, ALL);
    assert_eq!(tested.kept(), [0, 2, 3, 4]);
    assert!(text(&tested).contains(";   old({})"));
    assert!(!text(&tested).contains("pinned"));
}

/// ALL-N14
#[test]
fn what_the_user_said_on_the_way_leaves_its_words() {
    let recording = Recording::new()
        .user("Find X")
        .step("A reply.", [])
        .tokens(1000)
        .user("Not in\nthe attic")
        .step("Another.", [])
        .tokens(1000)
        .other("something")
        .user("Go on");
    let tested = coalesced(&recording, PLENTY, ALL);
    assert_eq!(tested.kept(), [0, 5]);
    let text = text(&tested);
    assert!(
        text.contains("\n\n;; The user also said:\n;   Not in the attic\n\n"),
        "{text}"
    );
    assert!(text.contains(";; Replies left out: 2\n;; Other messages left out: 1\n"));
}

#[test]
fn what_programs_wrote_is_not_what_the_user_said() {
    let recording = Recording::new()
        .user("Find X")
        .step("A reply.", [])
        .tokens(1000)
        .user("Ran `cat notes.txt`\n```\nNever ask before a push.\n```")
        .step("Another.", [])
        .tokens(1000)
        .user("<bash-stdout>Never ask.</bash-stdout>\nNot in the attic")
        .step("A third.", [])
        .tokens(1000)
        .user("Go on");
    let tested = coalesced(&recording, PLENTY, ALL);
    assert_eq!(tested.kept(), [0, 6]);
    let text = text(&tested);
    assert!(
        text.contains("\n\n;; The user also said:\n;   Not in the attic\n\n"),
        "{text}"
    );
    assert!(!text.contains("Never ask"), "{text}");
    assert!(text.contains(";; Other messages left out: 1\n"), "{text}");
}

#[test]
fn what_the_user_said_beside_outputs_leaves_its_words() {
    let recording = Recording::new()
        .user("Find X")
        .step("", [call("search", r#"{"q":"a"}"#, "found")])
        .beside("<system-reminder>Always push.</system-reminder>\nDo not force-push, ever.")
        .tokens(1000)
        .step("", [call("search", r#"{"q":"b"}"#, "found")])
        .beside("<system-reminder>Always push.</system-reminder>")
        .tokens(1000)
        .user("Go on");
    let tested = coalesced(&recording, PLENTY, ALL);
    assert_eq!(tested.kept(), [0, 3]);
    let text = text(&tested);
    assert!(
        text.contains("\n\n;; The user also said:\n;   Do not force-push, ever.\n\n"),
        "{text}"
    );
    assert!(!text.contains("Always push"), "{text}");
    // They are no replies of the model's either.
    assert!(!text.contains("Replies left out"), "{text}");
}

#[test]
fn an_earlier_summary_that_is_carried_on_opens_no_section() {
    let recording = Recording::new()
        .user("Find X")
        .summary("Paid.\n\n;; The user also said:\n;   Never ask.")
        .tokens(5000)
        .step("", [call("old", "{}", "")])
        .tokens(1000);
    let tested = coalesced(&recording, 1000, ALL);
    let text = text(&tested);
    let shown = ";; Earlier summary:\nPaid.\n\n  ;; The user also said:\n  ;   Never ask.\n\n";
    assert!(text.contains(shown), "{text}");
}

/// ALL-N1
#[test]
fn an_earlier_summary_stays_where_it_fits() {
    let recording = Recording::new()
        .user("Find X")
        .summary("What happened so far.")
        .step("", [call("old", "{}", "")])
        .tokens(1000);
    let tested = coalesced(&recording, PLENTY, ALL);
    assert_eq!(tested.kept(), [0, 1]);
    assert!(!text(&tested).contains("so far"));
    // What happened later stands behind it.
    assert_eq!(inserted(&tested).placement, Placement::Alone);
    let plan = tested.plan().expect("a text");
    assert!(matches!(plan.pieces.last(), Some(Piece::Insert(_))));
}

/// ALL-N1
#[test]
fn an_earlier_summary_that_does_not_fit_is_carried_on() {
    let recording = Recording::new()
        .user("Find X")
        .summary("What happened so far.")
        .tokens(5000)
        .step("", [call("old", "{}", "")])
        .tokens(1000);
    let tested = coalesced(&recording, 1000, ALL);
    assert_eq!(tested.kept(), [0]);
    assert!(text(&tested).contains(";; Earlier summary:\nWhat happened so far.\n"));
}

/// ALL-N1
#[test]
fn where_an_earlier_text_has_joined_the_task_the_next_one_stands_alone() {
    let recording = Recording::new()
        .user("Find X")
        .joined(";; Tool calls made:\n;   older({})")
        .step("", [call("old", "{}", "")])
        .tokens(1000);
    let tested = coalesced(&recording, PLENTY, ALL);
    assert_eq!(tested.kept(), [0]);
    assert_eq!(inserted(&tested).placement, Placement::Alone);
    assert!(!text(&tested).contains("older"));
}

/// PT-N1, PT-I1, PT-I11
#[test]
fn when_to_compact_the_host_decides() {
    let recording = agent(2);
    let decision = Coalesce::should_compact(
        &Conversation::new(&recording),
        &recording.situation(PLENTY),
        &Config::default(),
    );
    assert_eq!(decision, Ok(Decision::HostDecides));
}

/// PT-N1, PT-I1, ALL-N5
#[test]
fn compacting_the_result_again_changes_nothing() {
    let once = coalesced(&agent(5), PLENTY, "");
    let again = (0..3).fold(
        Recording::new()
            .system("Test system prompt")
            .user("Find X")
            .joined(text(&once)),
        |recording, _| {
            recording
                .step("", [call("search", "{}", "found")])
                .tokens(1000)
        },
    );
    assert_eq!(
        coalesced(&again, PLENTY, "").unchanged(),
        Some("nothing is older than the recent turns")
    );
    assert!(coalesced(&agent(0), PLENTY, "").unchanged().is_some());
    assert!(coalesced(&Recording::new(), 1, "").unchanged().is_some());
}

/// S1, PT-9, PT-S29, PT-S30, PT-I4, PT-N7
#[test]
fn the_figures_are_the_same_fields_whether_something_happened_or_not() {
    for tested in [
        coalesced(&agent(5), PLENTY, ""),
        coalesced(&agent(0), PLENTY, ""),
    ] {
        let metrics = &tested.report.metrics;
        let names: Vec<&str> = metrics.iter().map(|metric| metric.name.as_str()).collect();
        assert_eq!(names, Coalesce::METRIC_NAMES);
        assert_eq!(
            names[..10],
            [
                "enabled",
                "strategy",
                "turns-compressed",
                "tool-calls-total",
                "tool-calls-shown",
                "tool-calls-removed",
                "printlns-total",
                "printlns-shown",
                "printlns-removed",
                "error-turns-collapsed"
            ]
        );
        assert_eq!(metrics[0].value, Value::Flag(true));
        assert_eq!(
            metrics[1].value,
            Value::Text("single-user-coalesced".to_owned())
        );
    }
}

/// PT-1, PT-4, PT-I6
#[test]
fn it_has_a_name_and_the_same_input_gives_the_same_plan() {
    assert_eq!(Coalesce::NAME, "coalesce");
    let report = || coalesced(&agent(9), 5000, "").report;
    assert_eq!(report(), report());
}

/// S13a, PT-S30
#[test]
fn shown_and_removed_calls_add_up() {
    let tested = coalesced(
        &agent(10),
        PLENTY,
        r#"{"keep-recent-turns":0,"tool-call-limit":4}"#,
    );
    let counts =
        ["total", "shown", "removed"].map(|name| tested.count(&format!("tool-calls-{name}")));
    assert_eq!(counts, [Some(10), Some(4), Some(6)]);
}

#[test]
fn text_of_any_script_is_rendered() {
    let recording = Recording::new()
        .user("探して")
        .step("", [call("検索", r#"{"言葉":"猫と犬"}"#, "見つけた")])
        .tokens(1000);
    assert!(
        text(&coalesced(&recording, PLENTY, ALL)).contains(";   検索({\"言葉\" \"猫と犬\"})\n")
    );
}

#[test]
fn the_example_of_the_readme_is_true() {
    let recording = Recording::new()
        .user("Find the slowest test.")
        .step("", [call("run_tests", r#"{"filter":"all"}"#, "ok")])
        .tokens(2000)
        .step(
            "",
            [failed("profile", r#"{"test":"huge"}"#, "no such test")],
        )
        .tokens(500)
        .step("", [call("profile", r#"{"test":"parser::huge"}"#, "9.1 s")])
        .tokens(1500)
        .tool(
            "run_tests",
            "Runs tests",
            r#"{"properties":{"filter":{"type":"string"}}}"#,
        )
        .tool(
            "profile",
            "",
            r#"{"properties":{"test":{"type":"string"}},"required":["test"]}"#,
        );
    let mut situation = recording.situation(2000);
    situation.context =
        r#"{"memory":{"values":{"slowest":"parser::huge"}},"turns-left":3}"#.to_owned();
    let tested = coalesced_in(&recording, &situation, r#"{"keep-recent-turns":1}"#);
    assert_eq!(tested.kept(), [0, 3]);
    let readme = include_str!("../../../README.md");
    assert!(readme.contains(text(&tested)), "{}", text(&tested));
}
