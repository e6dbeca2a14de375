//! Reading, telling formats apart, and dividing into units.

use crate::conversation::Conversation;
use crate::model::format::Format;
use crate::model::unit::UnitKind;

fn read(
    document: &str,
    format: Option<Format>,
) -> Result<Conversation, crate::model::read_error::ReadError> {
    Conversation::of(document, format)
}

const CALL: &str = r#"{"role":"assistant","tool_calls":[{"id":"a","type":"function","function":{"name":"f","arguments":"{}"}}]}"#;
const ANSWER: &str = r#"{"role":"tool","tool_call_id":"a","content":"ok"}"#;
const HELLO: &str = r#"{"role":"user","content":"hello"}"#;

/// A tool as only OpenAI Chat writes it.
const OWN_TOOL: &str = r#"{"type":"function","function":{"name":"f","parameters":{}}}"#;

const USE: &str =
    r#"{"role":"assistant","content":[{"type":"tool_use","id":"a","name":"f","input":{}}]}"#;
const RESULT: &str =
    r#"{"role":"user","content":[{"type":"tool_result","tool_use_id":"a","content":"ok"}]}"#;

const OTHER_USE: &str =
    r#"{"role":"assistant","content":[{"type":"tool_use","id":"b","name":"f","input":{}}]}"#;
const BOTH_RESULTS: &str = r#"{"role":"user","content":[{"type":"tool_result","tool_use_id":"a","content":"ok"},{"type":"tool_result","tool_use_id":"b","content":"ok"}]}"#;

const BEDROCK_HELLO: &str = r#"{"role":"user","content":[{"text":"hello"}]}"#;

const BEDROCK_USE: &str = r#"{"role":"assistant","content":[{"reasoningContent":{"reasoningText":{"text":"Hm.","signature":"c2ln"}}},{"toolUse":{"toolUseId":"a","name":"f","input":{}}}]}"#;

const BEDROCK_RESULT: &str = r#"{"role":"user","content":[{"toolResult":{"toolUseId":"a","content":[{"text":"ok"},{"json":{"tide":[7]}}],"status":"error"}},{"cachePoint":{"type":"default"}}]}"#;

fn list(messages: &[&str]) -> String {
    format!("[{}]", messages.join(","))
}

#[test]
fn format_is_found_out() {
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
            format!(
                r#"{{"model":"anthropic/claude-x","tools":[{OWN_TOOL}],"messages":{}}}"#,
                list(&[HELLO])
            ),
            Format::OpenAiChat,
        ),
        (
            format!(
                r#"{{"model":"claude-x","tools":[{{"name":"function","input_schema":{{}}}}],"messages":{}}}"#,
                list(&[HELLO])
            ),
            Format::Anthropic,
        ),
        // What the messages hold says more.
        (
            format!(
                r#"{{"model":"claude-x","tools":[{OWN_TOOL}],"messages":{}}}"#,
                list(&[HELLO, USE, RESULT])
            ),
            Format::Anthropic,
        ),
        (format!(r#"{{"contents":{}}}"#, "[]"), Format::Gemini),
        (r#"[{"role":"user","parts":[]}]"#.to_owned(), Format::Gemini),
        (list(&[BEDROCK_HELLO]), Format::BedrockConverse),
        (
            list(&[BEDROCK_HELLO, BEDROCK_USE, BEDROCK_RESULT]),
            Format::BedrockConverse,
        ),
        // A `system` stands in requests of Anthropic's too, and marks for the cache and parts that nobody
        // knows may come first.
        (
            format!(
                r#"{{"system":[{{"text":"s"}}],"messages":{}}}"#,
                list(&[
                    r#"{"role":"user","content":[{"xLocation":"a"},{"text":"hello"}]}"#,
                    r#"{"role":"assistant","content":[{"cachePoint":{"type":"default"}},{"text":"a"}]}"#
                ])
            ),
            Format::BedrockConverse,
        ),
        (
            format!(
                r#"{{"modelId":"us.anthropic.claude-haiku-4-5-20251001-v1:0","messages":{}}}"#,
                "[]"
            ),
            Format::BedrockConverse,
        ),
        (
            r#"{"input":"Fix the bug."}"#.to_owned(),
            Format::OpenAiResponses,
        ),
        (
            r#"{"contents":{"parts":{"text":"Fix the bug."}}}"#.to_owned(),
            Format::Gemini,
        ),
        (
            list(&[HELLO, r#"{"type":"reasoning","summary":[]}"#]),
            Format::OpenAiResponses,
        ),
        (
            r#"[{"role":"user","content":[{"type":"input_text","text":"a"}]}]"#.to_owned(),
            Format::OpenAiResponses,
        ),
        (
            r#"[{"role":"user","content":[{"type":"input_audio","input_audio":{"data":"x"}}]}]"#
                .to_owned(),
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
        (
            "",
            "the document is empty; give a request body, a list of messages, or a session log",
        ),
        (
            " \n",
            "the document is empty; give a request body, a list of messages, or a session log",
        ),
        (
            "hello",
            "the document is not JSON: expected value at line 1, column 1; give the whole body, or the log, as it was written",
        ),
        (
            "[\n{\"role\":\"user\",\n\"content\":}]",
            "the document is not JSON: expected value at line 3, column 11; give the whole body, or the log, as it was written",
        ),
        ("{\"messages\": 3}", "expected `messages` to be a list"),
        (
            "{\"choices\": []}",
            "the document holds no conversation: this looks like a response; give the request",
        ),
        (
            "[1]",
            "message 1: invalid type: integer `1`, expected an object",
        ),
        (
            r#"[{"role":"user","content":"a"},{"content":"b"}]"#,
            "message 2: `role` is missing; expected a role of OpenAI Chat (system, developer, user, assistant, tool)",
        ),
        (
            r#"[{"role":"user","role":"user","content":"a"}]"#,
            "message 1: key `role` comes twice",
        ),
        (
            r#"[{"role":"wizard","content":"a"}]"#,
            "message 1: `wizard` is not a role of OpenAI Chat (system, developer, user, assistant, tool)",
        ),
        (
            r#"[{"role":3,"content":"a"}]"#,
            "message 1: expected `role` to be a string: a role of OpenAI Chat (system, developer, user, assistant, tool)",
        ),
        (
            r#"[{"role":"Dear diary, I met a wizard","content":"a"}]"#,
            "message 1: `role` is not a role of OpenAI Chat (system, developer, user, assistant, tool)",
        ),
        (
            r#"[{"role":"system","content":"s"},{"role":"user","content":"a"},{"role":"assistant","content":[{"type":"tool_use","id":"a","name":"f","input":{}}]}]"#,
            "message 3: a `tool_use` block belongs to Anthropic Messages, and other messages are OpenAI Chat; for Anthropic put the system prompt in `system`, outside of the messages",
        ),
        (
            r#"[{"role":"user","content":7}]"#,
            "message 1: expected `content` to be a text or a list of parts",
        ),
        (
            r#"{"contents":"Fix the bug."}"#,
            "expected `contents` to be a list",
        ),
        (
            r#"{"contents":{"parts":"Fix the bug."}}"#,
            "message 1: expected `parts` to be a list of parts, or one part",
        ),
        (
            r#"{"contents":{"role":"user","role":"user"}}"#,
            "message 1: key `role` comes twice",
        ),
        (
            r#"{"messages":[{"role":"user","content":"a"}]"#,
            "the document is not JSON: EOF while parsing an object at line 1, column 43; give the whole body, or the log, as it was written",
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
fn output_that_is_no_text_is_read_as_its_json() {
    for (json, text, failed) in [
        (r#"{"exit": 0}"#, r#"{"exit": 0}"#, false),
        (
            r#"{"error":"no such file"}"#,
            r#"{"error":"no such file"}"#,
            true,
        ),
        ("7", "7", false),
        ("false", "false", false),
        (r#"["a\n", "b"]"#, "a\n\nb", false),
    ] {
        let answer = format!(r#"{{"role":"tool","tool_call_id":"a","content": {json}}}"#);
        let chat = list(&[HELLO, CALL, &answer]);
        let result = format!(
            r#"{{"role":"user","content":[{{"type":"tool_result","tool_use_id":"a","content":{json}}}]}}"#
        );
        let anthropic = list(&[HELLO, USE, &result]);
        let item = format!(r#"{{"type":"function_call_output","call_id":"a","output":{json}}}"#);
        let call = r#"{"type":"function_call","call_id":"a","name":"f","arguments":"{}"}"#;
        let responses = list(&[HELLO, call, &item]);
        for (format, document) in [
            (Format::OpenAiChat, chat),
            (Format::Anthropic, anthropic),
            (Format::OpenAiResponses, responses),
        ] {
            let conversation = read(&document, Some(format)).expect("it reads");
            let kinds: Vec<_> = conversation.units().iter().map(|unit| unit.kind).collect();
            assert_eq!(kinds, [UnitKind::User, UnitKind::Step], "{document}");
            let outputs: Vec<_> = conversation
                .all_messages()
                .iter()
                .flat_map(|message| message.outputs())
                .map(|output| (output.text(conversation.source()), output.failed))
                .collect();
            assert_eq!(
                outputs,
                [(std::borrow::Cow::from(text), failed)],
                "{document}"
            );
        }
    }
}

#[test]
fn shell_call_failed_as_its_outcome_says() {
    for (outcome, failed) in [
        (r#"{"type":"exit","exit_code":1}"#, true),
        (r#"{"type":"timeout"}"#, true),
        (r#"{"type":"exit","exit_code":0}"#, false),
    ] {
        let call = r#"{"type":"shell_call","call_id":"a","action":{"commands":["ls"]},"status":"completed"}"#;
        let item = format!(
            r#"{{"type":"shell_call_output","call_id":"a","output":[{{"stdout":"quay\n","stderr":"","outcome":{outcome}}}]}}"#
        );
        let document = list(&[HELLO, call, &item]);
        let conversation = read(&document, Some(Format::OpenAiResponses)).expect("it reads");
        let found: Vec<bool> = conversation
            .all_messages()
            .iter()
            .flat_map(|message| message.outputs())
            .map(|output| output.failed)
            .collect();
        assert_eq!(found, [failed], "{outcome}");
    }
}

#[test]
fn response_of_several_members_failed_as_they_say() {
    for (response, failed) in [
        (r#"{"output":"quay","success":false}"#, true),
        (r#"{"error":"no berth","code":5}"#, true),
        (r#"{"output":"quay","error":null}"#, false),
        (r#"{"output":"quay","success":true}"#, false),
    ] {
        let call = r#"{"role":"model","parts":[{"functionCall":{"name":"f","args":{}}}]}"#;
        let answer = format!(
            r#"{{"role":"user","parts":[{{"functionResponse":{{"name":"f","response":{response}}}}}]}}"#
        );
        let said = r#"{"role":"user","parts":[{"text":"hello"}]}"#;
        let document = list(&[said, call, &answer]);
        let conversation = read(&document, Some(Format::Gemini)).expect("it reads");
        let found: Vec<bool> = conversation
            .all_messages()
            .iter()
            .flat_map(|message| message.outputs())
            .map(|output| output.failed)
            .collect();
        assert_eq!(found, [failed], "{response}");
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
fn blocks_of_bedrock_are_read_for_what_they_are() {
    let document = list(&[
        r#"{"role":"user","content":[{"guardContent":{"text":{"text":"Is it safe?"}}},{"document":{"format":"pdf","name":"tides","source":{"bytes":"JVBERi0="}}}]}"#,
        BEDROCK_USE,
        BEDROCK_RESULT,
        r#"{"role":"assistant","content":[{"toolUse":{"toolUseId":"s","name":"nova_grounding","input":{},"type":"server_tool_use"}},{"text":"Yes."}]}"#,
    ]);
    let conversation = read(&document, Some(Format::BedrockConverse)).expect("it reads");
    let kinds: Vec<(UnitKind, usize)> = conversation
        .units()
        .iter()
        .map(|unit| (unit.kind, unit.messages))
        .collect();
    let expected = [
        (UnitKind::User, 1),
        (UnitKind::Step, 2),
        (UnitKind::Step, 1),
    ];
    assert_eq!(kinds, expected);
    let messages = conversation.all_messages();
    // What is signed, and what the provider's own tool was asked.
    let opaque: Vec<bool> = messages.iter().map(|own| own.opaque).collect();
    assert_eq!(opaque, [false, true, false, true]);
    let media: Vec<_> = messages[0].media().map(|own| own.name.clone()).collect();
    assert_eq!(media, [Some("tides".to_owned())]);
    assert_eq!(messages[2].cache_marks, 1);
    let output = messages[2].outputs().next().expect("an output");
    assert_eq!(
        (&*output.call_id, &*output.name, output.failed),
        ("a", "f", true)
    );
    assert_eq!(output.text(conversation.source()), "ok\n{\"tide\":[7]}");
}

#[test]
fn overhead_of_bedrock_is_its_system_prompt_and_its_tools() {
    let tools = r#"[{"toolSpec":{"name":"f","description":"d","inputSchema":{"json":{}}}}]"#;
    let document = format!(
        r#"{{"system":[{{"text":"be kind"}},{{"cachePoint":{{"type":"default"}}}}],"toolConfig":{{"tools":{tools}}},"messages":{}}}"#,
        list(&[BEDROCK_HELLO])
    );
    let conversation = read(&document, None).expect("reads");
    let tokenizer = conversation.tokenizer();
    assert_eq!(
        conversation.overhead(),
        tokenizer.count(tools) + tokenizer.count("be kind")
    );
    let names: Vec<&str> = conversation.tools().iter().map(|own| &*own.name).collect();
    assert_eq!(names, ["f"]);
}

#[test]
fn note_in_the_role_of_the_model_is_no_answer_and_no_step() {
    use crate::marks::{self, By, LEFT_OUT, Purpose, SecretKey, Site};
    let key = SecretKey::new([7; 32]);
    let note = marks::wrap(&key, Purpose::Note, Site::Assistant, By::Host, LEFT_OUT);
    let note = Format::BedrockConverse.text_message(crate::Role::Assistant, &note);
    let document = list(&[BEDROCK_HELLO, BEDROCK_USE, BEDROCK_RESULT, &note]);
    let reader = crate::Reader::new(key).with_format(Some(Format::BedrockConverse));
    let conversation = reader.read(document).expect("it reads");
    let kinds: Vec<UnitKind> = conversation.units().iter().map(|unit| unit.kind).collect();
    assert_eq!(kinds, [UnitKind::User, UnitKind::Step, UnitKind::Other]);
    // The model has said nothing behind its call, whose output is unseen.
    assert_eq!(conversation.answered(), 2);
}

/// Neighbours are one message to the API (ANTH-2), and thinking that is parted from its call is
/// refused (ANTH-5).
#[test]
fn response_over_neighbouring_messages_is_one_unit() {
    let thought = r#"{"role":"assistant","content":[{"type":"thinking","thinking":"Hm.","signature":"c2ln"}]}"#;
    let hidden =
        r#"{"role":"assistant","content":[{"type":"redacted_thinking","data":"c2VjcmV0"}]}"#;
    let says = r#"{"role":"assistant","content":"It is high tide."}"#;
    let summary =
        r#"{"role":"assistant","content":[{"type":"compaction","content":"We sailed."}]}"#;
    for (messages, expected) in [
        (vec![HELLO, thought, USE, RESULT, HELLO], vec![1, 3, 1]),
        (
            vec![HELLO, thought, hidden, says, USE, RESULT, USE],
            vec![1, 5, 1],
        ),
        (vec![HELLO, says, says, USE, RESULT, HELLO], vec![1, 4, 1]),
        (vec![HELLO, thought, says, HELLO], vec![1, 2, 1]),
        (vec![HELLO, says, says, HELLO], vec![1, 1, 1, 1]),
        // It stands for all before it, and stays where the response goes.
        (vec![summary, thought, USE, RESULT, HELLO], vec![1, 3, 1]),
    ] {
        let document = list(&messages);
        let conversation = read(&document, Some(Format::Anthropic)).expect("it reads");
        let lengths: Vec<usize> = conversation
            .units()
            .iter()
            .map(|unit| unit.messages)
            .collect();
        assert_eq!(lengths, expected, "{document}");
    }
}

/// Some servers of Gemini take neighbours for one content (GEM-2).
#[test]
fn calls_and_responses_in_neighbouring_contents_are_one_unit() {
    let content = |role: &str, parts: &str| format!(r#"{{"role":"{role}","parts":[{parts}]}}"#);
    let call = r#"{"functionCall":{"name":"潮","args":{}}}"#;
    let answer = r#"{"functionResponse":{"name":"潮","response":{"error":"no gauge"}}}"#;
    let hello = content("user", r#"{"text":"hello"}"#);
    let calls = content("model", call);
    let answers = content("user", answer);
    let both = content("user", &format!("{answer},{answer}"));
    let call_behind = content("model", &format!("{answer},{call}"));
    for (messages, expected) in [
        (
            vec![&hello, &calls, &answers, &answers, &hello],
            vec![1, 3, 1],
        ),
        (vec![&hello, &calls, &calls, &both, &hello], vec![1, 3, 1]),
        (
            vec![&hello, &calls, &answers, &calls, &answers],
            vec![1, 2, 2],
        ),
        (vec![&hello, &calls, &hello, &calls], vec![1, 1, 1, 1]),
        (
            vec![&hello, &calls, &call_behind, &answers, &hello],
            vec![1, 3, 1],
        ),
        (vec![&answers, &answers, &hello], vec![1, 1, 1]),
    ] {
        let messages: Vec<&str> = messages.into_iter().map(String::as_str).collect();
        let lengths = |conversation: &Conversation| -> Vec<usize> {
            let units = conversation.units().iter();
            units.map(|unit| unit.messages).collect()
        };
        let document = list(&messages);
        let whole = read(&document, Some(Format::Gemini)).expect("it reads");
        assert_eq!(lengths(&whole), expected, "{document}");
        let mut grown = read("[]", Some(Format::Gemini)).expect("it reads");
        for message in &messages {
            grown.append(message).expect("it reads");
        }
        assert_eq!(lengths(&grown), expected, "{document}");
    }
}

/// What stands without its list has nothing next to it, and is never edited.
#[test]
fn one_part_in_place_of_a_list_is_read_and_sealed() {
    let document = r#"{"contents":{"role":"user","parts":{"text":"Read the gauge."}}}"#;
    let conversation = read(document, None).expect("it reads");
    assert_eq!(conversation.violations(), []);
    let [message] = conversation.all_messages() else {
        panic!("expected one message");
    };
    assert!(message.opaque);
    let listed = r#"{"contents":{"role":"user","parts":[{"text":"Read the gauge."}]}}"#;
    let listed = read(listed, None).expect("it reads");
    assert!(!listed.all_messages()[0].opaque);
    assert_eq!(conversation.tokens(), listed.tokens());
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
    assert_eq!(
        conversation.overhead(),
        conversation.tokenizer().count("be kind")
    );
}

#[test]
fn instructions_in_the_middle_are_units_of_their_own() {
    let rule = r#"{"role":"system","content":"x"}"#;
    let brief = r#"{"role":"system","content":"x","clear_at":"next_user_message"}"#;
    let messages = [HELLO, rule, rule, USE, RESULT, brief, OTHER_USE];
    let conversation = read(&list(&messages), Some(Format::Anthropic)).expect("reads");
    let units: Vec<(UnitKind, usize, bool)> = conversation
        .units()
        .iter()
        .map(|unit| (unit.kind, unit.messages, unit.traits.instructions))
        .collect();
    assert_eq!(
        units,
        [
            (UnitKind::User, 1, false),
            (UnitKind::Instructions, 1, true),
            (UnitKind::Instructions, 1, true),
            (UnitKind::Step, 2, false),
            // It holds until the user's next message only.
            (UnitKind::Other, 1, false),
            (UnitKind::Step, 1, false),
        ]
    );
}

#[test]
fn conversation_with_instructions_in_the_middle_grows_as_it_is_read() {
    let rule = r#"{"role":"system","content":"x"}"#;
    let code = r#"{"role":"assistant","content":[{"type":"server_tool_use","id":"s","name":"code_execution","input":{}},{"type":"tool_use","id":"a","name":"f","input":{}}]}"#;
    let done = r#"{"role":"assistant","content":[{"type":"code_execution_tool_result","tool_use_id":"s","content":{}}]}"#;
    let messages = [
        HELLO, rule, USE, RESULT, rule, rule, code, RESULT, rule, done, rule, USE, RESULT, HELLO,
        rule, HELLO, OTHER_USE,
    ];
    let mut grown = read(&list(&messages[..1]), Some(Format::Anthropic)).expect("reads");
    for end in 2..=messages.len() {
        grown.append(messages[end - 1]).expect("a message");
        let whole = read(&list(&messages[..end]), Some(Format::Anthropic)).expect("reads");
        assert_eq!(grown.units(), whole.units(), "{end}");
        assert_eq!(grown.violations(), whole.violations(), "{end}");
    }
    // The code that runs, the call that it makes and what came of it are one unit, instructions
    // in between included.
    assert!(grown.units().iter().any(|unit| unit.messages == 4));
}
