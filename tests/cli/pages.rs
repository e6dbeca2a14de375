//! Commands of the README print what it says.

use std::fs;
use std::path::Path;

use super::support::Bench;

/// A block of a page: what its fence names, and its lines.
fn blocks(page: &str) -> Vec<(&str, Vec<&str>)> {
    let mut blocks = Vec::new();
    let mut lines = page.lines();
    while let Some(line) = lines.next() {
        if let Some(kind) = line.strip_prefix("```") {
            blocks.push((
                kind,
                lines.by_ref().take_while(|line| *line != "```").collect(),
            ));
        }
    }
    blocks
}

/// A line without its numbers. The tokens of texts that baler wrote depend on its secret key.
fn without_numbers(line: &str) -> String {
    let is_of_number = |c: char| c.is_ascii_digit() || c == ',';
    let mut shown = String::new();
    for c in line.trim_end().chars() {
        match c {
            c if !is_of_number(c) => shown.push(c),
            _ if !shown.ends_with('#') => shown.push('#'),
            _ => {}
        }
    }
    shown.split_whitespace().collect::<Vec<_>>().join(" ")
}

#[test]
fn the_readmes_first_command_prints_what_the_readme_says() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let page = fs::read_to_string(root.join("README.md")).expect("it is there");
    let blocks = blocks(&page);
    let (command, shown) = match blocks.as_slice() {
        [("sh", command), ("text", shown), ..] => (command[0], shown),
        other => panic!("the README begins with a command and what it prints: {other:?}"),
    };
    let words: Vec<&str> = command.split(' ').collect();
    let arguments = words
        .strip_prefix(&["cargo", "run", "--"])
        .expect("it runs baler");
    let bench = Bench::new();
    let folder = "examples/conversations";
    fs::create_dir_all(bench.path(folder)).expect("a folder");
    for example in fs::read_dir(root.join(folder)).expect("examples") {
        let example = example.expect("an example");
        fs::copy(example.path(), bench.path(folder).join(example.file_name())).expect("copied");
    }
    let ran = bench.run(arguments).ends(0);
    let mut printed = ran.stderr.lines();
    let (ellipsis, shown) = shown.split_last().expect("lines");
    assert_eq!(ellipsis.trim(), "…");
    for line in shown {
        let own = printed.next().unwrap_or_default();
        assert_eq!(
            without_numbers(own),
            without_numbers(line),
            "{}",
            ran.stderr
        );
        // What happened to which units does not depend on the key.
        let units = |line: &str| line.chars().take(18).collect::<String>();
        assert_eq!(units(own), units(line), "{}", ran.stderr);
    }
}
