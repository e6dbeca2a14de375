//! Tool outputs that the model has not seen yet stay, whoever decides (invariant I4).

use baler_corpus::sound;
use baler_host::{
    Budget, Compaction, Conversation, Format, Host, Pins, Request, Strategy,
    conversation::{SecretKey, UnitKind},
    receipt::UnitOutcome,
    request::Policy,
};
use serde_json::{Value, json};

use super::support::{bundled, call, host, host_with, listing, share};

/// Strategies that ship with baler and need no model.
const BUNDLED: [&str; 5] = [
    "tiered",
    "sliding-window",
    "mask-tool-outputs",
    "coalesce",
    "trim",
];

/// What the newest step's tools gave back: small, and far too large.
fn newest_outputs() -> [String; 2] {
    let mut lines: Vec<String> = (0..3_000)
        .map(|line| format!("berth {line}: 停泊中 draught {}.{} m", line % 9, line % 7))
        .collect();
    lines[1_700] = "error: berth 1700 has no depth in the chart".to_owned();
    ["07:14 and 19:40".to_owned(), lines.join("\n")]
}

fn old_steps() -> impl Iterator<Item = (String, String)> {
    (0..12).map(|step| (format!("old-{step}"), listing("quay", 300 + step * 20)))
}

fn chat() -> Value {
    let mut messages = vec![
        json!({"role": "system", "content": "You run a harbour."}),
        json!({"role": "user", "content": "Find a berth for the Aurora; never use quay 3."}),
    ];
    for (id, text) in old_steps() {
        messages.push(json!({"role": "assistant", "content": "Next quay.",
            "tool_calls": [call(&id, "quay", &json!({"of": id}))]}));
        messages.push(json!({"role": "tool", "tool_call_id": id, "content": text}));
    }
    let [tides, berths] = newest_outputs();
    messages.push(json!({"role": "assistant", "content": null, "tool_calls": [
        call("t", "tides", &json!({})), call("b", "berths", &json!({"all": true}))]}));
    messages.push(json!({"role": "tool", "tool_call_id": "t", "content": tides}));
    messages.push(json!({"role": "tool", "tool_call_id": "b", "content": berths}));
    json!({"model": "gpt-4o", "messages": messages})
}

fn responses() -> Value {
    let mut input =
        vec![json!({"role": "user", "content": "Find a berth for the Aurora; never use quay 3."})];
    let call = |id: &str, name: &str| json!({"type": "function_call", "call_id": id, "name": name, "arguments": "{}"});
    let output = |id: &str, text: &str| json!({"type": "function_call_output", "call_id": id, "output": text});
    for (id, text) in old_steps() {
        input.push(call(&id, "quay"));
        input.push(output(&id, &text));
    }
    let [tides, berths] = newest_outputs();
    input.extend([call("t", "tides"), call("b", "berths")]);
    input.extend([output("t", &tides), output("b", &berths)]);
    json!({"model": "gpt-5", "instructions": "You run a harbour.", "input": input})
}

fn anthropic() -> Value {
    let mut messages =
        vec![json!({"role": "user", "content": "Find a berth for the Aurora; never use quay 3."})];
    let call =
        |id: &str, name: &str| json!({"type": "tool_use", "id": id, "name": name, "input": {}});
    let output =
        |id: &str, text: &str| json!({"type": "tool_result", "tool_use_id": id, "content": text});
    for (id, text) in old_steps() {
        messages.push(json!({"role": "assistant", "content": [call(&id, "quay")]}));
        messages.push(json!({"role": "user", "content": [output(&id, &text)]}));
    }
    let [tides, berths] = newest_outputs();
    messages
        .push(json!({"role": "assistant", "content": [call("t", "tides"), call("b", "berths")]}));
    messages.push(json!({"role": "user", "content": [output("t", &tides),
        {"type": "tool_result", "tool_use_id": "b", "content": [{"type": "text", "text": berths}]}]}));
    json!({"model": "claude-sonnet-4-5", "max_tokens": 9, "system": "You run a harbour.", "messages": messages})
}

fn gemini() -> Value {
    let mut contents = vec![
        json!({"role": "user", "parts": [{"text": "Find a berth for the Aurora; never use quay 3."}]}),
    ];
    let call = |name: &str| json!({"functionCall": {"name": name, "args": {}}});
    let output = |name: &str, text: &str| json!({"functionResponse": {"name": name, "response": {"output": text}}});
    for (_, text) in old_steps() {
        contents.push(json!({"role": "model", "parts": [call("quay")]}));
        contents.push(json!({"role": "user", "parts": [output("quay", &text)]}));
    }
    let [tides, berths] = newest_outputs();
    contents.push(json!({"role": "model", "parts": [call("tides"), call("berths")]}));
    contents.push(
        json!({"role": "user", "parts": [output("tides", &tides), output("berths", &berths)]}),
    );
    json!({"contents": contents, "systemInstruction": {"parts": [{"text": "You run a harbour."}]}})
}

fn all_formats() -> [(Format, Value); 4] {
    [
        (Format::OpenAiChat, chat()),
        (Format::OpenAiResponses, responses()),
        (Format::Anthropic, anthropic()),
        (Format::Gemini, gemini()),
    ]
}

/// The text of the giant output as it is in a document, whatever the format.
fn berths_in(document: &str) -> String {
    fn find(value: &Value, found: &mut Vec<String>) {
        match value {
            Value::String(text) if text.contains("berth 0:") => found.push(text.clone()),
            Value::Array(list) => list.iter().for_each(|value| find(value, found)),
            Value::Object(map) => map.values().for_each(|value| find(value, found)),
            _ => {}
        }
    }
    let mut found = Vec::new();
    find(&serde_json::from_str(document).expect("JSON"), &mut found);
    assert_eq!(found.len(), 1, "the output stands there once");
    found.remove(0)
}

async fn compacted(host: &Host, body: &Value, chain: &[Strategy], request: &Request) -> Compaction {
    let conversation = host.read(body.to_string()).expect("reads");
    let compaction = host
        .compact(&conversation, chain, request)
        .await
        .expect("an archive that stores");
    assert_eq!(
        sound::check(
            conversation.format().name(),
            conversation.document(),
            compaction.document()
        ),
        Ok(())
    );
    compaction
}

fn to(tokens: u32) -> Request {
    Request::default().with_budget(Budget::Tokens(tokens))
}

#[tokio::test]
async fn every_strategy_keeps_unseen_outputs_at_every_budget() {
    let host = host();
    let mut chains = vec![vec![Strategy::digest()], vec![Strategy::truncate()]];
    for name in BUNDLED {
        chains.push(vec![bundled(host, name).await]);
    }
    for (format, body) in all_formats() {
        let whole = host.read(body.to_string()).expect("reads");
        assert_eq!(whole.format(), format);
        for chain in &chains {
            for share in [0.02, 0.05, 0.1, 0.25, 0.5, 0.9] {
                let what = format!("{format} {} {share}", chain[0].name());
                let tokens = (f64::from(whole.tokens()) * share) as u32;
                let compaction = compacted(host, &body, chain, &to(tokens)).await;
                assert!(compaction.is_compacted(), "{what}");
                let receipt = compaction.receipt();
                let limit = receipt.tokens.budget.max(receipt.tokens.floor);
                let after = compaction.conversation().tokens();
                assert!(after <= limit, "{what}: {after} of {limit}");
                // Four hundred tokens for the giant output, and the rest is small.
                assert!(
                    receipt.tokens.floor < 900,
                    "{what}: the floor is {}",
                    receipt.tokens.floor
                );
                let text = berths_in(compaction.document());
                for line in [
                    "berth 0:",
                    "berth 2999:",
                    "error: berth 1700 has no depth in the chart",
                ] {
                    assert!(text.contains(line), "{what}: {line}");
                }
                assert!(compaction.document().contains("07:14 and 19:40"), "{what}");
            }
        }
    }
}

/// Where the user spoke beside outputs their step stays. They were seen, and are not the last of a
/// result, where they would count as unseen and be shortened by the next compaction (I3).
#[tokio::test]
async fn the_answer_stays_behind_outputs_that_stay_for_the_words_beside_them() {
    let host = host();
    let mut anthropic = anthropic();
    let messages = anthropic["messages"].as_array_mut().expect("a list");
    let newest = messages.last_mut().expect("a message");
    let blocks = newest["content"].as_array_mut().expect("blocks");
    blocks.push(json!({"type": "text", "text": "The Aurora is 80 m long."}));
    messages.push(json!({"role": "assistant", "content": [
        {"type": "tool_use", "id": "l", "name": "look", "input": {}}]}));
    messages.push(json!({"role": "user", "content": [
        {"type": "tool_result", "tool_use_id": "l", "content": "free"}]}));
    // What nobody but a model writes: plain words at the end might be there to be gone on with.
    messages.push(json!({"role": "assistant", "content": [
        {"type": "text", "text": "Berth 12 it is.", "citations": [{"type": "char_location",
            "cited_text": "free", "document_index": 0, "document_title": "berths",
            "start_char_index": 0, "end_char_index": 4}]}]}));
    let mut gemini = gemini();
    let contents = gemini["contents"].as_array_mut().expect("a list");
    let newest = contents.last_mut().expect("a content");
    let parts = newest["parts"].as_array_mut().expect("parts");
    parts.push(json!({"text": "The Aurora is 80 m long."}));
    contents
        .push(json!({"role": "model", "parts": [{"functionCall": {"name": "look", "args": {}}}]}));
    contents.push(json!({"role": "user", "parts": [
        {"functionResponse": {"name": "look", "response": {"output": "free"}}}]}));
    contents.push(json!({"role": "model", "parts": [
        {"executableCode": {"language": "PYTHON", "code": "12"}},
        {"codeExecutionResult": {"outcome": "OUTCOME_OK", "output": "12"}},
        {"text": "Berth 12 it is."}]}));
    for body in [anthropic, gemini] {
        for chain in [[Strategy::digest()], [Strategy::truncate()]] {
            let first = compacted(host, &body, &chain, &to(1)).await;
            assert!(first.is_compacted() && first.receipt().tokens.below_floor);
            assert!(first.document().contains("Berth 12 it is."));
            assert!(!first.document().contains("\"look\""));
            // The output is there only beside what the user said.
            assert_eq!(first.receipt().units.texts_shortened, 1);
            let second = host.compact(first.conversation(), &chain, &to(1)).await;
            let second = second.expect("no archive that could fail");
            assert_eq!(second.document(), first.document());
        }
    }
}

/// Requests that go on with a turn that was paused: each ends with what the provider's own tools gave
/// back, in which `soundings` stands.
fn paused() -> [(Format, Value, Value); 3] {
    let searched = |id: &str| {
        let input = json!({"query": "soundings of berth 12"});
        let found = json!([{"type": "web_search_result", "url": "https://port.example", "title": "Port",
            "encrypted_content": "soundings"}]);
        [
            json!({"type": "server_tool_use", "id": id, "name": "web_search", "input": input}),
            json!({"type": "web_search_tool_result", "tool_use_id": id, "content": found}),
        ]
    };
    let text = json!({"type": "text", "text": "I look for the depth."});
    let blocks: Vec<Value> = [text]
        .into_iter()
        .chain(searched("srvtoolu_1"))
        .chain(searched("srvtoolu_2"))
        .collect();
    [
        (
            Format::Anthropic,
            anthropic(),
            json!({"role": "assistant", "content": blocks}),
        ),
        (
            Format::OpenAiResponses,
            responses(),
            json!({"type": "web_search_call", "id": "ws_1", "status": "completed",
                "action": {"type": "search", "query": "soundings of berth 12"}}),
        ),
        (
            Format::Gemini,
            gemini(),
            json!({"role": "model", "parts": [
                {"executableCode": {"language": "PYTHON", "code": "soundings(12)"}},
                {"codeExecutionResult": {"outcome": "OUTCOME_OK", "output": "12"}},
                {"text": "", "thoughtSignature": "c2ln"}]}),
        ),
    ]
}

/// Nothing calls the provider's own tools again, and the model has not told what came of them.
#[tokio::test]
async fn outputs_of_hosted_tools_stay_where_a_paused_turn_ends_a_request() {
    let host = host();
    for (format, mut body, turn) in paused() {
        messages_of(format, &mut body).push(turn.clone());
        for chain in [[Strategy::digest()], [Strategy::truncate()]] {
            let first = compacted(host, &body, &chain, &to(1)).await;
            assert!(first.is_compacted() && first.receipt().tokens.below_floor);
            let mut after: Value = serde_json::from_str(first.document()).expect("JSON");
            assert_eq!(messages_of(format, &mut after).last(), Some(&turn));
            let second = host.compact(first.conversation(), &chain, &to(1)).await;
            let second = second.expect("no archive that could fail");
            assert_eq!(second.document(), first.document());
        }
    }
}

/// An output, an approval and what a hosted tool gave back may be there as references alone.
#[tokio::test]
async fn references_to_what_the_model_has_not_seen_stay() {
    let host = host();
    let says = json!({"role": "assistant", "content": "Berth 12 is deep enough for the Aurora at all tides."});
    let asks = json!({"role": "user", "content": "Which berths are near it?"});
    let calls = json!({"type": "function_call", "call_id": "n", "name": "near", "arguments": "{}"});
    let refers = |id: &str| json!({"type": "item_reference", "id": id});
    for behind in [
        vec![calls, refers("fco_1")],
        vec![refers("mcpr_1"), refers("mcpa_1")],
        vec![refers("rs_1"), refers("ws_1")],
    ] {
        let mut body = responses();
        let messages = messages_of(Format::OpenAiResponses, &mut body);
        messages.extend([says.clone(), asks.clone()]);
        messages.extend(behind.clone());
        let compaction = compacted(host, &body, &[Strategy::truncate()], &to(1)).await;
        assert!(compaction.is_compacted());
        let mut after: Value = serde_json::from_str(compaction.document()).expect("JSON");
        let messages = messages_of(Format::OpenAiResponses, &mut after);
        assert!(messages.ends_with(&behind), "{messages:?}");
    }
}

/// The API takes neighbours for one message, and a turn may be paused more than once.
#[tokio::test]
async fn a_turn_that_was_paused_twice_stays_with_both_its_parts() {
    let host = host();
    let [(format, mut body, turn), ..] = paused();
    let mut later = turn.clone();
    let blocks = later["content"].as_array_mut().expect("blocks");
    blocks.drain(..3);
    blocks[0]["id"] = json!("srvtoolu_3");
    blocks[1]["tool_use_id"] = json!("srvtoolu_3");
    messages_of(format, &mut body).extend([turn.clone(), later.clone()]);
    let compaction = compacted(host, &body, &[Strategy::truncate()], &to(1)).await;
    let mut after: Value = serde_json::from_str(compaction.document()).expect("JSON");
    let messages = messages_of(format, &mut after);
    assert_eq!(messages[messages.len() - 2..], [turn, later]);
}

#[tokio::test]
async fn outputs_of_hosted_tools_may_be_removed_once_the_model_answered() {
    let host = host();
    let words = "Berth 12 is deep enough for the Aurora at all tides.";
    for (format, mut body, mut turn) in paused() {
        let messages = messages_of(format, &mut body);
        match format {
            Format::OpenAiResponses => {
                messages.extend([turn, json!({"role": "assistant", "content": words})]);
            }
            Format::Gemini => {
                let parts = turn["parts"].as_array_mut().expect("parts");
                parts.push(json!({"text": words}));
                messages.push(turn);
            }
            _ => {
                let blocks = turn["content"].as_array_mut().expect("blocks");
                blocks.push(json!({"type": "text", "text": words}));
                messages.push(turn);
            }
        }
        let compaction = compacted(host, &body, &[Strategy::truncate()], &to(1)).await;
        assert!(!compaction.document().contains("soundings"), "{format}");
    }
}

/// Without its last words a request would ask for something else.
#[tokio::test]
async fn words_that_end_a_request_stay_behind_outputs_that_stay() {
    let host = host();
    let mut body = anthropic();
    let messages = body["messages"].as_array_mut().expect("a list");
    messages.push(json!({"role": "assistant", "content": "Berth 12 it"}));
    for chain in [[Strategy::digest()], [Strategy::truncate()]] {
        let first = compacted(host, &body, &chain, &to(1)).await;
        assert!(first.is_compacted() && first.receipt().units.texts_shortened > 0);
        let after: Value = serde_json::from_str(first.document()).expect("JSON");
        let last = after["messages"].as_array().and_then(|list| list.last());
        assert_eq!(last.expect("a message")["content"], "Berth 12 it");
        let second = host.compact(first.conversation(), &chain, &to(1)).await;
        let second = second.expect("no archive that could fail");
        assert_eq!(second.document(), first.document());
    }
}

/// Outputs are shortened last, and as little as the budget allows.
#[tokio::test]
async fn unseen_outputs_are_whole_where_they_fit_and_fill_the_budget_where_they_do_not() {
    let host = host();
    let mut body = chat();
    // Smaller than the rest, so that this has to go where the output fits.
    let last = body["messages"]
        .as_array_mut()
        .and_then(|list| list.last_mut());
    last.expect("a message")["content"] = json!(listing("berth", 2_000));
    let whole = host.read(body.to_string()).expect("reads");
    let units = whole.units();
    let newest = units[units.len() - 1].tokens;
    let beside = whole.overhead() + units[1].tokens;
    for name in ["sliding-window", "mask-tool-outputs", "tiered"] {
        let strategy = [bundled(host, name).await];
        // An eighth of what is free is for others.
        let fits = compacted(host, &body, &strategy, &to(beside + newest * 8 / 7 + 60)).await;
        assert_eq!(
            fits.changes().outcomes().last(),
            Some(&UnitOutcome::Kept),
            "{name}"
        );
        assert_eq!(fits.receipt().units.texts_shortened, 0, "{name}");
        let tokens = beside + newest / 2;
        let shortened = compacted(host, &body, &strategy, &to(tokens)).await;
        assert_eq!(shortened.receipt().units.texts_shortened, 1, "{name}");
        let after = shortened.conversation().tokens();
        assert!(
            after <= tokens && after > tokens * 9 / 10,
            "{name}: {after} of {tokens}"
        );
    }
}

/// However unevenly its tokens lie in it, a larger budget never leaves an output with nothing.
#[tokio::test]
async fn unseen_outputs_of_two_densities_use_half_of_every_budget_at_least() {
    let host = host();
    let digits: String = (1_u64..300)
        .map(|number| format!("{}\n", number.wrapping_mul(0x9e37_79b9_7f4a_7c15)))
        .collect();
    let rule = format!("{}\n", "=".repeat(200));
    let body = json!({"model": "gpt-4o", "messages": [
        {"role": "user", "content": "Which of them are prime?"},
        {"role": "assistant", "content": null, "tool_calls": [call("a", "list", &json!({}))]},
        {"role": "tool", "tool_call_id": "a", "content": digits + &rule.repeat(200)},
    ]});
    let whole = host.read(body.to_string()).expect("reads").tokens();
    assert!(whole > 1_200, "{whole}");
    for tokens in (0..whole).step_by(whole as usize / 40) {
        let compaction = compacted(host, &body, &[Strategy::truncate()], &to(tokens)).await;
        let receipt = compaction.receipt();
        let target = receipt.tokens.budget.max(receipt.tokens.floor);
        let after = receipt.tokens.after;
        assert!(
            after <= target && after >= target / 2,
            "{tokens}: {after} of {target}"
        );
    }
}

/// Where nothing but the unseen output is too large, nothing else has to go.
#[tokio::test]
async fn unseen_outputs_alone_are_shortened_where_that_is_enough() {
    let host = host();
    let mut body = chat();
    let messages = body["messages"].as_array_mut().expect("a list");
    messages.drain(2..messages.len() - 3);
    let whole = host.read(body.to_string()).expect("reads");
    let strategy = bundled(host, "tiered").await;
    for chain in [vec![strategy], vec![Strategy::truncate()]] {
        let compaction = compacted(host, &body, &chain, &to(whole.tokens() / 3)).await;
        assert_eq!(
            compaction.changes().outcomes(),
            [UnitOutcome::Kept, UnitOutcome::Kept, UnitOutcome::Rewritten],
            "{}",
            chain[0].name()
        );
        assert!(!compaction.receipt().fell_back, "{}", chain[0].name());
    }
}

#[tokio::test]
async fn a_shortened_output_names_the_reference_of_the_whole_even_when_shortened_again() {
    let host = host_with(|builder| builder.archive(baler_host::Archive::in_memory()));
    let body = chat();
    let once = compacted(&host, &body, &[Strategy::truncate()], &to(8_000)).await;
    let reference = |document: &str| {
        let text = berths_in(document);
        let (_, rest) = text.split_once("; whole: ").expect("a reference");
        rest.split_once(']').expect("a bracket").0.to_owned()
    };
    let first = reference(once.document());
    let twice = host
        .compact(once.conversation(), &[Strategy::truncate()], &to(2_000))
        .await
        .expect("an archive that stores");
    assert!(twice.is_compacted());
    assert_eq!(reference(twice.document()), first);
    let [_, berths] = newest_outputs();
    let archive = host.archive().expect("there is one");
    let found = archive.text(&first).await.expect("it is stored");
    let last_line = berths.lines().last().expect("a line");
    assert!(found.contains(last_line));
}

#[tokio::test]
async fn an_output_that_was_shortened_without_an_archive_gets_its_reference_later() {
    let key = || SecretKey::new([7; 32]);
    let without = host_with(|builder| builder.key(key()));
    let once = compacted(&without, &chat(), &[Strategy::truncate()], &to(8_000)).await;
    assert!(!berths_in(once.document()).contains("; whole: "));
    let with = host_with(|builder| {
        let archive = baler_host::Archive::in_memory();
        builder.key(key()).archive(archive)
    });
    let body: Value = serde_json::from_str(once.document()).expect("JSON");
    let twice = compacted(&with, &body, &[Strategy::truncate()], &to(2_000)).await;
    let text = berths_in(twice.document());
    assert_eq!(text.matches("too long for the context window").count(), 1);
    // What the first cut left out is gone.
    assert!(!text.contains("; whole: "));
    let (_, rest) = text.split_once("; longer: ").expect("a reference");
    let (reference, _) = rest.split_once(']').expect("a bracket");
    let archive = with.archive().expect("there is one");
    let found = archive.text(reference).await.expect("it is stored");
    assert!(found.contains("berth 0:"));
}

/// Bytes of the output that a text is of: those that it has, and those that its gaps tell of.
fn bytes_told_by(text: &str) -> usize {
    let Some(marked) = text.strip_prefix("<baler:excerpt by=\"baler\"") else {
        return text.len();
    };
    let marked = marked.strip_suffix("</baler:excerpt>").expect("its end");
    let (_, body) = marked.split_once('\n').expect("a first line");
    let bytes = body.split_inclusive('\n').map(|line| {
        let gap = line.strip_prefix("[… ");
        match gap.and_then(|gap| gap.strip_suffix(" bytes left out …]\n")) {
            Some(said) => {
                let bytes = said.rsplit(' ').next().expect("a number");
                bytes.parse::<usize>().expect("a number")
            }
            // The backslash is the host's.
            None => line.len() - usize::from(line.starts_with("\\[…")),
        }
    });
    bytes.sum()
}

fn content_of<'a>(messages: &'a Value, id: &str) -> Option<&'a str> {
    let mut messages = messages.as_array()?.iter();
    let found = messages.find(|own| own["tool_call_id"] == id)?;
    found["content"].as_str()
}

/// However often a conversation is compacted before its model answers.
#[tokio::test]
async fn outputs_shortened_repeatedly_name_all_that_is_missing() {
    let host = host_with(|builder| builder.archive(baler_host::Archive::in_memory()));
    let lines = |line: &dyn Fn(usize) -> String| -> String { (0..250).map(line).collect() };
    let outputs = [
        ("a", lines(&|row| format!("berth {row}: 停泊中\r\n"))),
        ("b", "07:14 and 19:40".to_owned()),
        ("c", lines(&|row| format!("[… {row} bytes left out …]\n"))),
        ("d", lines(&|row| format!("error: {row} and more, "))),
    ];
    let calls: Vec<Value> = outputs
        .iter()
        .map(|(id, _)| call(id, "look", &json!({"at": id})))
        .collect();
    let mut messages = vec![json!({"role": "user", "content": "Find a berth for the Aurora."})];
    for (id, text) in old_steps() {
        messages.push(json!({"role": "assistant", "content": null,
            "tool_calls": [call(&id, "quay", &json!({}))]}));
        messages.push(json!({"role": "tool", "tool_call_id": id, "content": text}));
    }
    messages.push(json!({"role": "assistant", "content": null, "tool_calls": calls}));
    for (id, text) in &outputs {
        messages.push(json!({"role": "tool", "tool_call_id": id, "content": text}));
    }
    let mut body = json!({"model": "gpt-4o", "messages": messages});
    let tokens = host.read(body.to_string()).expect("reads").tokens();
    let mut shortened = 0;
    for percent in [60, 45, 30, 15, 5] {
        let budget = to(tokens * percent / 100);
        let compaction = compacted(&host, &body, &[Strategy::truncate()], &budget).await;
        shortened += compaction.receipt().units.texts_shortened;
        body = serde_json::from_str(compaction.document()).expect("JSON");
        for (id, whole) in &outputs {
            let text = content_of(&body["messages"], id).expect("its output is there");
            assert_eq!(bytes_told_by(text), whole.len(), "{percent} {id}: {text}");
            let Some((_, rest)) = text.split_once("; whole: ") else {
                assert_eq!(text, whole, "{percent} {id}");
                continue;
            };
            let (reference, _) = rest.split_once(']').expect("a bracket");
            let archive = host.archive().expect("there is one");
            let entry = archive.get(reference).await.expect("it is stored");
            let entry: Value = serde_json::from_str(&entry).expect("JSON");
            assert_eq!(
                content_of(&entry, id),
                Some(whole.as_str()),
                "{percent} {id}"
            );
        }
    }
    // More than there are: some were shortened twice at least.
    assert!(shortened > 3, "{shortened}");
}

/// JSON can spell half of a surrogate pair, and a tool that cuts its output leaves one.
#[tokio::test]
async fn half_a_surrogate_pair_in_a_shortened_output_is_one_character_and_counts_as_one() {
    let host = host();
    let rest = listing("quay", 4_000);
    let body = json!({"model": "gpt-4o", "messages": [
        {"role": "user", "content": "Find a berth for the Aurora."},
        {"role": "assistant", "content": null, "tool_calls": [call("a", "quay", &json!({}))]},
        {"role": "tool", "tool_call_id": "a", "content": format!("HALF first\n{rest}HALF last")},
    ]});
    let document = body.to_string().replace("HALF", "\\ud83d");
    let conversation = host.read(document).expect("reads");
    let compaction = host
        .compact(&conversation, &[Strategy::truncate()], &to(900))
        .await
        .expect("no archive that could fail");
    assert_eq!(compaction.receipt().units.texts_shortened, 1);
    let after: Value = serde_json::from_str(compaction.document()).expect("JSON");
    let text = content_of(&after["messages"], "a").expect("its output is there");
    assert!(text.contains("\n\u{fffd} first\n"), "{text}");
    assert!(text.contains("\n\u{fffd} last"), "{text}");
    // Three bytes for each half, as for what stands in its place.
    assert_eq!(
        bytes_told_by(text),
        rest.len() + "\u{fffd} first\n\u{fffd} last".len()
    );
}

#[tokio::test]
async fn a_failure_that_gemini_has_as_an_object_is_one_after_it_was_shortened() {
    let mut body = gemini();
    let trace = newest_outputs()[1].clone();
    let contents = body["contents"].as_array_mut().expect("a list");
    let newest = contents.last_mut().expect("a content");
    newest["parts"][1]["functionResponse"]["response"] =
        json!({"error": {"code": 5, "trace": trace}});
    let compaction = compacted(host(), &body, &[Strategy::truncate()], &to(1_000)).await;
    let after: Value = serde_json::from_str(compaction.document()).expect("JSON");
    let newest = after["contents"].as_array().and_then(|list| list.last());
    let response = &newest.expect("a content")["parts"][1]["functionResponse"]["response"];
    let text = response["error"].as_str().expect("a text");
    assert!(text.starts_with("<baler:excerpt by=\"baler\""), "{text}");
    assert_eq!(response.as_object().map(serde_json::Map::len), Some(1));
}

#[tokio::test]
async fn a_policy_without_excerpts_keeps_unseen_outputs_whole() {
    let host = host();
    let request = to(1_000)
        .with_policy(Policy::default().with_excerpts(false))
        .with_pins(Pins::None);
    let compaction = compacted(host, &chat(), &[Strategy::truncate()], &request).await;
    assert_eq!(
        compaction.changes().outcomes().last(),
        Some(&UnitOutcome::Kept)
    );
    let receipt = compaction.receipt();
    assert!(receipt.tokens.floor > receipt.tokens.budget);
}

#[tokio::test]
async fn pictures_in_an_output_stay_as_they_are_behind_its_shortened_text() {
    let picture = json!({"type": "image", "source":
        {"type": "base64", "media_type": "image/png", "data": "iVBORw0KGgo="}});
    let [_, berths] = newest_outputs();
    let (first, last) = berths.split_at(berths.floor_char_boundary(berths.len() / 2));
    let says = |text: &str| json!({"type": "text", "text": text});
    let mut body = anthropic();
    let messages = body["messages"].as_array_mut().expect("a list");
    let newest = messages.last_mut().expect("a message");
    newest["content"][1]["content"] = json!([says(first), picture, says(last)]);
    let compaction = compacted(host(), &body, &[Strategy::truncate()], &to(2_500)).await;
    assert_eq!(compaction.receipt().units.texts_shortened, 1);
    let after: Value = serde_json::from_str(compaction.document()).expect("JSON");
    let newest = after["messages"].as_array().and_then(|list| list.last());
    let content = &newest.expect("a message")["content"][1]["content"];
    assert_eq!(content.as_array().map(Vec::len), Some(2));
    assert_eq!(content[1], picture);
    let text = content[0]["text"].as_str().expect("a text");
    // The two texts are two lines or more of one.
    assert_eq!(bytes_told_by(text), berths.len() + 1);
}

#[tokio::test]
async fn outputs_that_are_equal_are_shortened_each_for_its_own_call() {
    let text = listing("quay", 2_000);
    let body = json!({"model": "gpt-4o", "messages": [
        {"role": "user", "content": "Find a berth for the Aurora."},
        {"role": "assistant", "content": null, "tool_calls": [
            call("a", "quay", &json!({})), call("b", "quay", &json!({})), call("c", "quay", &json!({}))]},
        {"role": "tool", "tool_call_id": "a", "content": text},
        {"role": "tool", "tool_call_id": "b", "content": text},
        {"role": "tool", "tool_call_id": "c", "content": ""},
    ]});
    let host = host();
    let mut document = body.clone();
    for tokens in [2_500, 1_200] {
        let compaction = compacted(host, &document, &[Strategy::truncate()], &to(tokens)).await;
        assert_eq!(compaction.receipt().units.texts_shortened, 2);
        document = serde_json::from_str(compaction.document()).expect("JSON");
        let [a, b, c] = ["a", "b", "c"].map(|id| content_of(&document["messages"], id));
        let (a, b) = (a.expect("it is there"), b.expect("it is there"));
        assert_eq!([bytes_told_by(a), bytes_told_by(b)], [text.len(); 2]);
        // Each has a seal of its own.
        assert_ne!(a, b);
        assert_eq!(c, Some(""));
    }
}

fn pinned(units: Vec<usize>, tokens: u32) -> Request {
    to(tokens).with_pins(Pins::Units(units))
}

#[tokio::test]
async fn unseen_outputs_of_a_pinned_step_stay_whole() {
    let host = host();
    for body in [chat(), anthropic()] {
        let step = host.read(body.to_string()).expect("reads").units().len() - 1;
        let request = pinned(vec![step], 1_000);
        let compaction = compacted(host, &body, &[Strategy::truncate()], &request).await;
        assert!(compaction.is_compacted() && compaction.receipt().tokens.below_floor);
        assert_eq!(
            compaction.changes().outcomes().last(),
            Some(&UnitOutcome::Kept)
        );
        assert_eq!(berths_in(compaction.document()), newest_outputs()[1]);
    }
}

/// Without an answer behind them its outputs would count as unseen in the result.
#[tokio::test]
async fn the_answer_stays_behind_a_pinned_step() {
    let host = host();
    let body = json!({"model": "gpt-4o", "messages": [
        {"role": "user", "content": "Find a berth for the Aurora."},
        {"role": "assistant", "content": null, "tool_calls": [call("a", "quay", &json!({}))]},
        {"role": "tool", "tool_call_id": "a", "content": listing("quay", 900)},
        {"role": "assistant", "content": null, "tool_calls": [call("b", "quay", &json!({}))]},
        {"role": "tool", "tool_call_id": "b", "content": listing("quay", 900)},
        {"role": "assistant", "content": "Berth 12 is free."},
        {"role": "user", "content": "Book it."},
    ]});
    let chain = [Strategy::truncate()];
    let first = compacted(host, &body, &chain, &pinned(vec![1], 1)).await;
    assert!(first.is_compacted());
    assert_eq!(
        first.changes().outcomes()[1..4],
        [UnitOutcome::Kept, UnitOutcome::Removed, UnitOutcome::Kept]
    );
    // The step has another number now.
    let mut units = first.conversation().units().iter();
    let step = units.position(|unit| unit.kind == UnitKind::Step);
    let again = pinned(vec![step.expect("a step")], 1);
    let second = host.compact(first.conversation(), &chain, &again).await;
    let second = second.expect("no archive that could fail");
    assert_eq!(second.document(), first.document());
}

/// An answer of the model's makes what stands before it seen.
#[tokio::test]
async fn outputs_that_the_model_answered_may_be_removed() {
    let host = host();
    let mut body = chat();
    let messages = body["messages"].as_array_mut().expect("a list");
    messages.push(json!({"role": "assistant", "content": "Berth 12 is free."}));
    messages.push(json!({"role": "user", "content": "Book it."}));
    let compaction = compacted(host, &body, &[Strategy::truncate()], &to(300)).await;
    assert!(
        compaction
            .changes()
            .outcomes()
            .contains(&UnitOutcome::Removed)
    );
    assert!(!compaction.document().contains("berth 0:"));
}

/// What a conversation has behind outputs that the model has seen no more for it: nothing that the
/// model said, or words that it is asked to go on with.
fn no_answers() -> Vec<(Format, Value, Vec<Value>)> {
    let says = |text: &str| json!({"role": "assistant", "content": text});
    let go_on = json!({"role": "user", "content": "Go on."});
    let parts = |text: &str| json!({"role": "model", "parts": [{"text": text}]});
    let listed =
        json!({"type": "mcp_list_tools", "id": "mcpl_1", "server_label": "port", "tools": []});
    let refers = json!({"type": "item_reference", "id": "msg_1"});
    let unknown = json!({"type": "tide_table", "id": "tt_1"});
    let blank = json!({"type": "message", "role": "assistant", "content": [{"type": "output_text", "text": ""}]});
    let mut found = vec![
        (Format::OpenAiChat, chat(), vec![says("{\"berth\":")]),
        (Format::OpenAiChat, chat(), vec![says(" "), go_on.clone()]),
        (Format::Anthropic, anthropic(), vec![says("Berth")]),
        (Format::Gemini, gemini(), vec![parts("Berth")]),
        (
            Format::OpenAiResponses,
            responses(),
            vec![blank, go_on.clone()],
        ),
    ];
    for item in [listed, refers, unknown] {
        found.push((Format::OpenAiResponses, responses(), vec![item.clone()]));
        found.push((
            Format::OpenAiResponses,
            responses(),
            vec![item, go_on.clone()],
        ));
    }
    found
}

fn messages_of(format: Format, body: &mut Value) -> &mut Vec<Value> {
    let list = match format {
        Format::OpenAiResponses => "input",
        Format::Gemini => "contents",
        _ => "messages",
    };
    body[list].as_array_mut().expect("a list")
}

#[tokio::test]
async fn words_that_are_no_answer_make_no_output_seen() {
    let host = host();
    for (format, mut body, behind) in no_answers() {
        let what = format!("{format}: {behind:?}");
        let mut grown = host.read(body.to_string()).expect("reads");
        messages_of(format, &mut body).extend(behind.clone());
        let compaction = compacted(host, &body, &[Strategy::truncate()], &to(900)).await;
        assert!(compaction.is_compacted(), "{what}");
        let text = berths_in(compaction.document());
        assert!(text.starts_with("<baler:excerpt by=\"baler\""), "{what}");
        for message in &behind {
            grown.append(&message.to_string()).expect("a message");
        }
        let appended = host
            .compact(&grown, &[Strategy::truncate()], &to(900))
            .await
            .expect("no archive that could fail");
        assert_eq!(
            appended.changes().outcomes(),
            compaction.changes().outcomes(),
            "{what}"
        );
        let after = |one: &Compaction| one.receipt().tokens.after;
        assert_eq!(after(&appended), after(&compaction), "{what}");
    }
}

/// Answers that failed while the model thought, or before: all that came of them.
fn failed_answers() -> Vec<(Format, Value, Vec<Value>)> {
    let blocks = |content: Value| json!({"role": "assistant", "content": content});
    let parts = |parts: Value| json!({"role": "model", "parts": parts});
    let thinking = json!({"type": "thinking", "thinking": "Twelve?", "signature": "c2ln"});
    let redacted = json!({"type": "redacted_thinking", "data": "c2ln"});
    let failed = json!({"type": "compaction", "content": null});
    let beside = json!({"role": "assistant", "content": "", "reasoning_content": "Twelve?"});
    let encrypted = json!({"type": "reasoning", "summary": [], "encrypted_content": "c2ln"});
    let told =
        json!({"type": "reasoning", "summary": [{"type": "summary_text", "text": "Twelve?"}]});
    let blank = json!({"type": "message", "role": "assistant",
        "content": [{"type": "output_text", "text": ""}]});
    let thought = json!({"text": "Twelve?", "thought": true});
    let signature = json!({"text": "", "thoughtSignature": "c2ln"});
    let drawn =
        json!({"inlineData": {"mimeType": "image/png", "data": "iVBORw0KGgo="}, "thought": true});
    let text = |text: &str| json!({"type": "text", "text": text});
    let of_chat = [
        beside,
        blocks(json!([thinking])),
        blocks(json!("\n<think>Twelve? The chart says")),
        blocks(json!("<think>\nTwelve?\n</think>\n\n")),
        // The template of the model has the opening tag.
        blocks(json!("Twelve?\n</think>\n\n")),
        // Only both parts together tell.
        blocks(json!([text("<thi"), text("nk>Twelve?")])),
        json!({"role": "assistant", "content": "", "refusal": ""}),
        blocks(json!("(no content)")),
    ];
    let of_anthropic = [
        json!([thinking]),
        json!([redacted]),
        json!([failed]),
        json!([text("(no content)")]),
        json!([text("No response requested.")]),
    ];
    let of_gemini = [
        json!([thought]),
        json!([signature]),
        json!([thought, signature]),
        json!([drawn]),
        json!([{"text": "<thinking>Twelve?"}]),
        json!([{"text": "[The previous response was interrupted before it completed.]"}]),
    ];
    let mut found = vec![(
        Format::OpenAiResponses,
        responses(),
        vec![encrypted.clone(), blank],
    )];
    let mut add = |format, body: Value, answer| found.push((format, body, vec![answer]));
    for answer in of_chat {
        add(Format::OpenAiChat, chat(), answer);
    }
    for answer in [encrypted, told] {
        add(Format::OpenAiResponses, responses(), answer);
    }
    for content in of_anthropic {
        add(Format::Anthropic, anthropic(), blocks(content));
    }
    for list in of_gemini {
        add(Format::Gemini, gemini(), parts(list));
    }
    found
}

/// Thinking is no answer, whatever form it has: the request is sent once more to have one.
#[tokio::test]
async fn an_answer_that_failed_while_the_model_thought_makes_no_output_seen() {
    let host = host();
    let mut chains = vec![vec![Strategy::digest()], vec![Strategy::truncate()]];
    for name in ["tiered", "mask-tool-outputs"] {
        chains.push(vec![bundled(host, name).await]);
    }
    for (format, mut body, answer) in failed_answers() {
        let go_on = match format {
            Format::Gemini => json!({"role": "user", "parts": [{"text": "Go on."}]}),
            _ => json!({"role": "user", "content": "Go on."}),
        };
        let messages = messages_of(format, &mut body);
        messages.extend(answer.clone());
        messages.push(go_on);
        for chain in &chains {
            let what = format!("{format} {}: {answer:?}", chain[0].name());
            let first = compacted(host, &body, chain, &to(900)).await;
            assert!(first.is_compacted(), "{what}");
            let text = berths_in(first.document());
            assert!(text.starts_with("<baler:excerpt by=\"baler\""), "{what}");
            assert!(first.document().contains("07:14 and 19:40"), "{what}");
            // Whether the answer that failed went or not.
            let second = host.compact(first.conversation(), chain, &to(900)).await;
            let second = second.expect("no archive that could fail");
            assert_eq!(second.document(), first.document(), "{what}");
        }
    }
}

/// Words behind thinking in the text, or behind what else stands for no answer, are one.
#[tokio::test]
async fn words_behind_thinking_in_a_text_make_outputs_seen() {
    let host = host();
    for said in [
        "<think>Twelve?</think>Berth 12 is free.",
        "Twelve?\n</think>\n\nBerth 12 is free.",
        "Berth 12 is free, I think.",
        "Berth 12 is free, and the tag is </think>",
        "<thinker>Berth 12 is free.</thinker>",
        "(no content) is all that the pilot sent; berth 12 is free.",
        "No response requested. Berth 12 is free.",
        "[The previous response was interrupted before it completed.] Berth 12 is free.",
    ] {
        let mut body = chat();
        let messages = messages_of(Format::OpenAiChat, &mut body);
        messages.push(json!({"role": "assistant", "content": said}));
        messages.push(json!({"role": "user", "content": "Book it."}));
        let compaction = compacted(host, &body, &[Strategy::truncate()], &to(300)).await;
        assert!(!compaction.document().contains("berth 0:"), "{said}");
    }
}

/// What stands behind them and is no answer may go, and then they end the request.
#[tokio::test]
async fn words_before_an_answer_that_failed_count_as_they_will_without_it() {
    let host = host();
    let chain = [Strategy::truncate()];
    let mut body = responses();
    let messages = messages_of(Format::OpenAiResponses, &mut body);
    messages.push(json!({"role": "assistant", "content": "Berth 12 it"}));
    messages.push(json!({"type": "reasoning", "summary": [], "encrypted_content": "c2ln"}));
    let first = compacted(host, &body, &chain, &to(1)).await;
    assert!(first.document().contains("Berth 12 it"));
    assert!(!first.document().contains("encrypted_content"));
    assert_eq!(first.receipt().units.texts_shortened, 1);
    let second = host.compact(first.conversation(), &chain, &to(1)).await;
    let second = second.expect("no archive that could fail");
    assert_eq!(second.document(), first.document());
}

/// An answer stays behind a pinned step, though what the model thought stands there as well.
#[tokio::test]
async fn thinking_behind_a_pinned_step_does_not_stand_for_the_answer() {
    let host = host();
    let thinks = json!({"role": "assistant", "content": "", "reasoning_content": "Twelve?"});
    let body = json!({"model": "gpt-4o", "messages": [
        {"role": "user", "content": "Find a berth for the Aurora."},
        {"role": "assistant", "content": null, "tool_calls": [call("a", "quay", &json!({}))]},
        {"role": "tool", "tool_call_id": "a", "content": listing("quay", 900)},
        thinks,
        {"role": "assistant", "content": null, "tool_calls": [call("b", "quay", &json!({}))]},
        {"role": "tool", "tool_call_id": "b", "content": listing("quay", 900)},
        {"role": "assistant", "content": "Berth 12 is free."},
        {"role": "user", "content": "Book it."},
    ]});
    let chain = [Strategy::truncate()];
    let first = compacted(host, &body, &chain, &pinned(vec![1, 2], 1)).await;
    let expected = [
        UnitOutcome::Kept,
        UnitOutcome::Kept,
        UnitOutcome::Removed,
        UnitOutcome::Kept,
        UnitOutcome::Kept,
    ];
    assert_eq!(first.changes().outcomes()[1..], expected);
}

/// A tool of the provider's own that the model used behind outputs, and words with more behind them.
#[tokio::test]
async fn acts_of_the_model_make_outputs_seen_and_so_do_words_that_something_follows() {
    let host = host();
    let searched = json!({"type": "web_search_call", "id": "ws_1", "status": "completed"});
    let says = json!({"role": "assistant", "content": "Berth 12 is free."});
    let thanks = json!({"role": "user", "content": "Thank you."});
    for behind in [
        vec![searched],
        vec![says.clone(), says.clone()],
        vec![says, thanks],
    ] {
        let what = format!("{behind:?}");
        let mut body = responses();
        messages_of(Format::OpenAiResponses, &mut body).extend(behind);
        let compaction = compacted(host, &body, &[Strategy::truncate()], &to(300)).await;
        assert!(!compaction.document().contains("berth 0:"), "{what}");
    }
}

async fn fates_of(conversation: &Conversation) -> Vec<UnitOutcome> {
    let compaction = host()
        .compact(conversation, &[Strategy::truncate()], &to(300))
        .await
        .expect("no archive that could fail");
    compaction.changes().outcomes()
}

/// A log ends with what was said, and its next request begins with the user.
#[tokio::test]
async fn last_words_of_a_log_are_an_answer() {
    let host = host();
    let [_, berths] = newest_outputs();
    let entry = |number: usize, role: &str, content: Value| {
        json!({"type": role, "sessionId": "s1", "uuid": number.to_string(),
            "parentUuid": (number - 1).to_string(),
            "message": {"id": format!("m{number}"), "role": role, "model": "claude-sonnet-4-5", "content": content}})
        .to_string()
    };
    let lines = [
        entry(1, "user", json!("Find a berth.")),
        entry(
            2,
            "assistant",
            json!([{"type": "tool_use", "id": "b", "name": "berths", "input": {}}]),
        ),
        entry(
            3,
            "user",
            json!([{"type": "tool_result", "tool_use_id": "b", "content": berths}]),
        ),
        entry(
            4,
            "assistant",
            json!([{"type": "text", "text": "Berth 12 is free."}]),
        ),
    ];
    let log = host.read(lines.join("\n")).expect("reads");
    assert!(log.log().is_some());
    assert_eq!(fates_of(&log).await[1], UnitOutcome::Removed);
    let document = host.read(log.document().to_owned()).expect("reads");
    assert_eq!(fates_of(&document).await[1], UnitOutcome::Rewritten);
}

/// Claude Code writes one when it resumes a session whose last answer is missing.
#[tokio::test]
async fn a_placeholder_in_a_log_makes_no_output_seen() {
    let [_, berths] = newest_outputs();
    let entry = |number: usize, role: &str, model: &str, content: Value| {
        json!({"type": role, "sessionId": "s1", "uuid": number.to_string(),
            "parentUuid": (number - 1).to_string(),
            "message": {"id": format!("m{number}"), "role": role, "model": model, "content": content}})
        .to_string()
    };
    let called = json!([{"type": "tool_use", "id": "b", "name": "berths", "input": {}}]);
    let answered = json!([{"type": "tool_result", "tool_use_id": "b", "content": berths}]);
    let missing = json!([{"type": "text", "text": "No response requested."}]);
    let lines = [
        entry(1, "user", "", json!("Find a berth.")),
        entry(2, "assistant", "claude-sonnet-4-5", called),
        entry(3, "user", "", answered),
        entry(4, "assistant", "<synthetic>", missing),
        entry(5, "user", "", json!("Go on.")),
    ];
    let log = host().read(lines.join("\n")).expect("reads");
    assert!(log.log().is_some());
    assert!(log.document().contains("No response requested."));
    assert_eq!(fates_of(&log).await[1], UnitOutcome::Rewritten);
}

/// A session of Claude Code in which one of two parallel calls takes so long that the model goes on without it.
fn log_with_a_late_result() -> String {
    let line = |kind: &str, id: String, message: Value| {
        let line = json!({
            "parentUuid": "before", "isSidechain": false, "sessionId": "s", "type": kind,
            "message": message, "uuid": id,
        });
        format!("{line}\n")
    };
    let user = |id: &str, content: Value| {
        let message = json!({"role": "user", "content": content});
        line("user", format!("u-{id}"), message)
    };
    let result = |call: &str, text: &str| {
        let block = json!({"type": "tool_result", "tool_use_id": call, "content": text});
        user(call, json!([block]))
    };
    let answer = |response: &str, id: &str, block: Value| {
        let message = json!({
            "id": response, "role": "assistant", "model": "claude-sonnet-4-5", "content": [block],
        });
        line("assistant", format!("a-{id}"), message)
    };
    let call = |response: &str, id: &str| {
        let input = json!({"command": format!("gauge {id}")});
        let block = json!({"type": "tool_use", "id": id, "name": "Bash", "input": input});
        answer(response, id, block)
    };
    let mut log = user("task", json!("潮位を両岸で測って。Both shores, please."));
    log += &call("first", "fast");
    log += &call("first", "slow");
    log += &result("fast", "3.1 m");
    log += &user("more", json!("Meanwhile, go through the old tables."));
    for step in 0..8 {
        let (response, id) = (format!("step{step}"), format!("table{step}"));
        log += &call(&response, &id);
        log += &result(
            &id,
            &format!("{id}: low at dawn, high at noon\n").repeat(30),
        );
    }
    let done = json!({"type": "text", "text": "The tables agree with each other."});
    log += &answer("last", "last", done);
    log += &result("slow", &"far shore: 4.7 m and rising\n".repeat(12));
    log + &user("next", json!("And the far shore?"))
}

/// LCC-21
#[tokio::test]
async fn an_output_that_came_after_the_newest_answer_stays_until_the_model_answers() {
    let host = host();
    let conversation = host.read(log_with_a_late_result()).expect("reads");
    assert_eq!(conversation.late_results(), [2]);
    let late = conversation.raw(&conversation.all_messages()[2]).to_owned();
    assert_eq!(late.matches("far shore: 4.7 m").count(), 12);
    for strategy in [Strategy::truncate(), Strategy::digest()] {
        let chain = [strategy];
        let first = host.compact(&conversation, &chain, &share(0.4)).await;
        let first = first.expect("no archive that could fail");
        assert!(first.is_compacted());
        assert!(first.document().contains(&late), "{}", first.document());
        // So it is in what goes on from there.
        let second = host
            .compact(first.conversation(), &chain, &share(0.1))
            .await;
        let second = second.expect("no archive that could fail");
        assert!(second.document().contains(&late), "{}", second.document());
    }
    let mut answered = conversation.clone();
    let answer = json!({"role": "assistant", "content": "4.7 m, and it rises."});
    let question = json!({"role": "user", "content": "Thank you. What else?"});
    for message in [answer, question] {
        answered.append(&message.to_string()).expect("it is one");
    }
    assert!(answered.late_results().is_empty());
    // Not for the user's words beside it.
    let policy = Policy::default().with_user_percent(0);
    let request = share(0.1).with_policy(policy);
    let after = host
        .compact(&answered, &[Strategy::truncate()], &request)
        .await
        .expect("no archive that could fail");
    assert!(!after.document().contains(&late));
}
