//! `baler mcp` over the logs of programs, and in their configurations.

use std::fs;
use std::os::unix::fs::PermissionsExt as _;
use std::path::Path;

use serde_json::{Value, json};

use crate::proxied::answers;
use crate::support::Bench;

/// Writes a file of the bench's home, with the folders around it.
fn write(bench: &Bench, name: &str, lines: &[Value]) {
    let path = bench.path(name);
    fs::create_dir_all(path.parent().expect("a folder")).expect("folders");
    let lines: Vec<String> = lines.iter().map(Value::to_string).collect();
    fs::write(path, lines.join("\n") + "\n").expect("a file");
}

/// What the tool answers to a call with these arguments.
fn ask(bench: &Bench, program: &str, arguments: &Value) -> String {
    let begin = json!({"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": {"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": {"name": "test", "version": "1"}}});
    let call = json!({"jsonrpc": "2.0", "id": 2, "method": "tools/call", "params": {"name": "retrieve", "arguments": arguments}});
    let initialized = json!({"jsonrpc": "2.0", "method": "notifications/initialized"});
    let lines = [begin, initialized, call].map(|line| line.to_string());
    let answers = answers(bench, &["--program", program], &lines);
    let text = answers[1]["result"]["content"][0]["text"].as_str();
    text.expect("a text").to_owned()
}

fn folder(bench: &Bench) -> String {
    let folder = bench.folder.path().canonicalize().expect("a folder");
    folder.to_str().expect("UTF-8").to_owned()
}

/// The tool finds what the log says of herons before its compaction, and not what it says of otters behind it.
fn finds_only_what_was_compacted_away(bench: &Bench, program: &str) {
    let found = ask(bench, program, &json!({"query": "herons"}));
    let reference = found.split_whitespace().find(|word| word.len() == 20);
    let reference = reference.expect(&found);
    let text = ask(bench, program, &json!({"reference": reference}));
    assert!(text.contains("31415 herons in the marsh"), "{text}");
    let seen = ask(bench, program, &json!({"query": "otters"}));
    assert!(seen.starts_with("Nothing"), "{seen}");
}

#[test]
fn what_claude_code_compacted_away_is_found_in_its_log() {
    let bench = Bench::new();
    let said = |id: u32, role: &str, text: &str| json!({"type": role, "uuid": id.to_string(), "parentUuid": (id - 1).to_string(), "sessionId": "s", "message": {"id": format!("m{id}"), "role": role, "content": [{"type": "text", "text": text}]}});
    let mut summary = said(4, "user", "Birds were counted.");
    summary["isCompactSummary"] = json!(true);
    let lines = [
        said(1, "user", "Count the birds."),
        said(2, "assistant", "I see 31415 herons in the marsh."),
        json!({"type": "system", "subtype": "compact_boundary", "uuid": "3", "parentUuid": null, "sessionId": "s"}),
        summary,
        said(5, "user", "Now the otters."),
    ];
    let letters = |letter: char| {
        if letter.is_ascii_alphanumeric() {
            letter
        } else {
            '-'
        }
    };
    let name: String = folder(&bench).chars().map(letters).collect();
    let nothing = ask(&bench, "claude", &json!({"query": "herons"}));
    assert_eq!(nothing, "Nothing was removed so far.");
    write(&bench, &format!(".claude/projects/{name}/s.jsonl"), &lines);
    finds_only_what_was_compacted_away(&bench, "claude");
}

#[test]
fn what_codex_compacted_away_is_found_in_its_log_of_this_folder() {
    let bench = Bench::new();
    let session = |folder: &str| json!({"timestamp": "t", "type": "session_meta", "payload": {"id": "s", "cwd": folder}});
    let said = |role: &str, kind: &str, text: &str| json!({"timestamp": "t", "type": "response_item", "payload": {"type": "message", "role": role, "content": [{"type": kind, "text": text}]}});
    let mut lines = vec![
        session(&folder(&bench)),
        said("user", "input_text", "Count the birds."),
        said(
            "assistant",
            "output_text",
            "I see 31415 herons in the marsh.",
        ),
        json!({"timestamp": "t", "type": "compacted", "payload": {"message": "Birds were counted."}}),
        said("user", "input_text", "Now the otters."),
    ];
    write(&bench, ".codex/sessions/2026/11/29/rollout-1.jsonl", &lines);
    // A newer session of another folder.
    lines.truncate(1);
    lines[0] = session("/elsewhere");
    write(&bench, ".codex/sessions/2026/11/30/rollout-2.jsonl", &lines);
    finds_only_what_was_compacted_away(&bench, "codex");
}

#[test]
fn what_gemini_cli_compacted_away_is_found_in_its_log_of_this_folder() {
    let bench = Bench::new();
    let said = |id: &str, kind: &str, text: &str| json!({"id": id, "timestamp": "t", "type": kind, "content": [{"text": text}]});
    let lines = [
        json!({"sessionId": "s", "projectHash": "p", "startTime": "t", "lastUpdated": "t", "kind": "main"}),
        said("1", "user", "Count the birds."),
        said("2", "gemini", "I see 31415 herons in the marsh."),
        json!({"$set": {"messages": [said("3", "user", "Birds were counted.")]}}),
        said("4", "user", "Now the otters."),
    ];
    write(&bench, ".gemini/tmp/work/chats/session-1.jsonl", &lines);
    fs::write(bench.path(".gemini/tmp/work/.project_root"), folder(&bench)).expect("a file");
    finds_only_what_was_compacted_away(&bench, "gemini");
}

#[test]
fn logs_of_opencode_are_refused() {
    let ran = Bench::new().run(&["mcp", "--program", "opencode"]);
    ran.ends(2)
        .says(&["database", "expected claude, codex or gemini"]);
}

/// The configuration of each program, with what is in it before.
const CONFIGURATIONS: [(&str, &str, &str); 4] = [
    (
        "claude",
        ".claude.json",
        "{\n  \"n\": 1e2,\n  \"mcpServers\": {}\n}\n",
    ),
    ("codex", ".codex/config.toml", "model = 'x' # mine\n"),
    (
        "gemini",
        ".gemini/settings.json",
        "{\"mcpServers\": {\"x\": {}}, \"b\": 2}",
    ),
    (
        "opencode",
        ".config/opencode/opencode.json",
        "{\n\t\"mcp\": {}\n}\n",
    ),
];

fn read(path: &Path) -> String {
    fs::read_to_string(path).expect("a file")
}

#[test]
fn install_adds_the_server_to_a_configuration_and_uninstall_removes_it() {
    for (program, file, before) in CONFIGURATIONS {
        let bench = Bench::new();
        let path = bench.path(file);
        fs::create_dir_all(path.parent().expect("a folder")).expect("folders");
        fs::write(&path, before).expect("a file");
        fs::set_permissions(&path, fs::Permissions::from_mode(0o600)).expect("set");

        let dry = bench.run(&["mcp", "install", program, "--dry-run"]).ends(0);
        assert_eq!(read(&path), before);
        let ran = bench.run(&["mcp", "install", program]).ends(0);
        assert_eq!(ran.stdout, dry.stdout);
        assert!(
            ran.stdout.starts_with(&*path.to_string_lossy()),
            "{}",
            ran.stdout
        );
        assert!(
            ran.stdout.contains("\n+ ") && !ran.stdout.contains("\n- "),
            "{}",
            ran.stdout
        );
        let with = read(&path);
        assert!(
            with.contains(env!("CARGO_BIN_EXE_baler")) && with.contains("mcp"),
            "{with}"
        );
        let mode = fs::metadata(&path).expect("a file").permissions().mode();
        assert_eq!(mode & 0o777, 0o600);

        let again = bench.run(&["mcp", "install", program]).ends(0);
        assert!(
            again.stdout.contains("has the server already"),
            "{}",
            again.stdout
        );
        assert_eq!(read(&path), with);

        let ran = bench.run(&["mcp", "uninstall", program]).ends(0);
        assert!(ran.stdout.contains("\n- "), "{}", ran.stdout);
        assert_eq!(read(&path), before);
        let again = bench.run(&["mcp", "uninstall", program]).ends(0);
        assert!(again.stdout.contains("has no server"), "{}", again.stdout);
    }
}

#[test]
fn a_server_of_another_program_keeps_its_name_and_its_place() {
    let own =
        r#"{"mcpServers": {"baler": {"command": "/opt/hay/press", "env": {"PRESS_KEY": "k"}}}}"#;
    let of_codex = "[mcp_servers.baler]\ncommand = \"/opt/hay/press\"\n";
    for (program, file, before) in [
        ("claude", ".claude.json", own),
        ("codex", ".codex/config.toml", of_codex),
    ] {
        let bench = Bench::new();
        let path = bench.path(file);
        fs::create_dir_all(path.parent().expect("a folder")).expect("folders");
        fs::write(&path, before).expect("a file");
        for what in ["install", "uninstall"] {
            let ran = bench.run(&["mcp", what, program]).ends(2);
            assert!(ran.stderr.contains("/opt/hay/press"), "{}", ran.stderr);
            assert_eq!(read(&path), before);
        }
    }
}

#[test]
fn install_makes_a_configuration_where_there_is_none() {
    let bench = Bench::new();
    for (program, file, _) in CONFIGURATIONS {
        bench.run(&["mcp", "uninstall", program]).ends(0);
        assert!(!bench.path(file).exists());
        bench.run(&["mcp", "install", program]).ends(0);
        assert!(read(&bench.path(file)).contains("baler"));
    }
}

#[test]
fn install_does_not_touch_a_configuration_with_comments_in_json() {
    let bench = Bench::new();
    let text = "{ // mine\n}\n";
    fs::create_dir(bench.path(".gemini")).expect("a folder");
    let file = bench.file(".gemini/settings.json", text);
    bench.run(&["mcp", "install", "gemini"]).ends(2).says(&[
        "is not changed",
        "add this to it yourself",
        "\"mcpServers\"",
    ]);
    assert_eq!(read(Path::new(&file)), text);
}
