//! `baler build`. `.ci/languages` builds all languages by their real tools; here most tools are scripts.

use std::env;
use std::fs;
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};

use crate::support::{Bench, Ran};
use crate::wrap::module;

/// A new project, and a folder that is all of the `PATH`.
struct Project {
    bench: Bench,
}

impl Project {
    fn new(language: &str) -> Self {
        let bench = Bench::new();
        bench
            .run(&["new", "drop-images", "--lang", language])
            .ends(0);
        fs::create_dir(bench.path("tools")).expect("a folder");
        Self { bench }
    }

    /// Adds a tool that runs these lines of a shell.
    fn tool(&self, name: &str, lines: &str) {
        let path = self.bench.path("tools").join(name);
        fs::write(&path, format!("#!/bin/sh\n{lines}\n")).expect("it is written");
        fs::set_permissions(&path, fs::Permissions::from_mode(0o755)).expect("it is set");
    }

    /// Adds the tools for C. The compiler runs these lines to make its output.
    fn tools_for_c(&self, compile: &str) {
        self.tool("wit-bindgen", "echo wit-bindgen-cli 0.63.0");
        let says = "case \"$*\" in
            --version) echo clang version 19.1.7; exit ;;
            *-print-prog-name=wasm-ld*) echo /lib/wasm-ld; exit ;;
            esac";
        self.tool("clang-19", &format!("{says}\n{compile}"));
    }

    fn build(&self, more: &[&str]) -> Ran {
        let mut command = self.bench.command();
        command
            .env("PATH", self.bench.path("tools"))
            .arg("build")
            .args(more)
            .current_dir(self.path(""));
        Ran::of(command.output().expect("it runs"))
    }

    fn path(&self, name: &str) -> PathBuf {
        self.bench.path("drop-images").join(name)
    }
}

/// What a shell runs to write this file to where the compiler is told to.
fn copying(file: &Path) -> String {
    format!(
        "while [ \"$1\" != -o ]; do shift; done\n/bin/cat '{}' > \"$2\"",
        file.display()
    )
}

#[test]
fn build_lists_all_missing_tools_and_how_they_are_installed() {
    for (language, tools) in [
        ("rust", &["cargo 1.85 or later: not found", "rustup.rs"][..]),
        ("typescript", &["node 20.0", "nodejs.org", "npm 9.0"]),
        ("javascript", &["node 20.0", "nodejs.org", "npm 9.0"]),
        (
            "python",
            &["python3 3.10 or later: not found", "python.org"],
        ),
        (
            "c",
            &[
                "clang 19.0",
                "apt-get install clang-19 lld-19",
                "wit-bindgen 0.63",
                "cargo install",
            ],
        ),
        (
            "go",
            &["go 1.25", "go.dev/dl", "wit-bindgen 0.63", "cargo install"],
        ),
    ] {
        let project = Project::new(language);
        let cannot = ["cannot build `", "nothing was written"];
        project
            .build(&[])
            .ends(2)
            .says(&[&cannot[..], tools].concat());
        assert!(!project.path("build").exists(), "{language}");
        assert!(!project.path("drop-images.wasm").exists(), "{language}");
    }
}

#[test]
fn build_refuses_tools_that_are_too_old_or_broken() {
    for (language, tool, says, found) in [
        ("javascript", "node", "echo v18.20.4", "found 18.20"),
        ("python", "python3", "echo Python 3.9.18", "found 3.9"),
        (
            "go",
            "go",
            "echo go version go1.24.9 linux/amd64",
            "found 1.24",
        ),
        (
            "c",
            "wit-bindgen",
            "echo wit-bindgen-cli 0.60.0",
            "found 0.60",
        ),
        ("rust", "cargo", "echo cargo 1.84.0", "found 1.84"),
        ("go", "go", "echo nothing", "says no version"),
        ("go", "go", "exit 3", "does not start"),
    ] {
        let project = Project::new(language);
        project.tool(tool, says);
        project
            .build(&[])
            .ends(2)
            .says(&[&format!("{tool} "), found]);
    }
    // Tools that are there, and what they need is not.
    let project = Project::new("python");
    let fails = "[ \"$1\" = --version ] && echo Python 3.12.1";
    project.tool("python3", fails);
    project
        .build(&[])
        .ends(2)
        .says(&["the module `venv`", "apt-get install python3-venv"]);
    let project = Project::new("c");
    project.tool("wit-bindgen", "echo wit-bindgen-cli 0.63.0");
    project.tool(
        "clang",
        "[ $# = 1 ] && echo clang version 21.1.0 || echo wasm-ld",
    );
    project
        .build(&[])
        .ends(2)
        .says(&["wasm-ld, the linker of clang", "apt-get install lld-19"]);
    let project = Project::new("rust");
    project.tool("cargo", "echo cargo 1.95.0");
    project.tool("rustc", "echo /no/such/folder");
    project
        .build(&[])
        .ends(2)
        .says(&["the target wasm32-unknown-unknown", "rustup"]);
    project
        .build(&["--wasi"])
        .ends(2)
        .says(&["the target wasm32-wasip2"]);
}

#[test]
fn build_wraps_a_module_and_ends_with_file_size_and_imports() {
    let project = Project::new("c");
    let core = project.bench.path("core.wasm");
    fs::write(&core, module("", "")).expect("it is written");
    project.tools_for_c(&copying(&core));
    let ran = project.build(&[]).ends(0).says(&[
        "$ wit-bindgen c wit --world pure-strategy",
        "$ clang-19 --target=wasm32-unknown-unknown",
        "strategy.c libc/libc.c build/pure_strategy.c",
    ]);
    assert!(!ran.stderr.contains("strategy_test.c"), "{}", ran.stderr);
    let line = ran.stdout;
    assert!(line.starts_with("drop-images.wasm: ") && line.lines().count() == 1);
    let end = " KiB, imports history; next: baler test drop-images.wasm\n";
    assert!(line.ends_with(end), "{line}");
    let component = fs::read(project.path("drop-images.wasm")).expect("it is there");
    // By the name of its folder, and from elsewhere.
    let mut command = project.bench.command();
    command.env("PATH", project.bench.path("tools")).args([
        "build",
        "drop-images",
        "-o",
        "here.wasm",
        "--world",
        "model-strategy",
    ]);
    let ran = Ran::of(command.output().expect("it runs")).ends(0);
    assert!(ran.stdout.starts_with("here.wasm: "), "{}", ran.stdout);
    let ran = ran.says(&["--world model-strategy", "build/model_strategy.c"]);
    assert_eq!(ran.code, 0);
    let elsewhere = fs::read(project.bench.path("here.wasm")).expect("it is there");
    assert_eq!(component, elsewhere);
}

#[test]
fn build_says_what_a_tool_says_and_leaves_the_last_component() {
    let project = Project::new("c");
    let last = project.path("drop-images.wasm");
    fs::write(&last, "the last one").expect("it is written");
    project.tools_for_c("echo 'strategy.c:7: expected a semicolon' >&2; exit 1");
    project.build(&[]).ends(5).says(&[
        "strategy.c:7: expected a semicolon",
        "`clang-19` failed (exit status: 1)",
        "nothing was written",
    ]);
    // One that makes nothing, and ones that make something else. What an earlier run made is not taken.
    fs::create_dir_all(project.path("build")).expect("a folder");
    fs::write(project.path("build/strategy.wasm"), module("", "")).expect("it is written");
    project.tools_for_c("exit 0");
    project
        .build(&[])
        .ends(5)
        .says(&["the tools wrote no `build/strategy.wasm`"]);
    let made = project.bench.path("made.wasm");
    project.tools_for_c(&copying(&made));
    let empty_component: &[u8] = b"\0asm\x0d\0\x01\0";
    let empty_module: &[u8] = b"\0asm\x01\0\0\0";
    for (bytes, reason) in [
        (&b"hello"[..], "it does not begin with `\\0asm`"),
        (empty_component, "it is no compaction strategy"),
        (empty_module, "cannot wrap `"),
    ] {
        fs::write(&made, bytes).expect("it is written");
        project.build(&[]).ends(5).says(&[reason]);
    }
    let kept = fs::read_to_string(&last).expect("it is there");
    assert_eq!(kept, "the last one");
}

#[test]
fn build_installs_what_npm_installs_only_when_that_changed() {
    let project = Project::new("javascript");
    project.tool("node", "echo v20.1.0");
    let component = baler_strategies::by_name("trim").expect("it ships").wasm;
    let made = project.bench.path("made.wasm");
    fs::write(&made, component).expect("it is written");
    project.tool(
        "npm",
        &format!(
            "case $1 in
            --version) echo 10.8.2 ;;
            ci) /bin/mkdir -p node_modules && echo > node_modules/.package-lock.json ;;
            run) /bin/cp '{}' build/strategy.wasm ;;
            esac",
            made.display()
        ),
    );
    let ran = project.build(&[]).ends(0);
    let ran = ran.says(&["$ npm ci --no-audit --no-fund\n", "$ npm run build\n"]);
    assert!(ran.stdout.contains("imports history"), "{}", ran.stdout);
    let ran = project.build(&[]).ends(0);
    assert!(!ran.stderr.contains("npm ci"), "{}", ran.stderr);
    let later = std::time::SystemTime::now() + std::time::Duration::from_secs(9);
    let lock = fs::File::options()
        .append(true)
        .open(project.path("package-lock.json"));
    lock.and_then(|lock| lock.set_modified(later)).expect("set");
    project.build(&[]).ends(0).says(&["npm ci"]);
    let built = fs::read(project.path("drop-images.wasm")).expect("it is there");
    assert_eq!(built, component);
}

#[test]
fn build_refuses_folders_and_options_that_do_not_fit() {
    let bench = Bench::new();
    let ran = bench.run(&["build"]).ends(2);
    let ran = ran.says(&["is not the project of a strategy", "`baler new NAME`"]);
    for mark in [
        "Cargo.toml (Rust)",
        "strategy.c (C)",
        "package.json (JavaScript)",
    ] {
        assert!(ran.stderr.contains(mark), "{}", ran.stderr);
    }
    bench
        .run(&["build", "nowhere"])
        .ends(2)
        .says(&["cannot build `nowhere`: name a folder that is there"]);
    for (language, options, reason) in [
        ("c", &["--wasi"][..], "`--wasi` is for Rust and Python"),
        (
            "rust",
            &["--world", "model-strategy"],
            "`--world` is for Python, C and Go",
        ),
        (
            "typescript",
            &["--world", "pure-strategy"],
            "`package.json` name the world",
        ),
        ("c", &["-o", "strategy.c"], "ends in `.wasm`"),
        ("c", &["-o", "-"], "ends in `.wasm`"),
    ] {
        let project = Project::new(language);
        let before = fs::read_dir(project.path("")).expect("a folder").count();
        project.build(options).ends(2).says(&[reason]);
        let after = fs::read_dir(project.path("")).expect("a folder").count();
        assert_eq!(before, after, "{language} {options:?}");
    }
    // Without the contract.
    let project = Project::new("c");
    fs::remove_dir_all(project.path("wit")).expect("it is there");
    let core = project.bench.path("core.wasm");
    project.tools_for_c(&copying(&core));
    project
        .build(&[])
        .ends(2)
        .says(&["the folder `wit` with the contract"]);
}

/// A minute for the SDK on two busy cores, and a second once it is there. The crates are those that the workspace has.
#[test]
fn a_new_project_in_rust_builds_and_says_its_name() {
    let bench = Bench::new();
    let sdk = Path::new(env!("CARGO_MANIFEST_DIR")).join("guest-strategies/sdk");
    let sdk = sdk.to_str().expect("UTF-8");
    bench
        .run(&["new", "drop-images", "--lang", "rust", "--sdk", sdk])
        .ends(0);
    let home = env::home_dir().expect("a home");
    let or_at_home = |variable: &str, name: &str| {
        env::var_os(variable).unwrap_or_else(|| home.join(name).into())
    };
    let mut command = bench.command();
    command
        .args(["build", "drop-images"])
        .env("PATH", env::var_os("PATH").unwrap_or_default())
        .env("CARGO_HOME", or_at_home("CARGO_HOME", ".cargo"))
        .env("RUSTUP_HOME", or_at_home("RUSTUP_HOME", ".rustup"))
        .env("CARGO_NET_OFFLINE", "true")
        .env(
            "CARGO_TARGET_DIR",
            Path::new(env!("CARGO_TARGET_TMPDIR")).join("new-in-rust"),
        );
    // That of this build has the target for WebAssembly.
    if let Some(toolchain) = env::var_os("RUSTUP_TOOLCHAIN") {
        command.env("RUSTUP_TOOLCHAIN", toolchain);
    }
    let ran = Ran::of(command.output().expect("it runs")).ends(0);
    let end = "imports history, tokenizer, log; next: baler test drop-images/drop-images.wasm\n";
    assert!(ran.stdout.ends_with(end), "{}", ran.stdout);
    let said = bench
        .run(&["introspect", "drop-images/drop-images.wasm"])
        .ends(0);
    let name = "name      drop-images 0.1.0";
    assert!(said.stdout.contains(name), "{}", said.stdout);
}
