//! Conversations for these tests, written by hand.

use serde_json::{Value, json};

fn user(text: &str) -> Value {
    json!({"role": "user", "content": text})
}

fn says(text: &str) -> Value {
    json!({"role": "assistant", "content": text})
}

fn step(text: &str, calls: &[(&str, &str, Value, &str)]) -> Vec<Value> {
    let list: Vec<Value> = calls
        .iter()
        .map(|(id, tool, arguments, _)| {
            json!({"id": id, "type": "function", "function": {"name": tool, "arguments": arguments.to_string()}})
        })
        .collect();
    let outputs = calls
        .iter()
        .map(|(id, _, _, output)| json!({"role": "tool", "tool_call_id": id, "content": output}));
    std::iter::once(json!({"role": "assistant", "content": text, "tool_calls": list}))
        .chain(outputs)
        .collect()
}

/// Returns a conversation in which an agent fixes a ledger, with two parallel calls and a failing test.
pub(super) fn bug_fix() -> String {
    let source: String = (0..120)
        .map(|i| format!("    let entry_{i} = book.line({i})?; // carries over\n"))
        .collect();
    let log: String = (0..150)
        .map(|i| format!("   Compiling part-{i} v0.{i}.1\n"))
        .collect();
    let failing = format!(
        "{log}running 3 tests\ntest sums ... FAILED\nassertion failed: ledger total is 41, expected 42\nexit code: 101\n"
    );
    let mut messages = vec![
        json!({"role": "system", "content": "You mend programs."}),
        user("The ledger is off by one."),
        says("I will have a look."),
        user(&format!(
            "Never touch the files under vendor/! The sums are wrong since Tuesday. You must run the linter before each commit.\n{}",
            "The ledger came with the old book and grew a little every year. ".repeat(150),
        )),
    ];
    messages.extend(step(
        "Let me read both.",
        &[
            ("c1", "read_file", json!({"path": "src/ledger.rs"}), &source),
            ("c2", "read_file", json!({"path": "src/book.rs"}), &source),
        ],
    ));
    messages.extend(step(
        "Now the tests.",
        &[(
            "c3",
            "shell",
            json!({"command": "cargo test sums"}),
            &failing,
        )],
    ));
    messages.extend(step(
        "The loop starts at one.\n\nNext steps:\n- run the linter\n- commit",
        &[(
            "c4",
            "edit_file",
            json!({"path": "src/ledger.rs", "old": source, "new": "0.."}),
            "ok",
        )],
    ));
    for round in 0..8 {
        let id = format!("d{round}");
        messages.extend(step(
            "Looking further.",
            &[(
                &id,
                "shell",
                json!({"command": format!("git log -{round}")}),
                &log,
            )],
        ));
    }
    messages.push(user("How far are you?"));
    json!({"model": "gpt-4o", "messages": messages}).to_string()
}

/// Returns a conversation in Anthropic's format in which an agent changes a journey. Its outputs hold ids.
pub(super) fn tickets() -> String {
    let trips: Vec<Value> = (0..30)
        .map(|i| json!({"trip_id": format!("TRIP-{}", 77_091 + i), "from": "Porto", "seats": i % 9, "note": "window or aisle"}))
        .collect();
    let call = |id: &str, tool: &str, input: Value| json!({"type": "tool_use", "id": id, "name": tool, "input": input});
    let result = |id: &str, output: String| json!({"role": "user", "content": [{"type": "tool_result", "tool_use_id": id, "content": output}]});
    let messages = vec![
        user("I want to go from Porto to Bergen."),
        json!({"role": "assistant", "content": [
            {"type": "text", "text": "I look for trips."},
            call("t1", "search_trips", json!({"from": "Porto", "to": "Bergen"})),
            call("t2", "get_customer", json!({"mail": "rui@mail.test"})),
        ]}),
        json!({"role": "user", "content": [
            {"type": "tool_result", "tool_use_id": "t1", "content": json!({"trips": trips}).to_string()},
            {"type": "tool_result", "tool_use_id": "t2", "content": "{\"customer_id\": \"rui_4471\"}"},
        ]}),
        says("There are thirty. Which one?"),
        user("The last one. Only aisle seats, please."),
        json!({"role": "assistant", "content": [call("t3", "book_trip", json!({"trip_id": "TRIP-77120", "seat": "aisle"}))]}),
        result(
            "t3",
            format!(
                "{{\"booking_ref\": \"QX7P2M\", \"terms\": \"{}\"}}",
                "no refunds. ".repeat(200)
            ),
        ),
        says("It is booked."),
        user("Thank you. And the way back?"),
        json!({"role": "assistant", "content": [call("t4", "search_trips", json!({"from": "Bergen", "to": "Porto"}))]}),
        result("t4", json!({"trips": trips}).to_string()),
        says("I found some."),
        user("Take the cheapest."),
    ];
    json!({"model": "claude-sonnet-4", "max_tokens": 100, "messages": messages}).to_string()
}

/// Returns a conversation about letters in two languages.
pub(super) fn greetings() -> String {
    let letter = "拝啓 春の候、ますますご清栄のこととお慶び申し上げます。".repeat(30);
    json!([
        user("手紙を書くのを手伝ってください。"),
        says(&letter),
        user("返信は必ず敬語で書いてください。宛先は大阪の工場です。"),
        says(&letter),
        user("شكرا جزيلا. لا تقم بإرسال الرسالة قبل موافقتي. الموعد يوم الأحد."),
        says(&letter),
        user("続けてください。"),
    ])
    .to_string()
}
