use std::time::Duration;

use baler_host::{
    Budget, Limits, Request, Strategy,
    receipt::UnitOutcome,
    request::Policy,
    strategy::{ConfigError, Permission},
};

use serde_json::json;

use crate::support::{
    anthropic, assert_good, bundled, call, chat, compacted_by, host, listing, output, read, render,
    share,
};

#[tokio::test]
async fn bundled_strategies_import_only_the_contract() {
    let host = host();
    for strategy in baler_strategies::ALL {
        let loaded = bundled(host, strategy.name).await;
        let component = loaded.component().expect("a component");
        let mut expected = vec![
            Permission::Conversation,
            Permission::Tokenizer,
            Permission::Log,
        ];
        if ["tiered-model", "summarize", "anchored"].contains(&strategy.name) {
            expected.push(Permission::Model);
        }
        let mut permissions = component.permissions;
        permissions.sort();
        assert_eq!(permissions, expected, "{}", strategy.name);
        assert_eq!(
            loaded.lacks_model(),
            expected.contains(&Permission::Model),
            "{}",
            strategy.name
        );
    }
}

/// PU-1, PU-2, PU-4
#[tokio::test]
async fn bundled_strategies_introspect_and_their_default_config_obeys_their_schema() {
    let host = host();
    for strategy in baler_strategies::ALL {
        let loaded = bundled(host, strategy.name).await;
        let said = host.introspect(&loaded, None).await.expect("it says");
        assert_eq!(said.name, strategy.name);
        host.configure(loaded, "{}")
            .await
            .expect("an empty config means all defaults");
    }
}

#[tokio::test]
async fn a_config_with_a_typo_is_answered_with_the_field() {
    let host = host();
    let mask = bundled(host, "mask-tool-outputs").await;
    let error = host
        .configure(mask, r#"{"kep": 3}"#)
        .await
        .expect_err("a typo");
    assert!(matches!(error, ConfigError::Invalid { .. }));
    assert!(error.to_string().contains("'kep'"), "{error}");
    let window = bundled(host, "sliding-window").await;
    let error = host
        .configure(window, r#"{"keep": {"units": 0}}"#)
        .await
        .expect_err("out of range");
    assert!(error.to_string().contains("/keep"), "{error}");
}

async fn compacted(strategy: Strategy, document: &str, percent: f64) -> (String, Vec<UnitOutcome>) {
    let conversation = read(host(), document);
    let compaction = compacted_by(&strategy, &conversation, &share(percent / 100.0)).await;
    (
        compaction.document().to_owned(),
        compaction.changes().outcomes(),
    )
}

#[tokio::test]
async fn sliding_window_keeps_the_newest_units_beside_what_must_stay() {
    let host = host();
    let window = bundled(host, "sliding-window").await;
    let window = host
        .configure(window, r#"{"keep": {"units": 1}}"#)
        .await
        .expect("a good config");
    let (document, _) = compacted(window, &chat(), 60.0).await;
    assert_eq!(
        render(&document),
        "system You mend programs. Be brief.\n\
         user Mend the parser of the tariff tables; never touch vendor/.\n\
         user 最後の列を必ず残してください。 The rest can wait.\n\
         assistant Done so far. c4\n\
         tool c4 ok\n\
         user Now run the whole suite, please.\n\
         assistant c5,c6\n\
         tool c5 running 212 tests\n"
    );
}

#[tokio::test]
async fn mask_tool_outputs_says_what_was_there() {
    let host = host();
    let mask = bundled(host, "mask-tool-outputs").await;
    let mask = host
        .configure(mask, r#"{"keep": 0}"#)
        .await
        .expect("a good config");
    let (document, outcomes) = compacted(mask, &chat(), 65.0).await;
    assert!(outcomes.contains(&UnitOutcome::Rewritten), "{outcomes:?}");
    assert!(!outcomes.contains(&UnitOutcome::Removed), "{outcomes:?}");
    assert!(
        document.contains("<baler:rewritten by=\\\"mask-tool-outputs\\\""),
        "{}",
        render(&document)
    );
    assert!(
        document.contains("output of read left out"),
        "{}",
        render(&document)
    );
    assert!(
        document.contains("error: 3 tests failed"),
        "what failed is said in the placeholder"
    );
}

#[tokio::test]
async fn pictures_in_an_output_stay_where_its_text_is_left_alone() {
    let host = host();
    let mask = bundled(host, "mask-tool-outputs").await;
    let (document, outcomes) = compacted(mask, &anthropic(), 80.0).await;
    assert!(
        outcomes.iter().any(|outcome| *outcome != UnitOutcome::Kept),
        "{outcomes:?}"
    );
    assert!(document.contains("iVBORw0KGgo="));
}

#[tokio::test]
async fn a_window_over_an_anthropic_conversation_starts_with_the_user() {
    let host = host();
    let mut messages = vec![serde_json::json!({"role": "user", "content": "Begin."})];
    for id in 0..8 {
        let id = format!("t{id}");
        messages.push(serde_json::json!({"role": "assistant", "content": [
            {"type": "tool_use", "id": id, "name": "look", "input": {}}]}));
        messages.push(serde_json::json!({"role": "user", "content": [
            {"type": "tool_result", "tool_use_id": id, "content": listing("tide", 200)}]}));
    }
    let document = serde_json::json!({"model": "claude", "messages": messages}).to_string();
    let conversation = read(host, &document);
    let window = bundled(host, "sliding-window").await;
    let request = share(0.3).with_pins(baler_host::Pins::None);
    let compaction = host
        .compact(&conversation, &[window], &request)
        .await
        .expect("no archive that could fail");
    assert_good(&conversation, &compaction, host);
    assert!(compaction.is_compacted());
    assert!(render(compaction.document()).starts_with("user Begin."));
}

fn step(call: &serde_json::Value) -> serde_json::Value {
    json!({"role": "assistant", "content": null, "tool_calls": [call]})
}

/// A guest counts in 32 bits, which large outputs pass where two sizes are multiplied.
#[tokio::test]
async fn tiered_cuts_a_large_output_no_further_than_it_has_to() {
    let symbols: String = (0..12_000)
        .map(|number| format!("fn symbol_{number}() {{}}\n"))
        .collect();
    let mut messages = vec![
        json!({"role": "user", "content": "Which of these are used?"}),
        step(&call("c0", "list_symbols", &json!({}))),
        output("c0", &symbols),
    ];
    for number in 1..5 {
        let id = format!("c{number}");
        let path = json!({ "path": format!("src/{number}.rs") });
        messages.push(step(&call(&id, "read", &path)));
        messages.push(output(&id, "one line"));
    }
    messages.push(json!({"role": "user", "content": "Go on."}));
    let document = json!({"model": "gpt-5", "messages": messages}).to_string();
    let tiered = bundled(host(), "tiered").await;
    let (result, _) = compacted(tiered, &document, 90.0).await;
    assert!(result.len() * 2 > document.len(), "{}", result.len());
}

/// A message has to say something, whatever may leave it.
#[tokio::test]
async fn tiered_leaves_out_old_pictures_but_no_message_empty() {
    let picture = |data: &str| json!({"type": "image", "source": {"type": "base64", "media_type": "image/png", "data": data}});
    let mut messages = Vec::new();
    for day in 0..6 {
        let words = json!({"type": "text", "text": format!("That was day {day}.")});
        let content = match day % 2 {
            0 => json!([picture("aGFyYm91cg=="), words]),
            _ => json!([picture("dHJhbQ==")]),
        };
        messages.push(json!({"role": "user", "content": content}));
        messages.push(json!({"role": "assistant", "content": "Lovely."}));
    }
    messages.push(json!({"role": "user", "content": "Which day was best?"}));
    let document = json!({"model": "claude-sonnet-4-5", "max_tokens": 9, "messages": messages});
    let before = read(host(), &document.to_string());
    let request = Request::default()
        .with_budget(Budget::Share(1.0))
        .with_max_media(Some(4))
        .with_policy(Policy::default().with_remove_media(true));
    let compaction = compacted_by(&bundled(host(), "tiered").await, &before, &request).await;
    let receipt = compaction.receipt();
    assert_eq!((receipt.units.rewritten, receipt.units.removed), (2, 0));
    assert_eq!(compaction.document().matches("\"image\"").count(), 4);
}

/// A host takes a megabyte of a strategy's texts, and gives it fuel for so many.
#[tokio::test]
async fn tiered_cuts_outputs_of_many_megabytes() {
    let line = |number: u32| {
        let request = number.wrapping_mul(2_654_435_761);
        format!(
            "worker-{} took {number} ms for /items/{request}\n",
            number % 7
        )
    };
    let log = |outputs: u32, lines: u32| {
        let mut messages = vec![json!({"role": "user", "content": "Which were slow?"})];
        for number in 0..outputs {
            let id = format!("c{number}");
            let text: String = (number * lines..(number + 1) * lines).map(line).collect();
            messages.push(step(&call(
                &id,
                "shell",
                &json!({ "command": format!("cat {number}.log") }),
            )));
            messages.push(output(&id, &text));
        }
        for number in 0..4 {
            let id = format!("d{number}");
            messages.push(step(&call(&id, "shell", &json!({ "command": "date" }))));
            messages.push(output(&id, "09:41"));
        }
        json!({"model": "gpt-5", "messages": messages}).to_string()
    };
    // Nothing but names.
    let numbers: String = (0..400_000_u32)
        .map(|number| format!("{}\n", number * 7_919))
        .collect();
    // Many outputs of one response.
    let parallel = |outputs: u32, lines: u32| {
        let ids: Vec<String> = (0..outputs).map(|number| format!("p{number}")).collect();
        let calls: Vec<_> = ids
            .iter()
            .map(|id| call(id, "shell", &json!({ "command": format!("cat {id}.log") })))
            .collect();
        let mut messages = vec![json!({"role": "user", "content": "Which were slow?"})];
        messages.push(json!({"role": "assistant", "content": null, "tool_calls": calls}));
        for (number, id) in (0..).zip(&ids) {
            let text: String = (number * lines..(number + 1) * lines).map(line).collect();
            messages.push(output(id, &text));
        }
        messages.push(json!({"role": "user", "content": "And which was slowest?"}));
        json!({"model": "gpt-5", "messages": messages}).to_string()
    };
    let of_numbers = json!({"model": "gpt-5", "messages": [
        {"role": "user", "content": "Which are prime?"},
        step(&call("c", "list", &json!({}))),
        output("c", &numbers),
        {"role": "user", "content": "Go on."},
    ]});
    // It is fuel that must do; how long it takes depends on what else the machine does.
    let limits = Limits::default().with_time(Duration::from_secs(60));
    let tiered = bundled(host(), "tiered").await.with_limits(limits);
    for document in [parallel(8, 22_000), of_numbers.to_string()] {
        assert!(document.len() > 3 << 20, "{}", document.len());
        // It asserts that nothing fell back.
        compacted(tiered.clone(), &document, 30.0).await;
    }
    for document in [log(1, 100_000), log(40, 2_500)] {
        assert!(document.len() > 4 << 20, "{}", document.len());
        for percent in [90.0, 40.0, 10.0] {
            // It asserts that nothing fell back.
            let (result, _) = compacted(tiered.clone(), &document, percent).await;
            // Two fifths of the budget at least, or most of what a host takes.
            let least = (document.len() as f64 * percent / 250.0).min(450_000.0);
            assert!(result.len() as f64 > least, "{percent}: {}", result.len());
        }
    }
}

/// A host that lives long would otherwise put it in quarantine for what one tool printed.
#[tokio::test]
async fn tiered_has_fuel_for_one_output_full_of_names() {
    let number = |place: u64| place.wrapping_mul(0x9e37_79b9_7f4a_7c15);
    let kinds: [&dyn Fn(u64) -> String; 5] = [
        &|place| format!("{:016x} ", number(place)),
        &|place| format!("{}\n", number(place)),
        &|place| format!("berth_{}=tide_{place}\n", number(place) >> 40),
        &|place| {
            format!(
                "https://quay.example/ferry/{:x}/{place}.html\n",
                number(place)
            )
        },
        &|place| format!("src/port/berth_{place}/tide_{:x}.rs\n", number(place) >> 32),
    ];
    // It is fuel that must do; how long it takes depends on what else the machine does.
    let limits = Limits::default().with_time(Duration::from_secs(60));
    let tiered = bundled(host(), "tiered").await.with_limits(limits);
    for (kind, line) in kinds.into_iter().enumerate() {
        for (bytes, percent) in [(600_000, 40.0), (1_100_000, 4.0)] {
            let mut text = String::new();
            for place in 0.. {
                if text.len() >= bytes {
                    break;
                }
                text.push_str(&line(place));
            }
            let document = json!({"model": "gpt-5", "messages": [
                {"role": "user", "content": "Which berths are free? 空きは?"},
                step(&call("c", "list", &json!({"harbour": "north"}))),
                output("c", &text),
                step(&call("d", "shell", &json!({"command": "date"}))),
                output("d", "09:41"),
                {"role": "user", "content": "Go on."},
            ]});
            let conversation = read(host(), &document.to_string());
            // It asserts that nothing fell back.
            let compaction = compacted_by(&tiered, &conversation, &share(percent / 100.0)).await;
            let fuel = compaction.receipt().attempts[0].usage.fuel;
            let fuel = fuel.expect("it ended by itself");
            // A quarter is to spare.
            assert!(fuel < limits.fuel / 4 * 3, "{kind}, {bytes}: {fuel}");
        }
    }
}

/// The host escapes what looks like a mark of its own, and a text must not grow by that beyond
/// what it was counted with.
#[tokio::test]
async fn tiered_keeps_its_budget_where_every_message_quotes_marks() {
    let tags = "error: unexpected </baler:summary> behind <baler:rewritten>\n".repeat(20);
    let mut messages = vec![json!({"role": "user", "content": "Mend the marks."})];
    for number in 0..12 {
        let id = format!("c{number}");
        let rule = format!("Never touch <baler:summary> in file_{number}.rs!");
        messages.push(json!({"role": "user", "content": rule}));
        let path = json!({ "path": format!("file_{number}.rs") });
        messages.push(step(&call(&id, "grep", &path)));
        messages.push(output(&id, &tags));
    }
    messages.push(json!({"role": "assistant", "content": "All marked."}));
    messages.push(json!({"role": "user", "content": "Go on."}));
    let document = json!({"model": "gpt-5", "messages": messages}).to_string();
    let tiered = bundled(host(), "tiered").await;
    // The host knows them in any case, and behind signs.
    for word in ["baler:", "BALER:", "/ baler:"] {
        let document = document.replace("baler:", word);
        for percent in (5..60).step_by(2) {
            // It asserts that nothing fell back.
            compacted(tiered.clone(), &document, f64::from(percent)).await;
        }
    }
}

/// A task, twelve small payments, an output that is larger than any budget, its answer, and a question.
fn payments_and_a_huge_output() -> String {
    let mut messages =
        vec![json!({"role": "user", "content": "Pay the harbour dues, then check the log."})];
    for berth in 0..12 {
        let id = format!("p{berth}");
        messages.push(json!({"role": "assistant", "content": null, "tool_calls": [call(&id, "pay", &json!({"berth": berth}))]}));
        messages.push(output(&id, &format!("領収書 receipt-{berth:02}: paid")));
    }
    messages.push(json!({"role": "assistant", "content": null, "tool_calls": [
        call("log", "read", &json!({"path": "harbour.log"})),
        call("state", "state", &json!({})),
    ]}));
    messages.push(output("log", &listing("berth", 20_000)));
    messages.push(output("state", "all gates open"));
    messages.push(
        json!({"role": "assistant", "content": "Everything is paid; the log shows nothing new."}),
    );
    messages.push(json!({"role": "user", "content": "Which receipts have no owner?"}));
    json!({"model": "gpt-4o", "messages": messages}).to_string()
}

#[tokio::test]
async fn one_huge_output_does_not_take_the_place_of_everything_else() {
    let host = host();
    let document = payments_and_a_huge_output();
    let mut strategies = vec![Strategy::digest(), Strategy::truncate()];
    for name in ["sliding-window", "mask-tool-outputs", "trim", "tiered"] {
        strategies.push(bundled(host, name).await);
    }
    for strategy in strategies {
        let name = strategy.name().to_owned();
        let (result, outcomes) = compacted(strategy, &document, 40.0).await;
        let receipts = result.matches("receipt-").count();
        assert!(receipts >= 11, "{name}: {receipts}");
        assert_ne!(outcomes[13], UnitOutcome::Kept, "{name}");
    }
}
