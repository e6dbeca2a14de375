use serde_json::{Value, json};

use super::claude_code::{calls, reply, result, says, user, with};
use super::{log, messages};

fn texts(log: &crate::logs::Log) -> String {
    Value::from(messages(log)).to_string()
}

// LCC-6, and where it ends: the user went back.
#[test]
fn what_was_rewound_is_not_seen() {
    let log = log(&[
        user("u1", "", json!("Plan a week in Oslo.")),
        says("a1", "u1", "m1", "By train or ferry?"),
        user("u2", "a1", json!("By plane.")),
        calls("a2", "u2", "m2", "t1"),
        result("r1", "a2", "t1", "no flights"),
        says("a3", "r1", "m3", "There are none."),
        user("u3", "a1", json!("By ferry.")),
        says("a4", "u3", "m4", "It leaves at nine."),
    ]);
    assert_eq!(log.facts.other_branches, 4);
    assert_eq!(messages(&log).len(), 4);
    assert!(!texts(&log).contains("plane"));
    assert!(texts(&log).contains("leaves at nine"));
}

// LCC-20
#[test]
fn result_that_stands_before_its_call_is_left_with_it() {
    let log = log(&[
        user("u1", "", json!("Plan a week in Oslo.")),
        says("a1", "u1", "m1", "By train or ferry?"),
        user("u2", "a1", json!("By plane.")),
        result("r1", "a2", "t1", "no flights"),
        calls("a2", "u2", "m2", "t1"),
        says("a3", "r1", "m3", "There are none."),
        user("u3", "a1", json!("By ferry.")),
        says("a4", "u3", "m4", "It leaves at nine."),
    ]);
    assert_eq!(log.facts.other_branches, 4);
    assert_eq!(log.facts.dropped_results, 0);
    assert!(!texts(&log).contains("plane"));
}

#[test]
fn going_back_keeps_the_parallel_results_of_the_step_gone_back_to() {
    let log = log(&[
        user("u1", "", json!("Which cabin?")),
        calls("a1", "u1", "m1", "t1"),
        calls("a2", "a1", "m1", "t2"),
        result("r1", "a1", "t1", "inside: 90"),
        result("r2", "a2", "t2", "outside: 140"),
        says("a3", "r2", "m2", "Inside."),
        user("u2", "r1", json!("I want a window.")),
    ]);
    assert_eq!(log.facts.other_branches, 1);
    assert_eq!(log.facts.completed_calls, 0);
    assert!(texts(&log).contains("outside: 140"));
    assert!(!texts(&log).contains("Inside."));
}

#[test]
fn branch_that_is_gone_on_with_is_not_left() {
    let log = log(&[
        user("u1", "", json!("Une semaine à Lyon.")),
        says("a1", "u1", "m1", "Quand ?"),
        user("u2", "a1", json!("En mai.")),
        says("a2", "u2", "m2", "Bien."),
        user("u3", "a1", json!("Et en juin ?")),
        says("a3", "a2", "m3", "Encore mai."),
    ]);
    assert_eq!(log.facts.other_branches, 0);
    assert!(texts(&log).contains("En mai."));
}

#[test]
fn text_of_the_user_beside_another_one_is_no_branch() {
    let log = log(&[
        user("u1", "", json!("Bake bread.")),
        says("a1", "u1", "m1", "Rye?"),
        user("u2", "a1", json!("Yes.")),
        user("u3", "a1", json!("Yes, rye.")),
        says("a2", "u3", "m2", "Ninety minutes."),
    ]);
    assert_eq!(log.facts.other_branches, 0);
    assert_eq!(messages(&log)[2]["content"].as_array().unwrap().len(), 2);
}

#[test]
fn chain_through_lines_without_messages_holds() {
    let hook = json!({"type": "system", "subtype": "turn_duration", "uuid": "h1",
                      "parentUuid": "a1", "sessionId": "s-1"});
    let log = log(&[
        user("u1", "", json!("Bake bread.")),
        says("a1", "u1", "m1", "Rye?"),
        hook,
        user("u2", "h1", json!("Wheat.")),
        says("a2", "u2", "m2", "An hour."),
        user("u3", "h1", json!("Rye.")),
    ]);
    assert_eq!(log.facts.other_branches, 2);
    assert!(!texts(&log).contains("Wheat"));
}

#[test]
fn several_sessions_in_one_file_stay_in_file_order() {
    let mut second = user("u2", "gone", json!("Still there?"));
    second["sessionId"] = json!("s-2");
    let log = log(&[
        user("u1", "", json!("Knock.")),
        says("a1", "u1", "m1", "Who is there?"),
        second,
    ]);
    assert_eq!(messages(&log).len(), 3);
}

/// The user asks, gets an answer, and asks something else in the place of that.
fn asked_anew() -> Vec<Value> {
    vec![
        user("u1", "", json!("Plan a week in Oslo.")),
        calls("a1", "u1", "m1", "t1"),
        calls("a2", "a1", "m1", "t2"),
        result("r1", "a1", "t1", "rain"),
        result("r2", "a2", "t2", "no flights"),
        says("a3", "r2", "m2", "Take the ferry."),
        user("u2", "", json!("Plan a week in Bergen.")),
        says("a4", "u2", "m3", "It rains there."),
    ]
}

/// The line in which the program says where the conversation goes on.
fn goes_on(leaf: &str) -> Value {
    json!({"type": "last-prompt", "lastPrompt": "…", "sessionId": "s-1", "leafUuid": leaf})
}

// LCC-19
#[test]
fn who_goes_back_to_the_first_prompt_leaves_all_behind_it() {
    for end in [None, Some("a4"), Some("gone")] {
        let mut lines = asked_anew();
        lines.extend(end.map(goes_on));
        let log = log(&lines);
        assert_eq!(log.facts.other_branches, 6, "{end:?}");
        assert_eq!(messages(&log).len(), 2);
        assert!(!texts(&log).contains("Oslo"));
    }
    // What the program said before the user went back is old.
    let mut lines = asked_anew();
    lines.insert(6, goes_on("a3"));
    assert_eq!(log(&lines).facts.other_branches, 6);
    // And back again.
    lines.push(user("u3", "", json!("Plan a day in Moss.")));
    lines.push(says("a5", "u3", "m4", "Gladly."));
    let log = log(&lines);
    assert_eq!(log.facts.other_branches, 8);
    assert_eq!(messages(&log).len(), 2);
}

// LCC-19: only where all signs say so.
#[test]
fn second_prompt_that_hangs_on_nothing_may_leave_nothing() {
    let at = |index: usize, line: Value| {
        let mut lines = asked_anew();
        lines[index] = line;
        lines
    };
    let and = |line: Value| {
        let mut lines = asked_anew();
        lines.push(line);
        lines
    };
    let bergen = || user("u2", "", json!("Plan a week in Bergen."));
    let typed = |text: &str| user("u2", "", json!(text));
    let mut hook = with(bergen(), "type", json!("attachment"));
    hook["attachment"] = json!({"type": "queued_command", "prompt": "Bergen!"});
    for lines in [
        at(6, with(bergen(), "sessionId", json!("s-2"))),
        at(6, with(bergen(), "isMeta", json!(true))),
        at(
            6,
            typed("<local-command-stdout>Set model</local-command-stdout>"),
        ),
        at(6, typed("<command-name>/model</command-name>")),
        at(6, typed("[Request interrupted by user]")),
        at(
            0,
            user("u1", "", json!("<command-name>/model</command-name>")),
        ),
        at(
            0,
            with(user("u1", "", json!("Oslo.")), "isMeta", json!(true)),
        ),
        at(6, hook),
        // The program still goes on with the first one.
        and(goes_on("a3")),
        and(says("a5", "a3", "m4", "Or fly.")),
    ] {
        let log = log(&lines);
        assert_eq!(log.facts.other_branches, 0, "{lines:?}");
    }
    // Nobody answered the first one.
    let unanswered = [bergen(), user("u3", "", json!("And Moss?"))];
    assert_eq!(log(&unanswered).facts.other_branches, 0);
    // A part of a response whose own parent is in no line is not certain to be of the first one.
    let block = json!({"type": "text", "text": "Wait."});
    let lines = at(5, reply("a3", "lost", "m2", block));
    assert_eq!(log(&lines).facts.other_branches, 0);
}

// LCC-19: a boundary begins anew.
#[test]
fn compaction_parts_prompts_that_hang_on_nothing() {
    let mut summary = user("s1", "b1", json!("Oslo was planned."));
    summary["isCompactSummary"] = json!(true);
    let boundary = json!({
        "parentUuid": null, "logicalParentUuid": "a3", "type": "system", "uuid": "b1",
        "subtype": "compact_boundary", "sessionId": "s-1", "content": "Conversation compacted",
    });
    let mut lines = asked_anew();
    lines.splice(6..6, [boundary, summary]);
    let log = log(&lines);
    assert_eq!(log.facts.other_branches, 0);
    assert!(texts(&log).contains("Oslo was planned."));
}
