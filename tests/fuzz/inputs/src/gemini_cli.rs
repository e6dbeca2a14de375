//! Recordings of gemini-cli: lines, or one object.

use crate::Writer;

pub(crate) fn line(writer: &mut Writer<'_, '_>, number: usize) -> String {
    match writer.choices.below(16) {
        _ if number == 0 && !writer.one_in(8) => head(writer, false),
        12 => {
            let messages = writer.list(message);
            let set = writer.object(&[("messages", messages)]);
            writer.object(&[("$set", set)])
        }
        13 => {
            let id = writer.parent();
            writer.object(&[("$rewindTo", id)])
        }
        14 => {
            let updated = writer.value("\"t\"");
            writer.object(&[("$set", format!("{{\"lastUpdated\":{updated}}}"))])
        }
        15 => head(writer, true),
        _ => message(writer),
    }
}

/// A recording that is one object, each message on a line of its own that is indented.
pub(crate) fn whole(writer: &mut Writer<'_, '_>, messages: usize) -> String {
    let messages: Vec<String> = (0..messages).map(|_| message(writer)).collect();
    let cut = writer.choices.below(256).saturating_sub(250);
    let mut whole = format!(
        "{{\n  \"sessionId\": \"s\",\n  \"projectHash\": \"p\",\n  \"messages\": [\n    {}\n  ]\n}}\n",
        messages.join(",\n    ")
    );
    whole.truncate(whole.len() - cut);
    whole
}

fn head(writer: &mut Writer<'_, '_>, has_messages: bool) -> String {
    let mut members = vec![
        ("sessionId", "\"s\"".to_owned()),
        ("projectHash", "\"p\"".to_owned()),
        ("startTime", "\"t\"".to_owned()),
    ];
    if has_messages {
        members.push(("messages", writer.list(message)));
    }
    writer.object(&members)
}

fn message(writer: &mut Writer<'_, '_>) -> String {
    let kind = writer.one_of(&["user", "gemini", "user", "gemini", "gemini", "info"]);
    let content = match writer.choices.below(4) {
        2 => writer.list(part),
        3 => part(writer),
        _ => writer.text(),
    };
    let mut members = vec![
        ("id", writer.new_entry()),
        ("timestamp", "\"t\"".to_owned()),
        ("type", writer.value(format!("\"{kind}\""))),
        ("content", content),
    ];
    if kind == "gemini" {
        let model = writer.one_of(&["\"gemini-2.5-pro\"", "\"gemini-3-pro\""]);
        members.push(("model", writer.value(model)));
        let tokens = [("input", writer.number()), ("total", writer.number())];
        members.push(("tokens", writer.object(&tokens)));
        if !writer.one_in(3) {
            members.push(("toolCalls", writer.list(call)));
        }
    }
    writer.object(&members)
}

fn part(writer: &mut Writer<'_, '_>) -> String {
    match writer.choices.below(8) {
        4 => {
            let data = writer.value(r#"{"mimeType":"image/png","data":"iVBORw0KGgo="}"#);
            writer.object(&[("inlineData", data)])
        }
        5 => response(writer),
        6 => {
            let call = writer.value(r#"{"name":"book","args":{}}"#);
            writer.object(&[("functionCall", call)])
        }
        7 => {
            let text = writer.text();
            let signature = writer.value("\"c2ln\"");
            writer.object(&[("text", text), ("thoughtSignature", signature)])
        }
        _ => {
            let text = writer.text();
            writer.object(&[("text", text)])
        }
    }
}

fn response(writer: &mut Writer<'_, '_>) -> String {
    let output = writer.text();
    let members = [
        ("id", writer.call()),
        ("name", writer.value("\"book\"")),
        ("response", writer.object(&[("output", output)])),
    ];
    let response = writer.object(&members);
    writer.object(&[("functionResponse", response)])
}

fn call(writer: &mut Writer<'_, '_>) -> String {
    let result = match writer.choices.below(4) {
        2 => writer.text(),
        3 => writer.list(part),
        _ => writer.list(response),
    };
    let status = writer.one_of(&["success", "error", "cancelled"]);
    let members = [
        ("id", writer.new_call()),
        ("name", writer.value("\"book\"")),
        ("args", writer.value("{}")),
        ("result", result),
        ("status", writer.value(format!("\"{status}\""))),
    ];
    writer.object(&members)
}
