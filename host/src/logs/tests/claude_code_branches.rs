use serde_json::{Value, json};

use super::claude_code::{calls, result, says, user};
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
fn a_branch_that_is_gone_on_with_is_not_left() {
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
fn a_text_of_the_user_beside_another_one_is_no_branch() {
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
fn a_chain_through_lines_without_messages_holds() {
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
