//! Reading, detecting and the rules, by small conversations that each break one of them.

use super::Format;
use crate::conversation::{Conversation, UnitKind};
use crate::marks::SecretKey;
use crate::tokens::Tokenizer;

fn read(document: &str, format: Option<Format>) -> Result<Conversation, super::ReadError> {
    Conversation::read(
        document.into(),
        format,
        Tokenizer::for_model,
        &SecretKey::new([1; 32]),
    )
}

/// The ids of the rules that a conversation breaks, with the messages' numbers.
#[track_caller]
fn broken(format: Format, document: &str) -> Vec<(&'static str, usize)> {
    read(document, Some(format))
        .expect("it reads")
        .violations()
        .iter()
        .map(|found| (found.rule.id(), found.message))
        .collect()
}

const CALL: &str = r#"{"role":"assistant","tool_calls":[{"id":"a","type":"function","function":{"name":"f","arguments":"{}"}}]}"#;
const ANSWER: &str = r#"{"role":"tool","tool_call_id":"a","content":"ok"}"#;
const HELLO: &str = r#"{"role":"user","content":"hello"}"#;

const USE: &str =
    r#"{"role":"assistant","content":[{"type":"tool_use","id":"a","name":"f","input":{}}]}"#;
const RESULT: &str =
    r#"{"role":"user","content":[{"type":"tool_result","tool_use_id":"a","content":"ok"}]}"#;

const OTHER_USE: &str =
    r#"{"role":"assistant","content":[{"type":"tool_use","id":"b","name":"f","input":{}}]}"#;
const OTHER_RESULT: &str =
    r#"{"role":"user","content":[{"type":"tool_result","tool_use_id":"b","content":"ok"}]}"#;
const BOTH_RESULTS: &str = r#"{"role":"user","content":[{"type":"tool_result","tool_use_id":"a","content":"ok"},{"type":"tool_result","tool_use_id":"b","content":"ok"}]}"#;

fn list(messages: &[&str]) -> String {
    format!("[{}]", messages.join(","))
}

#[test]
fn openai_chat_rules_are_told_apart() {
    let two_calls = r#"{"role":"assistant","tool_calls":[{"id":"a","type":"function","function":{"name":"f","arguments":"{}"}},{"id":"b","type":"function","function":{"name":"f","arguments":"{}"}}]}"#;
    let object = r#"{"role":"assistant","tool_calls":[{"id":"a","type":"function","function":{"name":"f","arguments":{}}}]}"#;
    for (messages, expected) in [
        (vec![HELLO, CALL, ANSWER, HELLO], vec![]),
        (vec![HELLO, CALL], vec![]),
        (vec![HELLO, two_calls, ANSWER], vec![]),
        (
            vec![r#"{"role":"system","content":"x"}"#],
            vec![("ALL-1", 0)],
        ),
        (vec![], vec![("ALL-1", 0)]),
        (vec![HELLO, CALL, ANSWER, CALL, ANSWER], vec![("ALL-4", 4)]),
        (vec![HELLO, CALL, ANSWER, ANSWER], vec![("ALL-4", 4)]),
        (
            vec![r#"{"role":"user","content":[{"type":"text","text":""}]}"#],
            vec![("ALL-6", 1)],
        ),
        (vec![r#"{"role":"user","content":[]}"#], vec![("ALL-6", 1)]),
        (vec![HELLO, ANSWER], vec![("CHAT-1", 2)]),
        (
            vec![HELLO, CALL, r#"{"role":"tool","content":"ok"}"#],
            vec![("CHAT-1", 3)],
        ),
        (vec![HELLO, CALL, HELLO], vec![("CHAT-2", 2)]),
        (vec![HELLO, two_calls, ANSWER, HELLO], vec![("CHAT-2", 2)]),
        (
            vec![HELLO, r#"{"role":"assistant","content":null}"#],
            vec![("CHAT-3", 2)],
        ),
        (
            vec![HELLO, r#"{"role":"assistant","tool_calls":[]}"#],
            vec![("CHAT-3", 2)],
        ),
        (vec![r#"{"role":"user"}"#], vec![("CHAT-3", 1)]),
        (vec![HELLO, object, ANSWER], vec![("CHAT-4", 2)]),
    ] {
        let document = list(&messages);
        assert_eq!(
            broken(Format::OpenAiChat, &document),
            expected,
            "{document}"
        );
    }
}

#[test]
fn anthropic_rules_are_told_apart() {
    let late = r#"{"role":"user","content":[{"type":"text","text":"so"},{"type":"tool_result","tool_use_id":"a","content":"ok"}]}"#;
    let with_text = r#"{"role":"user","content":[{"type":"tool_result","tool_use_id":"a","content":"ok"},{"type":"text","text":"go on"}]}"#;
    for (messages, expected) in [
        (vec![HELLO, USE, RESULT, HELLO], vec![]),
        (vec![HELLO, USE, with_text], vec![]),
        (vec![HELLO, USE], vec![]),
        (vec![HELLO, HELLO], vec![]),
        // Neighbours of one role are one message to the API.
        (vec![HELLO, USE, OTHER_USE, BOTH_RESULTS], vec![]),
        (
            vec![HELLO, USE, OTHER_USE, RESULT, OTHER_RESULT, HELLO],
            vec![],
        ),
        (vec![HELLO, USE, OTHER_USE, RESULT], vec![("ANTH-3", 3)]),
        (vec![HELLO, USE, HELLO, RESULT], vec![("ANTH-3", 4)]),
        (
            vec![r#"{"role":"assistant","content":"hi"}"#],
            vec![("ANTH-1", 1)],
        ),
        (
            vec![HELLO, r#"{"role":"system","content":"x"}"#, HELLO],
            vec![("ANTH-1", 2)],
        ),
        (vec![HELLO, USE, HELLO], vec![("ANTH-3", 2)]),
        (vec![HELLO, USE, OTHER_USE], vec![]),
        (vec![HELLO, USE, late], vec![("ANTH-3", 3)]),
        (vec![HELLO, RESULT], vec![("ANTH-3", 2), ("ANTH-4", 2)]),
        (vec![HELLO, USE, RESULT, USE, RESULT], vec![("ALL-4", 4)]),
        (vec![r#"{"role":"user","content":""}"#], vec![("ANTH-6", 1)]),
        (
            vec![r#"{"role":"user","content":[{"type":"text","text":""}]}"#],
            vec![("ANTH-6", 1)],
        ),
    ] {
        let document = list(&messages);
        assert_eq!(broken(Format::Anthropic, &document), expected, "{document}");
    }
}

#[test]
fn the_format_is_found_out() {
    for (document, expected) in [
        (list(&[HELLO]), Format::OpenAiChat),
        (list(&[HELLO, CALL, ANSWER]), Format::OpenAiChat),
        (list(&[HELLO, USE, RESULT]), Format::Anthropic),
        (
            format!(r#"{{"model":"claude-x","messages":{}}}"#, list(&[HELLO])),
            Format::Anthropic,
        ),
        (
            format!(r#"{{"system":"s","messages":{}}}"#, list(&[HELLO])),
            Format::Anthropic,
        ),
        (
            format!(
                r#"{{"model":"anthropic/claude-x","messages":{}}}"#,
                list(&[HELLO, CALL, ANSWER])
            ),
            Format::OpenAiChat,
        ),
        (
            list(&[
                r#"{"role":"user","content":[{"type":"image","source":{"type":"url","url":"u"}}]}"#,
            ]),
            Format::Anthropic,
        ),
    ] {
        let format = read(&document, None).map(|conversation| conversation.format());
        assert_eq!(format.ok(), Some(expected), "{document}");
    }
}

#[test]
fn what_cannot_be_read_is_told_with_its_place() {
    for (document, expected) in [
        ("", "the document is empty"),
        (" \n", "the document is empty"),
        (
            "hello",
            "the document is not JSON: expected value at line 1, column 1",
        ),
        (
            "[\n{\"role\":\"user\",\n\"content\":}]",
            "the document is not JSON: expected value at line 3, column 11",
        ),
        ("{\"messages\": 3}", "`messages` is not a list"),
        (
            "{\"contents\": []}",
            "the document has no `messages`: this looks like a Gemini request, which this version does not read",
        ),
        (
            "{\"input\": []}",
            "the document has no `messages`: this looks like an OpenAI Responses request, which this version does not read",
        ),
        (
            "{\"choices\": []}",
            "the document has no `messages`: this looks like a response; give the request",
        ),
        (
            "[1]",
            "message 1: invalid type: integer `1`, expected an object",
        ),
        (
            r#"[{"role":"user","content":"a"},{"content":"b"}]"#,
            "message 2: it has no `role`",
        ),
        (
            r#"[{"role":"user","role":"user","content":"a"}]"#,
            "message 1: key `role` comes twice",
        ),
        (
            r#"[{"role":"wizard","content":"a"}]"#,
            "message 1: `wizard` is no role of OpenAI Chat (system, developer, user, assistant, tool)",
        ),
        (
            r#"[{"role":"system","content":"s"},{"role":"user","content":"a"},{"role":"assistant","content":[{"type":"tool_use","id":"a","name":"f","input":{}}]}]"#,
            "message 3: a `tool_use` block belongs to Anthropic Messages, and other messages are OpenAI Chat; for Anthropic put the system prompt in `system`, outside of the messages",
        ),
        (
            r#"[{"role":"user","content":7}]"#,
            "message 1: `content` is neither a text nor a list of parts",
        ),
        (
            r#"{"messages":[{"role":"user","content":"a"}]"#,
            "the document is not JSON: EOF while parsing an object at line 1, column 43",
        ),
    ] {
        let error = read(document, None).err().map(|error| error.to_string());
        assert_eq!(error.as_deref(), Some(expected), "{document}");
    }
}

#[test]
fn nesting_of_any_depth_is_no_danger() {
    for depth in [100, 100_000] {
        let deep = format!("{}{}", "[".repeat(depth), "]".repeat(depth));
        let document = format!(r#"[{{"role":"user","content":"a","x":{deep}}}]"#);
        assert!(read(&document, None).is_ok());
        let document = format!(r#"[{{"role":"user","content":{deep}}}]"#);
        assert!(read(&document, None).is_err());
        assert!(read(&deep, None).is_err());
    }
}

#[test]
fn units_are_what_stays_or_goes_as_one() {
    let kinds = |format, messages: &[&str]| -> Vec<(UnitKind, usize, u32)> {
        read(&list(messages), Some(format))
            .expect("it reads")
            .units()
            .iter()
            .map(|unit| (unit.kind, unit.messages, unit.turn))
            .collect()
    };
    let system = r#"{"role":"system","content":"x"}"#;
    assert_eq!(
        kinds(
            Format::OpenAiChat,
            &[system, HELLO, CALL, ANSWER, HELLO, CALL]
        ),
        [
            (UnitKind::Instructions, 1, 0),
            (UnitKind::User, 1, 1),
            (UnitKind::Step, 2, 1),
            (UnitKind::User, 1, 2),
            (UnitKind::Step, 1, 2),
        ]
    );
    assert_eq!(
        kinds(Format::Anthropic, &[HELLO, USE, RESULT, HELLO]),
        [
            (UnitKind::User, 1, 1),
            (UnitKind::Step, 2, 1),
            (UnitKind::User, 1, 2),
        ]
    );
    assert_eq!(
        kinds(
            Format::Anthropic,
            &[HELLO, USE, OTHER_USE, BOTH_RESULTS, HELLO]
        ),
        [
            (UnitKind::User, 1, 1),
            (UnitKind::Step, 3, 1),
            (UnitKind::User, 1, 2),
        ]
    );
}

#[test]
fn overhead_is_instructions_system_prompt_and_tools() {
    let chat = r#"{"model":"gpt-4o","tools":[{"type":"function","function":{"name":"f","description":"d","parameters":{}}}],"messages":[{"role":"system","content":"be kind"},{"role":"user","content":"hi"}]}"#;
    let conversation = read(chat, None).expect("reads");
    let tokenizer = conversation.tokenizer();
    let tools =
        r#"[{"type":"function","function":{"name":"f","description":"d","parameters":{}}}]"#;
    assert_eq!(
        conversation.overhead(),
        tokenizer.count(tools) + tokenizer.count("be kind") + 4
    );
    assert_eq!(
        conversation.tokens(),
        conversation.overhead() + tokenizer.count("hi") + 4
    );

    let anthropic = r#"{"model":"claude","system":[{"type":"text","text":"be kind"}],"messages":[{"role":"user","content":"hi"}]}"#;
    let conversation = read(anthropic, None).expect("reads");
    assert_eq!(conversation.overhead(), tokenizer.count("be kind"));
}
