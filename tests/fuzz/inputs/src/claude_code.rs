//! Lines of Claude Code.

use crate::Writer;

pub(crate) fn line(writer: &mut Writer<'_, '_>) -> String {
    let (kind, message, more) = match writer.choices.below(16) {
        0 | 1 => ("user", said(writer), None),
        2 | 3 => ("user", results(writer), None),
        4..=8 => ("assistant", reply(writer), None),
        9 => ("user", said(writer), Some("isMeta")),
        10 => ("user", said(writer), Some("isCompactSummary")),
        11 => ("assistant", reply(writer), Some("isApiErrorMessage")),
        12 => ("assistant", reply(writer), Some("isSidechain")),
        13 => return boundary(writer),
        14 => ("user", results(writer), Some("isSidechain")),
        _ => return other(writer),
    };
    let mut members = vec![
        ("parentUuid", writer.parent()),
        ("sessionId", "\"s\"".to_owned()),
        ("type", writer.value(format!("\"{kind}\""))),
        ("message", message),
        ("uuid", writer.new_entry()),
    ];
    if let Some(more) = more {
        members.push((more, writer.value("true")));
    }
    writer.object(&members)
}

fn boundary(writer: &mut Writer<'_, '_>) -> String {
    let members = [
        ("parentUuid", "null".to_owned()),
        ("sessionId", "\"s\"".to_owned()),
        ("type", "\"system\"".to_owned()),
        ("subtype", writer.value("\"compact_boundary\"")),
        ("uuid", writer.new_entry()),
    ];
    writer.object(&members)
}

fn other(writer: &mut Writer<'_, '_>) -> String {
    let lines = [
        r#"{"type":"summary","summary":"Masts","leafUuid":"e1"}"#,
        r#"{"type":"file-history-snapshot","messageId":"e1","snapshot":{}}"#,
        r#"{"type":"queue-operation","operation":"enqueue"}"#,
        r#"{"type":"queue-operation","operation":"enqueue","content":"Sew the jib."}"#,
        r#"{"type":"queue-operation","operation":"remove"}"#,
        r#"{"type":"queue-operation","operation":"popAll"}"#,
        r#"{"type":"attachment","sessionId":"s","uuid":"e3","attachment":{"type":"queued_command","prompt":"Sew the jib."}}"#,
        r#"{"type":"system","sessionId":"s","uuid":"e2","parentUuid":"e1"}"#,
    ];
    writer.one_of(&lines).to_owned()
}

fn said(writer: &mut Writer<'_, '_>) -> String {
    let content = if writer.one_in(2) {
        writer.list(said_block)
    } else {
        writer.text()
    };
    writer.object(&[("role", "\"user\"".to_owned()), ("content", content)])
}

fn results(writer: &mut Writer<'_, '_>) -> String {
    let content = writer.list(|writer| {
        if writer.one_in(6) {
            said_block(writer)
        } else {
            result(writer)
        }
    });
    writer.object(&[("role", "\"user\"".to_owned()), ("content", content)])
}

fn result(writer: &mut Writer<'_, '_>) -> String {
    let content = if writer.one_in(4) {
        writer.list(said_block)
    } else {
        writer.text()
    };
    let members = [
        ("type", "\"tool_result\"".to_owned()),
        ("tool_use_id", writer.call()),
        ("content", content),
        ("is_error", writer.value("false")),
    ];
    writer.object(&members)
}

fn said_block(writer: &mut Writer<'_, '_>) -> String {
    if writer.one_in(5) {
        let source = r#"{"type":"base64","media_type":"image/png","data":"iVBORw0KGgo="}"#;
        let source = writer.value(source);
        return writer.object(&[("type", "\"image\"".to_owned()), ("source", source)]);
    }
    text_block(writer)
}

fn text_block(writer: &mut Writer<'_, '_>) -> String {
    let text = writer.text();
    writer.object(&[("type", writer_type("text")), ("text", text)])
}

fn writer_type(kind: &str) -> String {
    format!("\"{kind}\"")
}

fn reply(writer: &mut Writer<'_, '_>) -> String {
    let content = if writer.one_in(3) {
        writer.list(reply_block)
    } else {
        let block = reply_block(writer);
        writer.value(format!("[{block}]"))
    };
    let usage = [
        ("input_tokens", writer.number()),
        ("cache_read_input_tokens", "5".to_owned()),
        ("output_tokens", "6".to_owned()),
    ];
    let response = ["\"m1\"", "\"m2\"", "\"m3\"", "\"m4\""];
    let members = [
        ("id", writer.one_of(&response).to_owned()),
        ("role", "\"assistant\"".to_owned()),
        ("model", writer.value("\"claude-test\"")),
        ("content", content),
        ("usage", writer.object(&usage)),
    ];
    writer.object(&members)
}

fn reply_block(writer: &mut Writer<'_, '_>) -> String {
    match writer.choices.below(12) {
        0..=3 => text_block(writer),
        4..=7 => {
            let members = [
                ("type", writer_type("tool_use")),
                ("id", writer.new_call()),
                ("name", writer.value("\"Read\"")),
                ("input", writer.value("{}")),
            ];
            writer.object(&members)
        }
        8 => {
            let members = [
                ("type", writer_type("thinking")),
                ("thinking", writer.text()),
                ("signature", writer.value("\"c2ln\"")),
            ];
            writer.object(&members)
        }
        9 => {
            let data = writer.value("\"c2ln\"");
            writer.object(&[("type", writer_type("redacted_thinking")), ("data", data)])
        }
        10 => result(writer),
        _ => writer.object(&[("type", writer_type("fallback"))]),
    }
}
