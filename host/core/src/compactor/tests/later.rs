//! What comes while a compaction runs, where it cannot stand behind the result as it came.

use serde_json::{Value, json};

use baler_conversation::Format;

use super::{block_on, by_tokens, compactor, fill, host, long, said, state_of};
use crate::compactor::{Compactor, CompactorOptions};
use crate::strategy::Strategy;
use crate::{Pins, receipt::UnitOutcome};

fn of(model: &str, messages: &[Value], options: CompactorOptions) -> Compactor {
    let body = json!({"model": model, "max_tokens": 9, "messages": messages}).to_string();
    let host = host();
    let conversation = host.read_as(&body, Format::Anthropic).expect("reads");
    Compactor::new(host, conversation, [Strategy::truncate()], options).expect("makes sense")
}

/// What the model thought and called, and what came of it.
fn tool_step(number: usize) -> [Value; 2] {
    let call = format!("call-{number}");
    let thinking = format!("Thought {number} about the file. ").repeat(5);
    let lines = format!("Line {number} of the file. ").repeat(20);
    [
        json!({"role": "assistant", "content": [
            {"type": "thinking", "thinking": thinking, "signature": "c2ln"},
            {"type": "tool_use", "id": call, "name": "read", "input": {}}]}),
        json!({"role": "user", "content": [
            {"type": "tool_result", "tool_use_id": call, "content": lines}]}),
    ]
}

fn messages(compactor: &Compactor) -> Vec<Value> {
    let body: Value = serde_json::from_str(compactor.document()).expect("JSON");
    body["messages"].as_array().expect("a list").clone()
}

/// The work's result, and `later` that came meanwhile.
fn apply_beside(one: &mut Compactor, later: &[Value]) {
    let work = one.work();
    for message in later {
        one.append(&message.to_string()).expect("is a message");
    }
    let finished = block_on(work.run());
    assert!(one.apply(finished).expect("no archive").is_compacted());
    assert!(!one.conversation().is_broken());
    // It goes on from what it saves.
    let again = Compactor::resume(
        host(),
        &state_of(one),
        [Strategy::truncate()],
        by_tokens(900),
    )
    .expect("goes on");
    assert_eq!(messages(&again), messages(one));
    assert_eq!(again.tokens(), one.tokens());
    assert!(again.history().eq(one.history()));
    assert_eq!(again.seen_before(0), one.seen_before(0));
    let read = host().read_as(one.document(), Format::Anthropic);
    assert_eq!(read.expect("reads").tokens(), one.tokens());
}

#[test]
fn thinking_that_came_meanwhile_goes_where_the_model_binds_it() {
    for (model, is_bound) in [("claude-opus-5-5", true), ("claude-sonnet-4-5", false)] {
        let mut begun = vec![said("user", "Fix the bug.")];
        begun.extend((0..12).flat_map(tool_step));
        let mut one = of(model, &begun, by_tokens(900));
        let later = tool_step(12);
        apply_beside(&mut one, &later);
        let messages = messages(&one);
        let [answer, output] = &messages[messages.len() - 2..] else {
            panic!("{messages:?}");
        };
        assert_eq!(*output, later[1]);
        assert_eq!(*answer == later[0], !is_bound, "{model}");
        assert_eq!(answer["content"][usize::from(!is_bound)]["id"], "call-12");
        assert_eq!(one.document().contains("Thought 12"), !is_bound);
        assert!(one.history().any(|message| message.contains("Thought 12")));
        assert_eq!(one.history().count(), begun.len() + 2);
        assert_eq!(one.compactions(), 1);
    }
}

/// ANTH-1
#[test]
fn instructions_at_the_end_of_a_result_stand_behind_what_the_user_said_meanwhile() {
    let mut begun = vec![said("user", "Fix the bug.")];
    for number in 0..12 {
        begun.push(said("assistant", &format!("Answer {number}. ").repeat(60)));
        begun.push(said("user", &format!("Message {number}. ").repeat(30)));
    }
    let system = said("system", "Mind the rule R7.");
    begun.insert(begun.len() - 2, system.clone());
    let options = CompactorOptions {
        target_tokens: Some(100),
        ..by_tokens(900)
    };
    let mut one = of("claude-opus-5-5", &begun, options);
    let is_system = |one: &Compactor, unit: usize| {
        let mut raws = one.conversation().raw_messages(unit);
        raws.any(|raw| raw.contains("R7"))
    };
    let units = one.conversation().units().len();
    let pinned: Vec<usize> = (0..units).filter(|unit| is_system(&one, *unit)).collect();
    one.pin(Pins::Units(pinned)).expect("is there");
    let later = said("user", "And one thing more.");
    apply_beside(&mut one, std::slice::from_ref(&later));
    let messages = messages(&one);
    assert_eq!(messages[messages.len() - 2..], [later, system]);
    let Pins::Units(pinned) = one.pinned.pins(one.conversation()) else {
        panic!("units were pinned");
    };
    assert!(pinned.len() == 1 && is_system(&one, pinned[0]));
}

/// ANTH-1
#[test]
fn instructions_that_the_user_ended_meanwhile_do_not_hold_again() {
    for is_pinned in [false, true] {
        let mut begun = vec![said("user", "Fix the bug.")];
        for number in 0..12 {
            begun.push(said("assistant", &format!("Answer {number}. ").repeat(60)));
            begun.push(said("user", &format!("Message {number}. ").repeat(3)));
        }
        let mut brief = said("system", "Only list, change no file.");
        brief["clear_at"] = json!("next_user_message");
        let rule = said("system", "Mind the rule R7.");
        begun.extend([brief.clone(), rule.clone()]);
        let list = "Here is the list. ".repeat(60);
        begun.push(said("assistant", list.trim_end()));
        let options = CompactorOptions {
            target_tokens: Some(100),
            ..by_tokens(900)
        };
        let mut one = of("claude-opus-5-5", &begun, options);
        if is_pinned {
            let at = one.conversation().units().len() - 3;
            one.pin(Pins::Units(vec![at])).expect("is there");
        } else {
            one.pin(Pins::FirstUser).expect("names no unit");
        }
        let later = said("user", "Now change the files.");
        if is_pinned {
            let work = one.work();
            one.append(&later.to_string()).expect("is a message");
            let finished = block_on(work.run());
            assert!(!one.apply(finished).expect("no archive").is_compacted());
            assert!(one.document().contains("Only list") && one.document().contains("Here is"));
            continue;
        }
        apply_beside(&mut one, std::slice::from_ref(&later));
        let messages = messages(&one);
        assert_eq!(messages[messages.len() - 2..], [later, rule]);
        assert!(!messages.contains(&brief));
        let brief = brief.to_string();
        assert!(one.history().any(|message| message == brief));
    }
}

/// A compactor of OpenAI Responses whose newest response begins with reasoning, and may end with words
/// and a call.
fn reasoned(ends_with_call: bool) -> Compactor {
    let reasoning =
        |id: &str| json!({"type": "reasoning", "id": format!("rs_{id}"), "summary": []});
    let mut input = vec![said("user", "Fix the bug.")];
    for number in 0..12 {
        input.push(reasoning(&number.to_string()));
        input.extend(called(
            &number.to_string(),
            &"A line of the file. ".repeat(20),
        ));
    }
    let words = "Now I write all of the file. ".repeat(30);
    input.push(reasoning("x"));
    input.push(
        json!({"type": "message", "id": "msg_x", "role": "assistant", "status": "completed",
        "content": [{"type": "output_text", "text": words, "annotations": []}]}),
    );
    if ends_with_call {
        input.extend(called("x", "written").into_iter().take(1));
    }
    let body = json!({"model": "gpt-5", "input": input}).to_string();
    let host = host();
    let conversation = host.read_as(&body, Format::OpenAiResponses).expect("reads");
    let options = CompactorOptions {
        target_tokens: Some(100),
        ..by_tokens(900)
    };
    Compactor::new(host, conversation, [Strategy::truncate()], options).expect("makes sense")
}

/// A call of OpenAI Responses, and its output.
fn called(number: &str, output: &str) -> [Value; 2] {
    [
        json!({"type": "function_call", "id": format!("fc_{number}"), "call_id": format!("c{number}"),
            "name": "write", "arguments": "{}"}),
        json!({"type": "function_call_output", "call_id": format!("c{number}"), "output": output}),
    ]
}

/// RESP-3: no rule tells of reasoning that is not there.
#[test]
fn what_came_meanwhile_stands_behind_no_result_that_lacks_its_reasoning() {
    for ends_with_call in [false, true] {
        let mut one = reasoned(ends_with_call);
        let work = one.work();
        let later = called("x", "written");
        for item in later.iter().skip(usize::from(ends_with_call)) {
            one.append(&item.to_string()).expect("is an item");
        }
        let before = one.document().to_owned();
        let finished = block_on(work.run());
        let Ok(Ok(compaction)) = &finished.result else {
            panic!("{finished:?}");
        };
        // A response that waits for an output stays.
        let has_left = compaction.changes().outcomes().last() == Some(&UnitOutcome::Removed);
        assert_eq!(has_left, !ends_with_call);
        let applied = one.apply(finished).expect("no archive");
        assert_eq!(applied.is_compacted(), ends_with_call);
        assert!(one.document().contains("rs_x") && one.document().contains("written"));
        assert_eq!(one.document() == before, !ends_with_call);
        assert_eq!(one.compactions(), usize::from(ends_with_call));
    }
}

#[test]
fn what_came_while_work_came_to_nothing_was_not_tried() {
    let mut one = compactor(by_tokens(900));
    fill(&mut one, 12);
    one.pin(Pins::Units((0..13).collect())).expect("are there");
    let work = one.work();
    fill(&mut one, 8);
    let finished = block_on(work.run());
    assert!(!one.apply(finished).expect("no archive").is_compacted());
    assert!(!one.is_held(false));
}

/// It is none of what a compaction left beyond the trigger.
#[test]
fn what_came_meanwhile_fires_a_trigger_at_once() {
    let mut one = compactor(by_tokens(900));
    fill(&mut one, 12);
    let work = one.work();
    for number in 0..10 {
        let role = if number % 2 == 0 { "assistant" } else { "user" };
        one.append(&long(role, number)).expect("is a message");
    }
    let finished = block_on(work.run());
    assert!(one.apply(finished).expect("no archive").is_compacted());
    assert!(one.tokens() > 900);
    assert!(one.pressure().is_some());
}
