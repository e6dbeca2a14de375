//! An option exists in every language or in none: the table of the layer is what documentation and TypeScript's types are
//! made of, and what Python's types are held against.
//!
//! `BALER_BLESS=1 cargo test -p baler-embedding --test options` writes the files.

#![expect(clippy::expect_used, reason = "a test")]

use std::collections::BTreeSet;
use std::fmt::Write as _;
use std::fs;
use std::path::PathBuf;

use baler_embedding::options::{Group, Row, TABLE, Type};

const GROUPS: [(Group, &str, &str); 6] = [
    (Group::Host, "HostOptions", "a host"),
    (Group::Read, "ReadOptions", "how a conversation is read"),
    (Group::Compact, "CompactOptions", "a compaction"),
    (Group::Strategy, "StrategyOptions", "a strategy"),
    (Group::Compactor, "CompactorOptions", "a compactor"),
    (Group::Window, "WindowOptions", "a window over histories"),
];

fn rows(group: Group) -> impl Iterator<Item = &'static Row> {
    TABLE.iter().filter(move |row| row.group == group)
}

fn root() -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../..")
}

/// Compares a file with what it should be, or writes it.
fn same(file: &str, expected: &str) {
    let path = root().join(file);
    if std::env::var_os("BALER_BLESS").is_some() {
        fs::write(&path, expected).expect("is written");
    }
    let found = fs::read_to_string(&path).unwrap_or_default();
    assert!(
        found == expected,
        "{file} is out of date; BALER_BLESS=1 cargo test -p baler-embedding --test options writes it"
    );
}

fn camel(name: &str) -> String {
    let mut words = name.split('_');
    let first = words.next().unwrap_or_default().to_owned();
    words.fold(first, |mut all, word| {
        let (head, tail) = word.split_at(1);
        all.push_str(&head.to_uppercase());
        all.push_str(tail);
        all
    })
}

fn in_typescript(takes: Type) -> String {
    match takes {
        Type::Text => "string".to_owned(),
        Type::Path => "string | URL".to_owned(),
        Type::Flag => "boolean".to_owned(),
        Type::Count | Type::Seconds | Type::Number => "number".to_owned(),
        Type::Budget => "number | string".to_owned(),
        Type::Pins => "'first-user' | 'none' | readonly number[]".to_owned(),
        Type::OneOf(names) => {
            let quoted: Vec<String> = names.iter().map(|name| format!("'{name}'")).collect();
            quoted.join(" | ")
        }
        Type::Object => "Json".to_owned(),
        Type::Texts => "Record<string, string>".to_owned(),
        Type::Numbers => "Record<string, number | null>".to_owned(),
        Type::Any => "unknown".to_owned(),
        Type::Strategy => "AnyStrategy | readonly AnyStrategy[]".to_owned(),
        Type::Host => "Host".to_owned(),
        Type::Model => "string | ModelFunction".to_owned(),
        Type::Callback => "(compaction: Compaction) => void".to_owned(),
        Type::Format => "Format".to_owned(),
    }
}

/// Names of options in a text, as TypeScript has them.
fn about(row: &Row) -> String {
    let mut text = row.about.to_owned();
    for other in TABLE {
        let quoted = format!("`{}`", other.name);
        text = text.replace(&quoted, &format!("`{}`", camel(other.name)));
    }
    text
}

fn typescript() -> String {
    let mut text = String::from(
        "/** Options of all calls. Written by a test of `host/embedding` from its table; edit that. */\n\n\
         import type { Compaction } from './compaction.js'\n\
         import type { Format, Host, ModelFunction } from './host.js'\n\
         import type { AnyStrategy } from './strategy.js'\n\n\
         /** A JSON object. */\nexport type Json = { readonly [name: string]: unknown }\n",
    );
    for (group, name, what) in GROUPS {
        let base = match group {
            Group::Compact => " extends ReadOptions",
            _ => "",
        };
        let _ = write!(
            text,
            "\n/** Options of {what}. */\nexport interface {name}{base} {{\n"
        );
        for row in rows(group) {
            let _ = writeln!(text, "  /** {} */", about(row));
            let null = match row.takes {
                Type::Any => "",
                _ => " | null",
            };
            let _ = writeln!(
                text,
                "  {}?: {}{null}",
                camel(row.name),
                in_typescript(row.takes)
            );
        }
        text.push_str("}\n");
    }
    text.push_str("\n/** Names of options by what takes them. */\nexport const NAMES = {\n");
    for (group, name, _) in GROUPS {
        let names: Vec<String> = rows(group)
            .map(|row| format!("    '{}',\n", camel(row.name)))
            .collect();
        let _ = writeln!(text, "  {name}: [\n{}  ],", names.concat());
    }
    text.push_str("} as const\n");
    text
}

fn markdown() -> String {
    let mut text = String::from(
        "# Options in every language\n\n\
         The names are those of Python; TypeScript writes them in camel case (`context_window` is `contextWindow`). An option exists\n\
         in every language or in none. A test writes this page from the table in `host/embedding/src/options/table.rs`, which\n\
         TypeScript's types are made of too, and holds Python's types against it.\n",
    );
    for (group, name, what) in GROUPS {
        let _ = write!(
            text,
            "\n## `{name}`: {what}\n\n| option | takes | meaning |\n|---|---|---|\n"
        );
        for row in rows(group) {
            let takes = in_words(row.takes);
            let _ = writeln!(text, "| `{}` | {takes} | {} |", row.name, row.about);
        }
    }
    text
}

fn in_words(takes: Type) -> &'static str {
    match takes {
        Type::Text => "text",
        Type::Path => "path",
        Type::Flag => "true or false",
        Type::Count => "whole number above 0",
        Type::Seconds => "seconds",
        Type::Number => "number",
        Type::Budget => "tokens or a share",
        Type::Pins | Type::OneOf(_) => "see there",
        Type::Object => "object",
        Type::Texts => "texts by name",
        Type::Numbers => "numbers by name",
        Type::Any => "any JSON",
        Type::Strategy => "strategy, or a list",
        Type::Host => "host",
        Type::Model => "name or function",
        Type::Callback => "function",
        Type::Format => "wire format",
    }
}

#[test]
fn types_of_typescript_are_made_of_the_table() {
    same("bindings/node/src/options.ts", &typescript());
}

#[test]
fn documentation_is_made_of_the_table() {
    same("docs/options.md", &markdown());
}

/// The annotated names between two lines of a Python file.
fn python_names(file: &str, from: &str, until: &str) -> BTreeSet<String> {
    let text = fs::read_to_string(root().join("bindings/python/python/baler").join(file));
    let text = text.expect("is read");
    let (_, rest) = text.split_once(from).expect("its beginning");
    let (body, _) = rest.split_once(until).expect("its end");
    let name = |line: &str| {
        let (name, _) = line.trim().split_once(": ")?;
        let is_name = name.chars().all(|c| c.is_ascii_lowercase() || c == '_');
        (is_name && !name.is_empty()).then(|| name.to_owned())
    };
    body.lines().filter_map(name).collect()
}

#[test]
fn types_of_python_have_the_options_of_the_table() {
    let of_table = |group| {
        rows(group)
            .map(|row| row.name.to_owned())
            .collect::<BTreeSet<String>>()
    };
    let mut host = of_table(Group::Host);
    // The interpreter that compiles strategies, which other languages need not be told.
    host.insert("python".to_owned());
    let cases = [
        (
            host,
            "_host.py",
            "        *,\n        state",
            "    ) -> None:",
        ),
        (
            of_table(Group::Read),
            "_options.py",
            "class ReadOptions(TypedDict, total=False):",
            "\nclass ",
        ),
        (
            of_table(Group::Compact),
            "_options.py",
            "class CompactOptions(ReadOptions, total=False):",
            "\nOF_READING",
        ),
        (
            of_table(Group::Compactor),
            "_compactor.py",
            "class CompactorOptions(TypedDict, total=False):",
            "@dataclass",
        ),
        (
            of_table(Group::Window),
            "_view.py",
            "class WindowOptions(TypedDict, total=False):",
            "\nclass ",
        ),
        (
            of_table(Group::Strategy),
            "_strategy.py",
            "name: str | None = None,\n        config",
            ") -> Strategy:",
        ),
    ];
    for (expected, file, from, until) in cases {
        let mut found = python_names(file, from, until);
        // The name that the search began with.
        if from.ends_with("state") {
            found.insert("state".to_owned());
        }
        if from.ends_with("config") {
            found.insert("config".to_owned());
        }
        assert_eq!(found, expected, "{file}, after {from:?}");
    }
}
