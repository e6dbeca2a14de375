//! Lines of Codex.

use crate::Writer;

pub(crate) fn line(writer: &mut Writer<'_, '_>, number: usize) -> String {
    let (kind, payload) = match writer.choices.below(16) {
        _ if number == 0 && !writer.one_in(4) => ("session_meta", meta(writer)),
        0..=10 => ("response_item", item(writer)),
        11 => ("event_msg", event(writer)),
        12 => ("turn_context", {
            let model = writer.value("\"gpt-5\"");
            writer.object(&[("model", model)])
        }),
        13 => ("compacted", compacted(writer)),
        14 => return item(writer),
        _ => return meta(writer),
    };
    let members = [
        ("timestamp", "\"t\"".to_owned()),
        ("type", writer.value(format!("\"{kind}\""))),
        ("payload", payload),
    ];
    writer.object(&members)
}

fn meta(writer: &mut Writer<'_, '_>) -> String {
    let members = [
        ("id", "\"s\"".to_owned()),
        ("timestamp", "\"t\"".to_owned()),
        ("instructions", writer.text()),
    ];
    writer.object(&members)
}

fn event(writer: &mut Writer<'_, '_>) -> String {
    let usage = [
        ("input_tokens", writer.number()),
        ("output_tokens", "5".to_owned()),
        ("total_tokens", writer.number()),
    ];
    let usage = writer.object(&usage);
    let info = writer.object(&[("last_token_usage", usage)]);
    writer.object(&[("type", "\"token_count\"".to_owned()), ("info", info)])
}

fn compacted(writer: &mut Writer<'_, '_>) -> String {
    let mut members = vec![("message", writer.text())];
    if writer.one_in(2) {
        members.push(("replacement_history", writer.list(item)));
    }
    writer.object(&members)
}

fn item(writer: &mut Writer<'_, '_>) -> String {
    let choice = writer.choices.below(24);
    let kind = match choice {
        0..=2 => return message(writer, "user", "input_text"),
        3..=5 => return message(writer, "assistant", "output_text"),
        6 => return message(writer, "developer", "input_text"),
        7 => return reasoning(writer),
        8..=11 => "function_call",
        12..=15 => "function_call_output",
        16 => "custom_tool_call",
        17 => "custom_tool_call_output",
        18 => "local_shell_call",
        19 => "shell_call",
        20 => "tool_search_call",
        21 => "tool_search_output",
        22 => "web_search_call",
        _ => writer.one_of(&[
            "ghost_snapshot",
            "compaction",
            "other",
            "computer_call",
            "x_output",
        ]),
    };
    let mut members = vec![("type", writer.value(format!("\"{kind}\"")))];
    if kind.ends_with("_output") {
        members.push(("call_id", writer.call()));
        members.push(("output", writer.text()));
    } else {
        members.push(("call_id", writer.new_call()));
        members.push(("name", writer.value("\"shell\"")));
        members.push(("arguments", writer.value(r#""{\"command\":[\"ls\"]}""#)));
        members.push(("input", writer.value("\"x\"")));
    }
    if kind.starts_with("tool_search") {
        members.push(("execution", writer.value("\"client\"")));
    }
    if writer.one_in(4) {
        members.push(("id", writer.new_entry()));
    }
    writer.object(&members)
}

fn message(writer: &mut Writer<'_, '_>, role: &str, part: &str) -> String {
    let content = if writer.one_in(4) {
        writer.text()
    } else {
        writer.list(|writer| {
            let text = writer.text();
            writer.object(&[("type", format!("\"{part}\"")), ("text", text)])
        })
    };
    let members = [
        ("type", "\"message\"".to_owned()),
        ("role", writer.value(format!("\"{role}\""))),
        ("content", content),
    ];
    writer.object(&members)
}

fn reasoning(writer: &mut Writer<'_, '_>) -> String {
    let members = [
        ("type", "\"reasoning\"".to_owned()),
        ("summary", writer.value("[]")),
        ("encrypted_content", writer.value("\"gAAAAB=\"")),
    ];
    writer.object(&members)
}
