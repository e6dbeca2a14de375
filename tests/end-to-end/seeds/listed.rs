//! docs/prior-systems.md lists every feature, rule and vector of the four prior systems. Each has a
//! test that names it, or a reason why baler does something else.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

const FOLDERS: [&str; 3] = ["host", "guest-strategies", "tests"];

fn root() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR"))
}

/// Rows of the tables: an id, what it says, how baler does it.
fn rows() -> Vec<(String, String)> {
    let document = std::fs::read_to_string(root().join("docs/prior-systems.md")).expect("is there");
    let mut rows = Vec::new();
    for line in document.lines() {
        let cells: Vec<&str> = line.trim_matches('|').split(" | ").map(str::trim).collect();
        if let [id, _, how] = cells.as_slice()
            && is_id(id)
        {
            rows.push((
                (*id).to_owned(),
                (*how).trim_end_matches('|').trim().to_owned(),
            ));
        }
    }
    rows
}

fn is_id(word: &str) -> bool {
    let systems = ["PL-", "PU-", "PT-", "AP-", "ALL-", "PAIN-"];
    let vectors = [
        "P", "PE", "PM", "PC", "PV", "SW", "SU", "C", "R", "S", "H", "N", "L", "V", "SG", "F",
        "NZ", "TV", "T", "A", "AH",
    ];
    let head = word.trim_end_matches(|c: char| c.is_ascii_lowercase());
    let name = head.trim_end_matches(|c: char| c.is_ascii_digit());
    if name.len() == head.len() {
        return false;
    }
    vectors.contains(&name)
        || systems.iter().any(|system| {
            let rest = name.strip_prefix(system);
            rest.is_some_and(|rest| ["", "S", "I", "N", "T"].contains(&rest))
        })
}

fn sources(folder: &Path, found: &mut Vec<PathBuf>) {
    for entry in std::fs::read_dir(folder).expect("a folder").flatten() {
        let path = entry.path();
        let name = entry.file_name();
        if path.is_dir() && name != "target" && name != "fuzz" {
            sources(&path, found);
        } else if path.extension().is_some_and(|ending| ending == "rs") {
            found.push(path);
        }
    }
}

/// The ids that comments directly above tests name, with the names of the tests.
fn named() -> BTreeMap<String, Vec<String>> {
    let mut files = Vec::new();
    for folder in FOLDERS {
        sources(&root().join(folder), &mut files);
    }
    let mut named: BTreeMap<String, Vec<String>> = BTreeMap::new();
    for file in files {
        let text = std::fs::read_to_string(&file).expect("a source");
        let mut comment: Vec<&str> = Vec::new();
        let mut is_test = false;
        for line in text.lines().map(str::trim) {
            if line.starts_with("//") {
                comment.push(line);
            } else if line.starts_with("#[") {
                is_test |= line.starts_with("#[test") || line.starts_with("#[tokio::test");
            } else {
                let name = line.trim_start_matches("async ").strip_prefix("fn ");
                if let Some(name) = name.filter(|_| is_test) {
                    let name = name.split('(').next().unwrap_or_default();
                    let words = comment.iter().flat_map(|line| {
                        line.split(|c: char| !c.is_ascii_alphanumeric() && c != '-')
                    });
                    for id in words.filter(|word| is_id(word)) {
                        named
                            .entry(id.to_owned())
                            .or_default()
                            .push(name.to_owned());
                    }
                }
                comment.clear();
                is_test = false;
            }
        }
    }
    named
}

#[test]
fn every_id_has_a_test_that_names_it_or_a_reason() {
    let (rows, named) = (rows(), named());
    let ids: BTreeSet<&str> = rows.iter().map(|(id, _)| id.as_str()).collect();
    assert_eq!(ids.len(), rows.len(), "an id stands there twice");
    assert!(rows.len() > 500, "only {} rows", rows.len());
    let mut without = Vec::new();
    let mut needless = Vec::new();
    for (id, how) in &rows {
        let has_reason = ["improved on: ", "no match: "]
            .iter()
            .any(|start| how.starts_with(start) && how.len() > start.len() + 20);
        if let Some((_, tests)) = how.split_once("test: ") {
            let known = named.get(id).map_or(&[][..], Vec::as_slice);
            for test in tests.split('`').filter(|word| word.contains('_')) {
                assert!(
                    known.iter().any(|known| known == test),
                    "{id}: no test `{test}` names it"
                );
            }
        }
        match (named.contains_key(id), has_reason) {
            (false, false) => without.push(id),
            (true, true) => needless.push(id),
            _ => {}
        }
    }
    assert!(without.is_empty(), "neither test nor reason: {without:?}");
    assert!(
        needless.is_empty(),
        "a reason where there is a test: {needless:?}"
    );
}
