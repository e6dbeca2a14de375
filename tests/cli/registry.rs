//! `baler push`, `sign`, `verify`, `add`, `lock`, `update` and `pull`, by folders in the layout of a registry. What a registry may
//! do wrong is in `host/registry/tests`.

use std::collections::BTreeMap;
use std::fs;

use baler_registry::{Artifact, Interfaces, Limits, Options, Place, Transport, VERSION_ANNOTATION};

use crate::support::{Bench, Ran, example};

/// A folder with a key, another key, and a strategy that was pushed and signed with the first.
fn published() -> Bench {
    let bench = Bench::new();
    let window = baler_strategies::by_name("sliding-window").expect("it ships");
    bench.file("window.wasm", window.wasm);
    for key in ["acme.key", "other.key"] {
        bench.run(&["sign", "--new-key", key]).ends(0);
    }
    bench
        .run(&[
            "push",
            "window.wasm",
            "oci-layout:shelf",
            "--key",
            "acme.key",
        ])
        .ends(0);
    bench
}

/// Pushes a component as this version, whatever it declares, and without a signature.
fn push_as(bench: &Bench, wasm: &[u8], version: &str) {
    let said = BTreeMap::from([(VERSION_ANNOTATION.to_owned(), version.to_owned())]);
    let (interfaces, limits) = (Interfaces::default(), Limits::default());
    let artifact = Artifact::new(wasm.to_owned(), &interfaces, said, &limits).expect("it fits");
    let shelf = Place::Layout(bench.path("shelf"));
    let shelf = Transport::open(&shelf, Options::default()).expect("it opens");
    let runtime = tokio::runtime::Builder::new_current_thread().build();
    let pushed = artifact.push(&shelf, version, true);
    runtime
        .expect("a runtime")
        .block_on(pushed)
        .expect("it is pushed");
}

/// Adds the strategy as `mine`, with the right key.
fn add(bench: &Bench) -> Ran {
    bench.run(&[
        "add",
        "oci-layout:shelf",
        "--name",
        "mine",
        "--publisher",
        "acme",
        "--key",
        "acme.key.pub",
    ])
}

fn compact(bench: &Bench, state: &str) -> Ran {
    let request = example("fix-a-bug.openai.json");
    bench.run(&[
        "compact",
        &request,
        "--strategy",
        "mine",
        "--dry-run",
        "--state",
        state,
    ])
}

fn text(bench: &Bench, file: &str) -> String {
    fs::read_to_string(bench.path(file)).expect("a file")
}

#[test]
fn a_signed_strategy_is_added_locked_and_run_without_its_registry() {
    let bench = published();
    let added = add(&bench).ends(0);
    assert!(
        added
            .stdout
            .contains("signed by `acme` with the key sha256:"),
        "{}",
        added.stdout
    );
    let list = text(&bench, "baler.toml");
    assert!(
        list.contains("source = \"oci-layout:shelf\"\nversion = \"^0.1.0\"\npublisher = \"acme\""),
        "{list}"
    );
    let lock = text(&bench, "baler.lock");
    assert!(
        lock.contains("version = \"0.1.0\"") && lock.contains("baler:compaction/history@0.1.0"),
        "{lock}"
    );

    fs::rename(bench.path("shelf"), bench.path("gone")).expect("moved");
    compact(&bench, "state")
        .ends(0)
        .says(&["mine: its plan was applied"]);
    bench.run(&["lock", "--check"]).ends(0);
    // Another machine has to fetch it first, and there is nothing to fetch it from.
    compact(&bench, "elsewhere")
        .ends(2)
        .says(&["was not pulled on this machine yet: run `baler pull`"]);
    bench.run(&["pull", "--state", "elsewhere"]).ends(5);
    fs::rename(bench.path("gone"), bench.path("shelf")).expect("moved");
    bench.run(&["pull", "--state", "elsewhere"]).ends(0);
    compact(&bench, "elsewhere").ends(0);
}

#[test]
fn what_is_not_signed_as_wanted_is_refused_and_nothing_is_written() {
    let bench = published();
    let window = baler_strategies::by_name("sliding-window").expect("it ships");
    bench.file("unsigned.wasm", window.wasm);
    bench
        .run(&["push", "unsigned.wasm", "oci-layout:unsigned"])
        .ends(0);
    let before = bench.entries();
    bench
        .run(&["add", "oci-layout:shelf", "--name", "mine"])
        .ends(5)
        .says(&["`unsigned = \"refuse\"` refuses it"]);
    bench
        .run(&[
            "add",
            "oci-layout:shelf",
            "--name",
            "mine",
            "--publisher",
            "acme",
            "--key",
            "other.key.pub",
        ])
        .ends(5)
        .says(&["expected a signature of sha256:", "found one of sha256:"]);
    bench
        .run(&[
            "add",
            "oci-layout:unsigned",
            "--name",
            "mine",
            "--publisher",
            "acme",
            "--key",
            "acme.key.pub",
        ])
        .ends(5);
    assert_eq!(bench.entries(), before);

    bench.file("baler.toml", "[policy]\nunsigned = \"locked\"\n");
    bench.run(&["trust"]).ends(0);
    bench
        .run(&["add", "oci-layout:unsigned", "--name", "mine"])
        .ends(0);
    compact(&bench, "state").ends(0);
}

#[test]
fn a_lock_moves_only_by_update() {
    let bench = published();
    add(&bench).ends(0);
    let locked = text(&bench, "baler.lock");
    // A newer version of the same publisher, and another strategy under the locked tag.
    let trim = baler_strategies::by_name("trim").expect("it ships");
    bench.file("trim.wasm", trim.wasm);
    bench
        .run(&[
            "push",
            "trim.wasm",
            "oci-layout:shelf:0.1.0",
            "--key",
            "acme.key",
        ])
        .ends(5)
        .says(&["expected sha256:", "found sha256:"]);
    bench
        .run(&[
            "push",
            "trim.wasm",
            "oci-layout:shelf:0.1.7",
            "--key",
            "acme.key",
        ])
        .ends(5)
        .says(&["the version that the strategy declares, 0.1.0, found `0.1.7`"]);
    push_as(&bench, trim.wasm, "0.1.7");
    bench
        .run(&["sign", "oci-layout:shelf:0.1.7", "--key", "acme.key"])
        .ends(0);
    bench.run(&["lock"]).ends(0);
    assert_eq!(text(&bench, "baler.lock"), locked);
    let updated = bench.run(&["update", "mine"]).ends(0);
    assert!(
        updated.stdout.contains("updated  mine 0.1.7") && updated.stdout.contains("(from 0.1.0)"),
        "{}",
        updated.stdout
    );
    compact(&bench, "state").ends(0);

    // The tag of what is locked is moved: whoever fetches it by the lock is told both digests.
    let window = baler_strategies::by_name("sliding-window").expect("it ships");
    push_as(&bench, window.wasm, "0.1.7");
    bench
        .run(&["sign", "oci-layout:shelf:0.1.7", "--key", "acme.key"])
        .ends(0);
    bench.run(&["pull", "--state", "elsewhere"]).ends(5).says(&[
        "has changed since it was locked: expected sha256:",
        "found sha256:",
    ]);
    let updated = bench.run(&["update"]).ends(0);
    assert!(
        updated
            .stdout
            .contains("the same version is another artifact now"),
        "{}",
        updated.stdout
    );
    // A registry that hides the newest version does not bring an old one back.
    let index = fs::read_to_string(bench.path("shelf/index.json")).expect("an index");
    bench.file("shelf/index.json", index.replace("\"0.1.7\"", "\"newest\""));
    bench.run(&["update"]).ends(5).says(&[
        "expected version 0.1.7 of `mine` or a newer one",
        "found 0.1.0",
    ]);
    bench
        .run(&["update", "yours"])
        .ends(2)
        .says(&["lists no strategy `yours`"]);
}

#[test]
fn a_lock_that_somebody_changed_is_refused() {
    let bench = published();
    add(&bench).ends(0);
    let lock = text(&bench, "baler.lock");
    let digest = lock.split("digest = \"sha256:").nth(1).expect("a digest");
    let wrong = lock.replace(&digest[..8], "00000000");
    bench.file("baler.lock", wrong);
    compact(&bench, "state")
        .ends(2)
        .says(&["the lock file contradicts itself"]);
    bench.file("baler.lock", lock.replace("version = 1", "version = 2"));
    compact(&bench, "state")
        .ends(2)
        .says(&["found version 2, perhaps of a newer baler"]);
    fs::remove_file(bench.path("baler.lock")).expect("removed");
    compact(&bench, "state").ends(2).says(&["run `baler lock`"]);
    bench
        .run(&["lock", "--check"])
        .ends(2)
        .says(&["`mine` is not locked"]);
    bench.run(&["lock"]).ends(0);
    assert_eq!(text(&bench, "baler.lock").replace("*", "^0.1.0"), lock);
}

#[test]
fn a_file_is_signed_and_verified_beside_itself_and_listed_with_its_digest() {
    let bench = published();
    let verify = |key: &str| bench.run(&["verify", "window.wasm", "--key", key]);
    verify("acme.key.pub")
        .ends(5)
        .says(&["cannot read the signature `window.wasm.sigstore.json`"]);
    bench
        .run(&["sign", "window.wasm", "--key", "acme.key"])
        .ends(0);
    verify("acme.key.pub").ends(0);
    verify("other.key.pub")
        .ends(5)
        .says(&["expected a signature of sha256:", "found one of sha256:"]);
    verify("acme.key").ends(2).says(&["no public key"]);

    bench.run(&["add", "window.wasm"]).ends(0);
    let list = text(&bench, "baler.toml");
    assert!(
        list.starts_with(
            "[strategies.window]\nsource = { path = \"window.wasm\" }\ndigest = \"sha256:"
        ),
        "{list}"
    );
    bench.run(&["introspect", "window"]).ends(0);
    bench
        .run(&["add", "window.wasm"])
        .ends(2)
        .says(&["already lists a strategy `window`"]);
    bench
        .run(&["add", "window.wasm", "--name", "Tiered"])
        .ends(2)
        .says(&["ships with baler"]);
    bench.file("window.wasm", "changed");
    verify("acme.key.pub").ends(5).says(&["expected", "found"]);
}

#[test]
fn wrong_uses_are_told() {
    let bench = published();
    for (arguments, words) in [
        (&["add", "keep-newest"][..], "expected a .wasm file"),
        (
            &["add", "oci://registry.example"],
            "expected `oci://HOST[:PORT]/REPOSITORY",
        ),
        (
            &["add", "oci-layout:shelf", "--publisher", "acme"],
            "give their public key by --key",
        ),
        (
            &["add", "oci-layout:shelf:0.1.0", "--requirement", "^1"],
            "both say which version",
        ),
        (
            &["add", "oci-layout:shelf", "--requirement", "newest"],
            "expected a version requirement",
        ),
        (
            &["add", "window.wasm", "--requirement", "^1"],
            "`--requirement` is about a registry",
        ),
        (&["lock"], "there is no `baler.toml`"),
        (
            &["sign", "oci-layout:shelf", "--key", "acme.key"],
            "neither which tag nor which digest",
        ),
        (
            &["sign", "window.wasm", "--key", "acme.key.pub"],
            "holds no private key",
        ),
        (
            &["sign", "--new-key", "acme.key"],
            "a key that is replaced is lost",
        ),
        (&["push", "window.wasm", "shelf"], "expected `oci://HOST"),
    ] {
        bench.run(arguments).ends(2).says(&[words]);
    }
    bench.file("text.wasm", "no strategy");
    bench
        .run(&["push", "text.wasm", "oci-layout:shelf"])
        .ends(5)
        .says(&["cannot use `text.wasm`"]);
    bench.run(&["add", "text.wasm"]).ends(5);
    bench
        .run(&[
            "verify",
            "oci-layout:nowhere:1.0.0",
            "--key",
            "acme.key.pub",
        ])
        .ends(5);
}

#[test]
fn names_and_lists_are_checked_before_anything_is_written() {
    let bench = published();
    // A name that would be more than a name in the list.
    let evil = "y]\nsource={path=\"evil.wasm\"}\ngrant=[\"model\"]\n[strategies.q]#.wasm";
    let window = baler_strategies::by_name("sliding-window").expect("it ships");
    bench.file(evil, window.wasm);
    let before = bench.entries();
    bench
        .run(&["add", evil])
        .ends(2)
        .says(&["expected the name of a strategy"]);
    assert_eq!(bench.entries(), before);
    // Names that need quotes.
    let added = [
        "add",
        "oci-layout:shelf",
        "--name",
        "keep.newest",
        "--publisher",
        "Acme \"Inc\"",
        "--key",
        "acme.key.pub",
    ];
    bench.run(&added).ends(0);
    bench.run(&["introspect", "keep.newest"]).ends(0);
    bench.run(&["lock", "--check"]).ends(0);

    // `off` names no list that could be written, and a list that is not trusted cannot supply keys.
    let list = text(&bench, "baler.toml");
    bench
        .run(&["add", "window.wasm", "--name", "w", "--project", "off"])
        .ends(2)
        .says(&["this command writes one"]);
    assert_eq!(text(&bench, "baler.toml"), list);
    bench.run(&["trust", "--revoke"]).ends(0);
    bench
        .run(&[
            "add",
            "oci-layout:shelf",
            "--name",
            "b",
            "--publisher",
            "Acme \"Inc\"",
        ])
        .ends(2)
        .says(&["which you do not trust: give their public key by --key"]);
    bench.file("baler.toml", "strategies = {}\n");
    bench
        .run(&["add", "window.wasm"])
        .ends(2)
        .says(&["has to be a list with tables such as `[strategies.NAME]`"]);
    assert_eq!(text(&bench, "baler.toml"), "strategies = {}\n");
}

#[cfg(unix)]
#[test]
fn commands_at_the_same_time_lose_nothing() {
    let bench = published();
    bench.file("baler.toml", "");
    bench.run(&["trust"]).ends(0);
    std::thread::scope(|scope| {
        for name in ["a", "b", "c", "d"] {
            let bench = &bench;
            scope.spawn(move || {
                bench
                    .run(&[
                        "add",
                        "oci-layout:shelf",
                        "--name",
                        name,
                        "--publisher",
                        name,
                        "--key",
                        "acme.key.pub",
                    ])
                    .ends(0);
            });
        }
    });
    bench.run(&["lock", "--check"]).ends(0);
    assert_eq!(
        text(&bench, "baler.lock").matches("[[strategy]]").count(),
        4
    );
    assert_eq!(
        text(&bench, "baler.toml").matches("[strategies.").count(),
        4
    );
}
