//! Lines of pi.

use crate::Writer;

pub(crate) fn line(writer: &mut Writer<'_, '_>, number: usize) -> String {
    if number == 0 && !writer.one_in(8) {
        let provider = ["anthropic", "openai", "google", "openrouter", ""];
        let provider = writer.one_of(&provider);
        let members = [
            ("type", "\"session\"".to_owned()),
            ("id", "\"s\"".to_owned()),
            ("version", writer.one_of(&["1", "3", "null"]).to_owned()),
            ("provider", writer.value(format!("\"{provider}\""))),
        ];
        return writer.object(&members);
    }
    let mut members = match writer.choices.below(22) {
        0..=4 => message(writer, user),
        5..=9 => message(writer, reply),
        10..=13 => message(writer, result),
        14 => message(writer, other),
        15 => vec![
            ("type", "\"custom_message\"".to_owned()),
            ("content", content(writer, shown)),
        ],
        16 => vec![
            ("type", "\"branch_summary\"".to_owned()),
            ("summary", writer.text()),
        ],
        17 | 18 => compaction(writer),
        19 => vec![
            ("type", "\"context_edit\"".to_owned()),
            ("targetId", writer.parent()),
            ("replacement", replacement(writer)),
        ],
        20 => message(writer, system),
        _ => vec![
            ("type", "\"model_change\"".to_owned()),
            ("provider", writer.value("\"google\"")),
        ],
    };
    if !writer.one_in(4) {
        members.push(("parentId", writer.parent()));
        members.push(("id", writer.new_entry()));
    }
    writer.object(&members)
}

type Members = Vec<(&'static str, String)>;

fn message(writer: &mut Writer<'_, '_>, inner: fn(&mut Writer<'_, '_>) -> Members) -> Members {
    let members = inner(writer);
    vec![
        ("type", writer.value("\"message\"")),
        ("message", writer.object(&members)),
    ]
}

fn compaction(writer: &mut Writer<'_, '_>) -> Members {
    let first = if writer.one_in(2) {
        ("firstKeptEntryId", writer.parent())
    } else {
        ("firstKeptEntryIndex", writer.number())
    };
    vec![
        ("type", "\"compaction\"".to_owned()),
        ("summary", writer.text()),
        first,
    ]
}

fn replacement(writer: &mut Writer<'_, '_>) -> String {
    if writer.one_in(2) {
        return writer.value("null");
    }
    let content = content(writer, shown);
    writer.object(&[("content", content)])
}

fn system(writer: &mut Writer<'_, '_>) -> Members {
    let sections = writer.text();
    let tool = r#"[{"name":"weigh","description":"Weighs","parameters":{}}]"#;
    vec![
        ("role", "\"system\"".to_owned()),
        ("content", content(writer, shown)),
        ("sections", writer.object(&[("rules", sections)])),
        ("toolsAdded", writer.value(tool)),
    ]
}

fn user(writer: &mut Writer<'_, '_>) -> Members {
    let role = writer.one_of(&["user", "user", "user", "custom", "hookMessage"]);
    vec![
        ("role", format!("\"{role}\"")),
        ("content", content(writer, shown)),
    ]
}

fn reply(writer: &mut Writer<'_, '_>) -> Members {
    let apis = [
        "anthropic-messages",
        "openai-responses",
        "openai-completions",
        "google-generative-ai",
    ];
    let api = writer.one_of(&apis);
    let models = ["model-test", "gemini-3-pro", "gpt-5"];
    let model = writer.one_of(&models);
    let usage = [("input", writer.number()), ("output", "6".to_owned())];
    vec![
        ("role", "\"assistant\"".to_owned()),
        ("api", writer.value(format!("\"{api}\""))),
        ("model", writer.value(format!("\"{model}\""))),
        ("content", content(writer, said)),
        (
            "stopReason",
            writer.one_of(&["\"stop\"", "\"aborted\""]).to_owned(),
        ),
        ("usage", writer.object(&usage)),
    ]
}

fn result(writer: &mut Writer<'_, '_>) -> Members {
    let name = writer.one_of(&["weigh", "weigh", "weigh", "read"]);
    vec![
        ("role", "\"toolResult\"".to_owned()),
        ("toolCallId", writer.call()),
        ("toolName", writer.value(format!("\"{name}\""))),
        ("content", content(writer, shown)),
        ("isError", writer.value("true")),
    ]
}

fn other(writer: &mut Writer<'_, '_>) -> Members {
    let roles = ["bashExecution", "branchSummary", "compactionSummary", "x"];
    let role = writer.one_of(&roles);
    vec![
        ("role", format!("\"{role}\"")),
        ("summary", writer.text()),
        ("command", writer.text()),
        ("output", writer.text()),
        ("exitCode", writer.number()),
        ("excludeFromContext", writer.value("false")),
    ]
}

fn content(writer: &mut Writer<'_, '_>, block: fn(&mut Writer<'_, '_>) -> String) -> String {
    if writer.one_in(8) {
        return writer.text();
    }
    writer.list(block)
}

fn shown(writer: &mut Writer<'_, '_>) -> String {
    if writer.one_in(5) {
        let members = [
            ("type", "\"image\"".to_owned()),
            ("data", writer.value("\"iVBORw0KGgo=\"")),
            ("mimeType", writer.value("\"image/png\"")),
        ];
        return writer.object(&members);
    }
    text(writer)
}

fn text(writer: &mut Writer<'_, '_>) -> String {
    let mut members = vec![("type", "\"text\"".to_owned()), ("text", writer.text())];
    if writer.one_in(4) {
        members.push(("textSignature", writer.value("\"c2ln\"")));
    }
    writer.object(&members)
}

fn said(writer: &mut Writer<'_, '_>) -> String {
    match writer.choices.below(8) {
        0..=2 => text(writer),
        3..=5 => {
            let name = writer.one_of(&["weigh", "weigh", "read", ""]);
            let mut members = vec![
                ("type", "\"toolCall\"".to_owned()),
                ("id", writer.new_call()),
                ("name", writer.value(format!("\"{name}\""))),
                ("arguments", writer.value("{}")),
            ];
            if writer.one_in(3) {
                members.push(("thoughtSignature", writer.value("\"c2ln\"")));
            }
            writer.object(&members)
        }
        6 => {
            let signatures = [
                "\"c2ln\"",
                r#""{\"type\":\"reasoning\",\"summary\":[],\"encrypted_content\":\"g\"}""#,
                r#""{\"type\":\"reasoning\",\"id\":\"rs_1\",\"summary\":[]}""#,
            ];
            let signature = writer.one_of(&signatures);
            let members = [
                ("type", "\"thinking\"".to_owned()),
                ("thinking", writer.text()),
                ("thinkingSignature", writer.value(signature)),
                ("redacted", writer.value("false")),
            ];
            writer.object(&members)
        }
        _ => shown(writer),
    }
}
