//! `baler new`.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

use crate::support::Bench;

/// The languages, and the files of their projects beside `.gitignore` and `README.md`.
const LANGUAGES: [(&str, &[&str]); 6] = [
    ("rust", &["Cargo.toml", "src/lib.rs"]),
    (
        "typescript",
        &[
            "baler-strategy.ts",
            "package-lock.json",
            "package.json",
            "strategy.test.mjs",
            "strategy.ts",
            "tsconfig.json",
            "wit/worlds.wit",
        ],
    ),
    (
        "javascript",
        &[
            "package-lock.json",
            "package.json",
            "strategy.js",
            "strategy.test.mjs",
            "wit/worlds.wit",
        ],
    ),
    (
        "python",
        &[
            "baler_strategy.py",
            "requirements.txt",
            "strategy.py",
            "test_strategy.py",
            "wit/worlds.wit",
        ],
    ),
    (
        "c",
        &[
            "libc/libc.c",
            "libc/stdlib.h",
            "libc/string.h",
            "strategy.c",
            "strategy_test.c",
            "wit/worlds.wit",
        ],
    ),
    ("go", &["strategy.go", "strategy_test.go", "wit/worlds.wit"]),
];

/// All files of a folder, by their paths in it.
fn files(folder: &Path, within: &str, found: &mut BTreeMap<String, String>) {
    for entry in fs::read_dir(folder).expect("a folder") {
        let entry = entry.expect("an entry");
        let path = format!("{within}{}", entry.file_name().to_string_lossy());
        if entry.path().is_dir() {
            files(&entry.path(), &format!("{path}/"), found);
        } else {
            let text = fs::read_to_string(entry.path()).expect("text");
            found.insert(path, text);
        }
    }
}

#[test]
fn new_makes_a_project_with_the_name_everywhere() {
    for (language, own) in LANGUAGES {
        let bench = Bench::new();
        let ran = bench
            .run(&["new", "drop-images", "--lang", language])
            .ends(0);
        assert!(
            ran.stdout
                .ends_with("next: cd drop-images && baler build\n"),
            "{}",
            ran.stdout
        );
        assert_eq!(bench.entries(), ["drop-images"]);
        let mut found = BTreeMap::new();
        files(&bench.path("drop-images"), "", &mut found);
        for path in [own, &[".gitignore", "README.md"]].concat() {
            assert!(found.contains_key(path), "{language}: no {path}");
        }
        for (path, text) in &found {
            for old in ["keep-newest", "keep_newest", "KeepNewest"] {
                assert!(!text.contains(old), "{language}: {old} in {path}");
            }
        }
        let readme = &found["README.md"];
        for command in ["baler build", "baler test drop-images.wasm", "baler push "] {
            assert!(readme.contains(&format!("\n{command}")), "{readme}");
        }
        // Where the strategy says what it is called.
        let source = own.iter().find(|path| {
            let stem = Path::new(path).file_stem().unwrap_or_default();
            stem == "strategy" || stem == "lib"
        });
        assert!(
            found[*source.expect("a source")].contains("drop-images"),
            "{language}"
        );
    }
}

#[test]
fn new_refuses_what_is_no_name_of_a_strategy_and_writes_nothing() {
    let bench = Bench::new();
    let long = "a".repeat(49);
    for (name, reason) in [
        ("", "is not a name"),
        ("Drop-Images", "words of small letters and digits"),
        ("drop_images", "such as `drop-images`"),
        ("drop--images", "is not a name"),
        ("drop-", "is not a name"),
        ("3-newest", "begin with a letter"),
        ("../drop", "is not a name"),
        ("strategies/drop", "is not a name"),
        (&long, "48 characters at most"),
        ("tiered", "baler's own strategies"),
        ("sliding-window", "baler's own strategies"),
        ("native-digest", "begin with `native`"),
    ] {
        let ran = bench.run(&["new", name, "--lang", "c"]).ends(2);
        assert!(ran.stderr.contains(reason), "{name}: {}", ran.stderr);
    }
    bench
        .run(&["new", "drop-images", "--lang", "cobol"])
        .ends(2)
        .says(&["cobol", "rust, typescript, javascript, python, c, go"]);
    assert!(bench.entries().is_empty());
}

#[test]
fn new_replaces_an_empty_folder_and_nothing_else() {
    let bench = Bench::new();
    let taken = "is there already, and is not an empty folder";
    let again = ["new", "drop-images", "--lang", "go"];
    bench.file("drop-images", "yours");
    bench.run(&again).ends(2).says(&[taken]);
    fs::remove_file(bench.path("drop-images")).expect("it is there");
    fs::create_dir(bench.path("drop-images")).expect("a folder");
    bench.run(&again).ends(0);
    let source = bench.path("drop-images/strategy.go");
    fs::write(&source, "package mine").expect("it is written");
    bench.run(&again).ends(2).says(&[taken]);
    let kept = fs::read_to_string(&source).expect("it is there");
    assert_eq!(kept, "package mine");
    assert_eq!(bench.entries(), ["drop-images"]);
}

#[test]
fn new_names_the_sdk_of_a_checkout_as_cargo_reads_it() {
    let bench = Bench::new();
    fs::create_dir_all(bench.path("che\"ckout/sdk")).expect("a folder");
    let manifest = "[package]\nname = \"baler-strategy\"\n";
    bench.file("che\"ckout/sdk/Cargo.toml", manifest);
    let dependency = |name: &str| {
        let manifest =
            fs::read_to_string(bench.path(name).join("Cargo.toml")).expect("it is there");
        let line = manifest
            .lines()
            .find(|line| line.starts_with("baler-strategy"));
        line.expect("a dependency").to_owned()
    };
    let new = |name: &str, more: &[&str]| {
        bench.run(&[&["new", name, "--lang", "rust"][..], more].concat())
    };
    new("released", &[]).ends(0);
    assert_eq!(dependency("released"), "baler-strategy = \"0.1\"");
    new("beside", &["--sdk", "che\"ckout/sdk"]).ends(0);
    assert_eq!(
        dependency("beside"),
        r#"baler-strategy = { path = "../che\"ckout/sdk" }"#
    );
    new("wrong", &["--sdk", "che\"ckout"])
        .ends(2)
        .says(&["does not hold the crate `baler-strategy`"]);
    bench
        .run(&["new", "other", "--lang", "go", "--sdk", "che\"ckout/sdk"])
        .ends(2)
        .says(&["`--sdk` is for `--lang rust`"]);
    assert!(!bench.path("wrong").exists() && !bench.path("other").exists());
}
