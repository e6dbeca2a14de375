use serde_json::json;

use super::claude_code::{calls, result, says, user};
use super::{file, messages, try_read};
use crate::logs::read;
use crate::marks::SecretKey;
use crate::model::log::{LogError, LogKind};
use crate::model::read_error::ReadError;
use crate::reading::Reader;

fn talk() -> String {
    file(&[
        user("u1", "", json!("Сколько будет дважды два?")),
        says("a1", "u1", "m1", "Четыре."),
        user("u2", "a1", json!("Thanks.")),
    ])
}

fn is_log(text: &str) -> bool {
    read(text, None).is_some()
}

#[test]
fn requests_and_other_texts_are_no_logs() {
    for text in [
        "",
        "\u{feff} \n",
        "no JSON at all",
        "7",
        "[]",
        r#"[{"role":"user","content":"a"}]"#,
        r#"{"model":"m","messages":[{"role":"user","content":"a"}]}"#,
        r#"{"sessionId":"x","messages":[{"role":"user","content":"a"}]}"#,
        r#"{"model":"m","input":"a"}"#,
        r#"{"contents":[{"role":"user","parts":[{"text":"a"}]}]}"#,
        r#"{"id":"msg_1","type":"message","role":"assistant","content":[],"stop_reason":"end_turn"}"#,
        "{\"messages\": [\n{\"type\":\"user\",\"id\":\"1\",\"timestamp\":\"t\",\"content\":\"a\"}\n]}",
        "{\n  \"input\": [\n{\"type\":\"message\",\"role\":\"user\",\"content\":\"a\"}\n  ]\n}",
        "{\"a\":1}\n{\"b\":2}\n",
    ] {
        assert!(!is_log(text), "{text}");
    }
}

#[test]
fn log_is_recognised_by_its_beginning_alone() {
    let late = format!("{}{}", "{\"a\":1}\n".repeat(40), talk());
    assert!(!is_log(&late));
    let soon = format!("{}{}", "{\"a\":1}\n".repeat(5), talk());
    assert!(is_log(&soon));
    // Lines that only Claude Code writes, but that say nothing.
    for line in [
        json!({"type": "progress", "uuid": "p", "sessionId": "s", "data": {"type": "hook_progress"}}),
        json!({"type": "custom-title", "customTitle": "Sums", "sessionId": "s"}),
    ] {
        let text = format!("{}{}", file(&vec![line; 40]), talk());
        let log = try_read(&text).unwrap();
        assert_eq!((messages(&log).len(), log.facts.skipped_lines), (3, 40));
    }
    // A log whose beginning was cut off.
    assert!(is_log(&talk()[30..]));
}

#[test]
fn line_ends_marks_and_empty_lines_do_not_matter() {
    let text = format!("\u{feff}\r\n{}\r\n\r\n", talk().replace('\n', "\r\n\r\n"));
    let log = try_read(&text).unwrap();
    assert_eq!(messages(&log).len(), 3);
    assert_eq!((log.facts.lines, log.facts.broken_lines), (3, 0));
}

#[test]
fn last_line_that_is_being_written_is_told() {
    let text = talk();
    for cut in 2..60 {
        let end = text.len() - cut;
        let log = try_read(&text[..end]).unwrap();
        assert!(log.facts.unfinished_last_line, "{cut}");
        assert_eq!(
            (messages(&log).len(), log.facts.broken_lines),
            (2, 0),
            "{cut}"
        );
    }
    // A whole last line needs no line end.
    assert_eq!(messages(&try_read(text.trim_end()).unwrap()).len(), 3);
}

#[test]
fn lines_that_are_no_objects_or_name_a_key_twice_are_counted() {
    let twice = r#"{"type":"user","type":"user","uuid":"x","sessionId":"s"}"#;
    let text = format!("{}7\n\"text\"\n[1]\n{twice}\n{{\"type\":\n", talk());
    let facts = try_read(&text).unwrap().facts;
    assert_eq!((facts.skipped_lines, facts.broken_lines), (3, 2));
}

#[test]
fn log_that_is_mostly_broken_is_an_error() {
    let text = format!("{}{}", talk(), "{\"type\":\"us\n".repeat(4));
    assert_eq!(
        try_read(&text).unwrap_err(),
        LogError::Broken {
            kind: LogKind::ClaudeCode,
            broken: 4,
            lines: 7,
            line: 4
        }
    );
}

#[test]
fn deep_nesting_costs_no_stack() {
    let deep = format!("{}{}", "[".repeat(200_000), "]".repeat(200_000));
    for content in [
        &deep,
        "{\"a\":1}",
        "null",
        "[null]",
        "[[]]",
        "[{\"type\":7}]",
        "[{\"type\":\"tool_use\"}]",
    ] {
        let line = format!(
            r#"{{"type":"user","uuid":"d","sessionId":"s","message":{{"role":"user","content":{content}}}}}"#
        );
        let log = try_read(&format!("{}{line}\n{line}{deep}\n", talk())).unwrap();
        assert_eq!(messages(&log).len(), 3);
    }
}

#[test]
fn texts_that_are_half_a_character_are_copied_as_they_are() {
    let line = talk().lines().next().unwrap().replace("Сколько", "\\ud83d");
    let log = try_read(&format!("{line}\n")).unwrap();
    assert!(log.document.contains("\\ud83d"));
}

/// The messages, the lines and the broken lines of a log of these lines.
fn read_lines(lines: &[String]) -> (Vec<String>, usize, usize) {
    let log = try_read(&lines.concat()).expect("it is whole");
    let said = messages(&log)
        .iter()
        .map(|message| message["content"].to_string())
        .collect();
    (said, log.facts.lines, log.facts.broken_lines)
}

#[test]
fn objects_without_a_line_break_between_them_are_all_read() {
    let line = |id: &str, text: &str| user(id, "", json!(text)).to_string();
    let [first, second] = [line("u1", "Плывём {\"east\"}?"), line("u2", "No: west.")];
    for between in ["", " ", "\t", "\r"] {
        for end in ["", "\n"] {
            let (said, lines, broken) =
                read_lines(&[format!("{first}{between}{second}{between}{first}{end}")]);
            // The third is the first again.
            assert_eq!(said.len(), 1, "one message of the user: {said:?}");
            assert!(
                said[0].contains("east") && said[0].contains("west"),
                "{said:?}"
            );
            assert_eq!((lines, broken), (3, 0), "{between:?} {end:?}");
        }
    }
    // Beside what is no record, and one that names a key twice.
    let twice = r#"{"type":"user","type":"user"}"#;
    let (said, lines, broken) = read_lines(&[format!("{first}[7]{twice}{second} }}\n")]);
    assert!(
        said[0].contains("east") && said[0].contains("west"),
        "{said:?}"
    );
    assert_eq!((lines, broken), (5, 2));
}

/// A program that is stopped while it writes, and that goes on later in the same file.
#[test]
fn torn_line_costs_itself_alone_wherever_it_was_torn() {
    let line =
        |id: &str, text: &str| user(id, "", json!([{"type": "text", "text": text}])).to_string();
    let before = line("u1", "Hoist the jib.");
    let torn = line("u2", "half \u{e9} \"quoted\" {\"and\": 12.5} said");
    let behind = line("u3", "And the main.");
    let ends: Vec<usize> = torn.char_indices().map(|(end, _)| end).skip(1).collect();
    assert!(ends.len() > 100);
    for end in ends {
        let glued = format!("{before}\n{}{behind}\n{before}\n", &torn[..end]);
        let (said, lines, broken) = read_lines(&[glued]);
        let said = said.concat();
        assert!(
            said.contains("Hoist") && said.contains("main"),
            "{end}: {said}"
        );
        assert!(!said.contains("half"), "{end}: {said}");
        assert_eq!((lines, broken), (4, 1), "{end}");
        // With a line break, as a line that was cut.
        let cut = format!("{before}\n{}\n{behind}\n{before}\n", &torn[..end]);
        assert_eq!(read_lines(&[cut]).1, 4, "{end}");
    }
}

#[test]
fn rest_of_a_broken_line_is_not_read_as_one() {
    let inner = user("u2", "", json!("Mutiny!"));
    let whole = user("u1", "", json!("Steady.")).to_string();
    for broken in [
        format!(r#"{{"type" "progress","data":{inner}}}"#),
        format!(r#"{{"data":[{inner},{inner}]]}}"#),
        format!(r#"{{"a":{inner},"b":{{"c":1}}"#),
    ] {
        let (said, lines, count) = read_lines(&[format!("{whole}\n{broken}\n{whole}\n")]);
        assert!(!said.concat().contains("Mutiny"), "{broken}");
        assert_eq!((lines, count), (3, 1), "{broken}");
    }
}

/// Of half a character everywhere that a log holds text: in ids, names, inputs, outputs and words.
#[test]
fn half_a_character_costs_nothing_and_no_pairing() {
    let text = file(&[
        user("u1", "", json!("Signal HALF now.")),
        calls("a1", "u1", "m1", "tHALF"),
        result("r1", "a1", "tHALF", "HALF flags"),
        says("a2", "r1", "m2", "Done: HALF"),
        user("u2", "a2", json!("Lower HALF them.")),
    ]);
    for half in ["\\ud83d", "\\uDE00", "\\ude00\\ud83d"] {
        let reader = Reader::new(SecretKey::new([1; 32]));
        let conversation = reader.read(text.replace("HALF", half)).expect("it reads");
        let (_, facts) = conversation.log().expect("it is a log");
        assert_eq!((facts.lines, facts.broken_lines), (5, 0), "{half}");
        assert_eq!((facts.completed_calls, facts.dropped_results), (0, 0));
        assert_eq!(conversation.all_messages().len(), 5);
        assert_eq!(conversation.document().matches(half).count(), 6, "{half}");
        assert!(!conversation.is_broken(), "{:?}", conversation.violations());
    }
}

#[test]
fn parents_that_are_missing_or_their_own_do_no_harm() {
    let lines = [
        user("u1", "u1", json!("Me.")),
        says("a1", "u9", "m1", "Whose?"),
        user("u9", "a1", json!("Yours.")),
    ];
    assert_eq!(messages(&try_read(&file(&lines)).unwrap()).len(), 3);
}

#[test]
fn tree_that_bites_its_tail_ends() {
    let entry = |id: &str, parent: &str| json!({"type": "message", "id": id, "parentId": parent, "message": {"role": "user", "content": "a"}});
    let text = file(&[
        json!({"type": "session", "version": 3, "id": "s", "timestamp": "t"}),
        entry("1", "2"),
        entry("2", "1"),
        entry("2", "2"),
    ]);
    assert!(try_read(&text).is_ok());
}

#[test]
fn byte_that_is_no_character_costs_its_line_alone() {
    let reader = Reader::new(SecretKey::new([1; 32]));
    let lines = ["Ring the bell.", "Wait for noon?", "No, now.", "And again."];
    let log: String = lines
        .iter()
        .enumerate()
        .map(|(index, text)| file(&[user(&format!("u{index}"), "", json!(text))]))
        .collect();
    let starts: Vec<usize> = log.match_indices('\n').map(|(end, _)| end + 1).collect();
    let with_bytes = |places: &[usize]| {
        let mut bytes = log.clone().into_bytes();
        for place in places {
            bytes[*place] = 0xff;
        }
        bytes
    };
    let inside = log.find("noon?").expect("it is there");
    // In a text, and where the object begins and ends.
    for place in [inside, starts[0], starts[1] - 2] {
        let conversation = reader.read_bytes(with_bytes(&[place])).expect("it reads");
        let document = conversation.document();
        let found = lines.map(|text| document.contains(text));
        assert_eq!(found, [true, false, true, true], "{place}: {document}");
        let (_, facts) = conversation.log().expect("it is a log");
        assert_eq!(facts.broken_lines, 1, "{place}");
    }
    // Half a character at the end, where the program is still writing.
    let mut cut = log.clone().into_bytes();
    cut.truncate(log.find("again.").expect("it is there"));
    cut.push(0xc3);
    let conversation = reader.read_bytes(cut).expect("it reads");
    let (_, facts) = conversation.log().expect("it is a log");
    assert_eq!((facts.broken_lines, facts.unfinished_last_line), (0, true));
    // Half a character where a line was torn: the object behind it is read.
    let line = |text: &str| user("u9", "", json!(text)).to_string();
    let torn = line("Wait for noon?");
    let at = torn.find("noon?").expect("it is there");
    let glued = line("Ring twice.") + "\n";
    let bytes = [
        log.as_bytes(),
        &torn.as_bytes()[..at],
        &[0xd0],
        glued.as_bytes(),
    ]
    .concat();
    let conversation = reader.read_bytes(bytes).expect("it reads");
    assert!(conversation.document().contains("Ring twice."));
    let (_, facts) = conversation.log().expect("it is a log");
    assert_eq!((facts.lines, facts.broken_lines), (6, 1));
    // Most of a log has to be whole, and all of what is none.
    let offset = |bytes| match reader.read_bytes(bytes) {
        Err(ReadError::NotUtf8 { offset }) => Some(offset),
        _ => None,
    };
    assert_eq!(offset(with_bytes(&starts[..3])), Some(starts[0]));
    let body = b"{\"messages\":[{\"role\":\"user\",\"content\":\"\xff\"}]}";
    assert_eq!(offset(body.to_vec()), Some(39));
}
