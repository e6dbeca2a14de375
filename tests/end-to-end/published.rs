use std::path::Path;
use std::process::Command;

use baler_host::{Receipt, conversation::rules::Rule};

use crate::support::{broken_chat, chat, half, host};

const WIRE_FORMATS: &str = include_str!("../../docs/wire-formats.md");

const SCHEMA: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/docs/receipt.schema.json");

/// `BLESS=1 cargo test --test end-to-end published` writes it anew.
#[test]
fn the_published_schema_of_receipts_is_that_of_the_code() {
    let schema = Receipt::schema() + "\n";
    if std::env::var_os("BLESS").is_some() {
        std::fs::write(SCHEMA, &schema).expect("writes");
    }
    let published = std::fs::read_to_string(SCHEMA).expect("it is published");
    assert_eq!(published, schema);
}

/// The cells of each row of the table of evidence.
fn evidence() -> Vec<Vec<&'static str>> {
    let (_, section) = WIRE_FORMATS
        .split_once("\n## Evidence\n")
        .expect("a section");
    let (section, _) = section.split_once("\n## ").expect("another one behind it");
    let rows = section.lines().filter(|line| line.starts_with("| "));
    let rows = rows.map(|row| {
        let cells = row.trim_matches('|').split(" | ");
        cells.map(str::trim).collect()
    });
    // Without the names of the columns.
    rows.skip(1).collect()
}

#[test]
fn every_rule_has_its_evidence_in_the_documentation() {
    let rows = evidence();
    for rule in Rule::ALL {
        assert!(rows.iter().any(|row| row[0] == rule.id()), "{rule}");
    }
    for row in rows {
        let [id, part, known, severity] = row[..] else {
            panic!("a row without four cells: {row:?}");
        };
        assert!(Rule::ALL.iter().any(|rule| rule.id() == id), "{row:?}");
        assert!(!part.is_empty() && !known.is_empty(), "{row:?}");
        let words = ["error", "warning", "size", "no rule"];
        assert!(
            words.iter().any(|word| severity.starts_with(word)),
            "{row:?}"
        );
        // What nobody is known to refuse is no error, and what nothing is known of is a warning.
        let is_known = known != "nothing";
        assert!(is_known || severity == "warning", "{row:?}");
    }
}

#[tokio::test]
async fn receipts_obey_their_published_schema() {
    let host = host();
    let guest = host
        .load("panic", baler_hostile_guests::PANIC_IN_START.wasm)
        .await
        .expect("loads");
    let schema = serde_json::from_str(&Receipt::schema()).expect("JSON");
    let validator = jsonschema::validator_for(&schema).expect("a schema");
    for document in [chat(), broken_chat().0] {
        let conversation = host.read(document).expect("reads").repaired();
        let compaction = host
            .compact(&conversation, std::slice::from_ref(&guest), &half())
            .await
            .expect("no archive that could fail");
        let receipt = serde_json::to_value(compaction.receipt()).expect("JSON");
        let problems: Vec<String> = validator
            .iter_errors(&receipt)
            .map(|error| format!("{}: {error}", error.instance_path()))
            .collect();
        assert_eq!(problems, Vec::<String>::new());
    }
}

#[test]
fn the_example_program_compacts() {
    // Built with all tests, but not with this one alone.
    let built = Path::new(env!("CARGO_BIN_EXE_baler")).with_file_name("examples/embed");
    let mut command = if built.exists() {
        Command::new(built)
    } else {
        let mut cargo = nested_cargo(Path::new(env!("CARGO_MANIFEST_DIR")));
        cargo.args(["run", "--locked", "--quiet", "--example", "embed"]);
        cargo
    };
    let output = command.output().expect("it starts");
    let said = String::from_utf8_lossy(&output.stdout);
    assert!(
        output.status.success() && said.contains("tokens by mask-tool-outputs"),
        "{said}{}",
        String::from_utf8_lossy(&output.stderr)
    );
}

/// A Cargo with none of what this test's own Cargo set.
fn nested_cargo(folder: &Path) -> Command {
    let mut command = Command::new(env!("CARGO"));
    for (name, _) in std::env::vars_os() {
        let name = name.to_string_lossy().into_owned();
        let is_mine = name.starts_with("CARGO_")
            && !["CARGO_HOME", "CARGO_TARGET_DIR"].contains(&name.as_str());
        if is_mine || name.starts_with("RUSTC") {
            command.env_remove(name);
        }
    }
    command.current_dir(folder);
    command
}
