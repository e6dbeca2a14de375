//! `baler.toml`: strategies by name, what they may do, and what becomes of files that changed.

use std::fs;

use serde_json::Value;

use crate::support::{Bench, example, read_receipt};

const HASH_OF: fn(&str) -> String = |shown| {
    let at = shown.find("sha256:").expect("a hash");
    shown[at..at + 71].to_owned()
};

/// A bench with the strategy `window.wasm` and its hash.
fn bench() -> (Bench, String) {
    let bench = Bench::new();
    let window = baler_strategies::by_name("sliding-window").expect("it ships with baler");
    bench.file("window.wasm", window.wasm);
    let shown = bench.run(&["introspect", "window.wasm"]).ends(0).stdout;
    (bench, HASH_OF(&shown))
}

#[test]
fn a_listed_strategy_is_used_by_its_name_with_its_config_and_limits() {
    let (bench, hash) = bench();
    let list = |more: &str| {
        let entry = "source = { path = 'window.wasm' }";
        bench.file(
            "baler.toml",
            format!("[strategies.recent]\n{entry}\ndigest = '{hash}'\n{more}"),
        );
    };
    let week = example("plan-a-week.openai.json");
    let removed = |more: &[&str]| -> Value {
        let arguments = [
            &[
                "compact",
                &week,
                "--strategy",
                "recent",
                "--json",
                "--budget",
                "70%",
            ],
            more,
        ]
        .concat();
        let ran = bench.run(&arguments).ends(0);
        let value: Value = serde_json::from_str(&ran.stdout).expect("JSON");
        let attempt = &value["receipt"]["attempts"][0];
        assert_eq!(attempt["strategy"], "recent");
        assert_eq!(attempt["component"]["content-hash"], hash.as_str());
        attempt["metrics"].clone()
    };
    list("limits = { timeout-ms = 3000 }");
    let many = removed(&[]);
    list("config = { keep = { units = 2 } }");
    let few = removed(&[]);
    assert_ne!(many, few, "the config of the list counts");
    assert_eq!(
        removed(&["--config", "{}"]),
        many,
        "a config that is typed counts more"
    );
    let shown = bench.run(&["introspect", "recent"]).ends(0).stdout;
    assert!(
        shown.contains("its digest is right; granted: nothing"),
        "{shown}"
    );
    let shown = bench.run(&["strategies"]).ends(0).stdout;
    assert!(
        shown.contains("recent  ") && shown.contains("its digest is right"),
        "{shown}"
    );
    // Below the folder of the list, and with `--project off`.
    fs::create_dir(bench.path("below")).expect("a folder");
    let mut command = bench.command();
    command
        .current_dir(bench.path("below"))
        .args(["introspect", "recent"]);
    assert!(command.output().expect("runs").status.success());
    let ran = bench
        .run(&["introspect", "recent", "--project", "off"])
        .ends(2);
    assert!(
        ran.stderr.contains("no strategy is called `recent`"),
        "{}",
        ran.stderr
    );

    list("limits = { fuel = 10 }");
    let ran = bench.run(&["compact", &week, "-s", "recent"]).ends(4);
    assert!(
        ran.stderr.contains("it used up its fuel: the limit is 10"),
        "{}",
        ran.stderr
    );
    bench
        .run(&["compact", &week, "-s", "recent", "--fuel", "100000000"])
        .ends(0);
}

#[test]
fn a_changed_file_is_refused_with_both_digests() {
    let (bench, hash) = bench();
    bench.file(
        "baler.toml",
        format!("[strategies.recent]\nsource = {{ path = 'window.wasm' }}\ndigest = '{hash}'"),
    );
    bench.run(&["introspect", "recent"]).ends(0);
    let trim = baler_strategies::by_name("trim").expect("it ships with baler");
    bench.file("window.wasm", trim.wasm);
    let other = HASH_OF(&bench.run(&["introspect", "trim"]).ends(0).stdout);
    let week = example("plan-a-week.openai.json");
    for arguments in [
        &["introspect", "recent"][..],
        &["compact", &week, "-s", "recent", "-o", "out.json"],
    ] {
        let ran = bench.run(arguments).ends(2);
        assert!(
            ran.stderr.contains(&hash) && ran.stderr.contains(&other),
            "{}",
            ran.stderr
        );
        assert!(!bench.path("out.json").exists());
    }
    let shown = bench.run(&["strategies", "--json"]).ends(0).stdout;
    let list: Value = serde_json::from_str(&shown).expect("JSON");
    let listed = list
        .as_array()
        .expect("a list")
        .iter()
        .find(|one| one["name"] == "recent")
        .expect("listed");
    assert_eq!(listed["usable"], false);
    assert!(
        listed["description"]
            .as_str()
            .expect("text")
            .contains("has changed"),
        "{listed}"
    );
}

#[test]
fn a_strategy_gets_a_model_only_if_the_list_grants_it() {
    let bench = Bench::new();
    bench.file(
        "asks.wasm",
        baler_strategies::by_name("summarize")
            .expect("it ships with baler")
            .wasm,
    );
    let week = example("plan-a-week.openai.json");
    let compact = |grant: &str, is_trusted: bool| {
        bench.file(
            "baler.toml",
            format!("[strategies.asks]\nsource = {{ path = 'asks.wasm' }}\n{grant}"),
        );
        if is_trusted {
            bench.run(&["trust"]).ends(0);
        }
        bench.run(&[
            "compact",
            &week,
            "-s",
            "asks",
            "--model",
            "http://localhost:9/v1#none",
            "--dry-run",
        ])
    };
    compact("grant = ['model']", false)
        .ends(2)
        .says(&["is not trusted, so its grants do not count"]);
    compact("", true)
        .ends(2)
        .says(&["does not grant it one: add `grant = [\"model\"]`"]);
    // Nothing answers there, so the next strategy runs.
    let ran = compact("grant = ['model']", true);
    assert!([3, 4].contains(&ran.code), "{}", ran.stderr);
    assert!(!ran.stderr.contains("does not grant"), "{}", ran.stderr);
}

#[test]
fn a_policy_counts_for_all_strategies() {
    let (bench, hash) = bench();
    bench.file("dice.wasm", baler_hostile_guests::WASI_THROWS_DICE.wasm);
    let week = example("plan-a-week.openai.json");
    let list = |entry: &str, policy: &str| {
        bench.file("baler.toml", format!("[strategies.recent]\nsource = {{ path = 'window.wasm' }}\n{entry}\n[policy]\n{policy}"));
    };
    list("", "unlisted = 'refuse'");
    for named in ["dice.wasm", "http://localhost:9"] {
        let ran = bench.run(&["compact", &week, "-s", named]).ends(2);
        assert!(ran.stderr.contains("is not listed in"), "{}", ran.stderr);
    }
    // The path of a listed file stands for its name.
    for named in ["recent", "./window.wasm"] {
        bench
            .run(&["compact", &week, "-s", named, "--dry-run"])
            .ends(0)
            .says(&["compacted by recent"]);
    }
    bench
        .run(&["compact", &week, "-s", "tiered", "--dry-run"])
        .ends(0);

    list("", "digests = 'required'");
    let ran = bench.run(&["compact", &week, "-s", "recent"]).ends(2);
    assert!(
        ran.stderr.contains(&format!("add `digest = \"{hash}\"`")),
        "{}",
        ran.stderr
    );

    list("", "wasi = 'refuse'");
    let ran = bench.run(&["introspect", "dice.wasm"]).ends(2);
    assert!(
        ran.stderr.contains("WASI is refused here"),
        "{}",
        ran.stderr
    );
    bench
        .run(&["introspect", "dice.wasm", "--project", "off"])
        .ends(0);

    // Without other words and excerpts, no output is cut.
    let bug = example("fix-a-bug.openai.json");
    let cut = || {
        let ran = bench.run(&[
            "compact",
            &bug,
            "-s",
            "tiered",
            "--json",
            "--budget",
            "80%",
            "--dry-run",
        ]);
        let value: Value = serde_json::from_str(&ran.ends(0).stdout).expect("JSON");
        value["receipt"]["units"]["rewritten"]
            .as_u64()
            .expect("a number")
    };
    list("", "");
    assert!(cut() > 0);
    list("", "plans = { rewrite-outputs = false, excerpts = false }");
    assert_eq!(cut(), 0);
}

#[test]
fn a_list_that_is_not_one_is_refused_with_the_place() {
    let bench = Bench::new();
    let source = "source = { path = 'a.wasm' }";
    for (text, told) in [
        (
            format!("[strategies.a]\n{source}\ngrants = []"),
            "line 3, column 1",
        ),
        (
            format!("[strategies.tiered]\n{source}"),
            "which is the name of one that ships with baler",
        ),
        ("[strategies".to_owned(), "line 1, column 12"),
    ] {
        bench.file("baler.toml", &text);
        for command in [&["strategies"][..], &["introspect", "trim"]] {
            let ran = bench.run(command).ends(2);
            assert!(
                ran.stderr.contains(told) && ran.stderr.contains("baler.toml"),
                "{text}: {}",
                ran.stderr
            );
        }
    }
    bench
        .run(&["strategies", "--project", "nowhere.toml"])
        .ends(2)
        .says(&["cannot read `nowhere.toml`"]);
}

/// Whoever wrote a checkout must not decide what a summary may say to the model, or that the task may be cut.
#[test]
fn a_list_that_was_only_found_forbids_and_allows_nothing() {
    let (bench, _) = bench();
    let text = "[policy.plans]\nsummary-role = 'system'\nuser-percent = 0\nremove-media = true\nexcerpts = false\n\n\
        [strategies.recent]\nsource = { path = 'window.wasm' }\ngrant = ['model']\nlimits = { timeout-ms = 86400000, fuel = 1000000000 }";
    bench.file("baler.toml", text);
    let bug = example("fix-a-bug.openai.json");
    let receipt = |more: &[&str]| {
        let arguments = [
            "compact",
            &bug,
            "--receipt",
            "receipt.json",
            "-o",
            "out.json",
            "--budget",
            "80%",
        ];
        let ran = bench.run(&[&arguments[..], more].concat()).ends(0);
        (ran, read_receipt(&bench, "receipt.json")["project"].clone())
    };
    let (ran, project) = receipt(&[]);
    ran.says(&[
        "(not trusted) sets policy.plans.excerpts = false",
        "warning:",
        "is not trusted, so these of its settings do not count",
        "policy.plans.user-percent = 0",
        "policy.plans.summary-role = \"system\"",
        "run `baler trust ",
    ]);
    let plans = ["user-percent", "remove-media", "summary-role"];
    let mut plans = plans.map(|name| format!("policy.plans.{name}")).to_vec();
    assert_eq!(project["trusted"], false);
    assert_eq!(
        project["settings"],
        serde_json::json!(["policy.plans.excerpts"])
    );
    assert_eq!(project["withheld"], serde_json::json!(plans));
    let hash = project["content-hash"].as_str().expect("a hash").to_owned();
    assert!(hash.starts_with("sha256:"), "{hash}");

    // A listed strategy may be named: its own settings are then said too.
    let (_, project) = receipt(&["-s", "recent"]);
    let withheld = project["withheld"].as_array().expect("a list");
    assert!(
        withheld.contains(&"strategies.recent.grant".into()),
        "{project}"
    );
    assert!(
        withheld.contains(&"strategies.recent.limits.timeout-ms".into()),
        "{project}"
    );
    assert_eq!(project["settings"][0], "strategies.recent.limits.fuel");

    bench.run(&["trust"]).ends(0);
    let (ran, project) = receipt(&[]);
    assert!(!ran.stderr.contains("warning"), "{}", ran.stderr);
    ran.says(&["(trusted) sets ", "policy.plans.summary-role = \"system\""]);
    plans.push("policy.plans.excerpts".to_owned());
    plans.sort();
    let settings = project["settings"].as_array().expect("a list");
    let mut settings: Vec<&str> = settings.iter().filter_map(Value::as_str).collect();
    settings.sort_unstable();
    assert_eq!(settings, plans);
    assert_eq!(project["withheld"], serde_json::json!([]));
    assert_eq!(project["content-hash"], hash);

    // A list that is named is trusted, and without any the receipt names none.
    bench.run(&["trust", "--revoke"]).ends(0);
    assert_eq!(receipt(&[]).1["trusted"], false);
    assert_eq!(receipt(&["--project", "baler.toml"]).1["trusted"], true);
    assert_eq!(receipt(&["--project", "off"]).1, Value::Null);
}

#[test]
fn trust_ends_when_the_list_changes() {
    let bench = Bench::new();
    let shown = || bench.run(&["strategies"]).ends(0).stdout;
    bench.file("baler.toml", "[policy.plans]\nremove-media = true");
    assert!(
        shown().contains("policy.plans.remove-media = true  does not count"),
        "{}",
        shown()
    );
    let told = bench.run(&["trust", "."]).ends(0).stdout;
    assert!(told.contains("baler.toml` (trusted)"), "{told}");
    assert!(!shown().contains("does not count"), "{}", shown());
    bench.file(
        "baler.toml",
        "[policy.plans]\nremove-media = true\nsummary-role = 'system'",
    );
    assert!(
        shown().contains("policy.plans.remove-media = true  does not count"),
        "{}",
        shown()
    );

    let told = bench
        .run(&["trust", "baler.toml", "--revoke"])
        .ends(0)
        .stdout;
    assert!(told.contains("is not trusted any more"), "{told}");
    let told = bench.run(&["trust", "--revoke"]).ends(0).stdout;
    assert!(told.contains("was not trusted"), "{told}");
    fs::remove_file(bench.path("baler.toml")).expect("removes");
    bench
        .run(&["trust", "nowhere.toml"])
        .ends(2)
        .says(&["cannot read `nowhere.toml`"]);
}

#[test]
fn trusting_a_grant_without_a_digest_is_warned_of() {
    let (bench, hash) = bench();
    let list = |digest: &str| {
        let entry = "[strategies.recent]\nsource = { path = 'window.wasm' }\ngrant = ['model']";
        bench.file("baler.toml", format!("{entry}\n{digest}"));
        bench.run(&["trust"]).ends(0).stderr
    };
    assert!(list("").contains("`recent` has no digest"));
    assert_eq!(list(&format!("digest = '{hash}'")), "");
}

/// A list that sets a day for a strategy which never ends must not hold a command that only shows it.
#[test]
fn showing_strategies_takes_no_longer_than_showing_may() {
    let bench = Bench::new();
    bench.file("loops.wasm", baler_hostile_guests::LOOP_IN_INTROSPECT.wasm);
    let limits = "limits = { timeout-ms = 86400000, fuel = 9223372036854775807 }";
    let entries = (0..40).map(|number| {
        format!("[strategies.loops-{number:02}]\nsource = {{ path = 'loops.wasm' }}\n{limits}\n")
    });
    bench.file("baler.toml", entries.collect::<String>());
    // Trusted, so that the limits are those of the list.
    bench.run(&["trust"]).ends(0);
    let ran = bench
        .run(&["introspect", "loops-00", "--timeout", "300ms"])
        .ends(2);
    assert!(ran.stderr.contains("loops-00"), "{}", ran.stderr);
    bench.run(&["introspect", "loops-00"]).ends(2);
    let shown = bench
        .run(&["strategies", "--json", "--timeout", "300ms"])
        .ends(0)
        .stdout;
    let list: Vec<Value> = serde_json::from_str(&shown).expect("JSON");
    let last = list.last().expect("a strategy");
    assert_eq!(
        (&last["name"], &last["usable"]),
        (&"loops-39".into(), &false.into())
    );
    let told = last["description"].as_str().expect("text");
    assert!(
        told.contains("not asked") && told.contains("`baler introspect loops-39`"),
        "{told}"
    );
}

#[test]
fn an_output_that_would_replace_a_listed_file_is_refused_for_the_list() {
    let (bench, _) = bench();
    bench.file(
        "baler.toml",
        "[strategies.recent]\nsource = { path = 'window.wasm' }",
    );
    let week = example("plan-a-week.openai.json");
    for file in ["window.wasm", "baler.toml"] {
        let before = fs::read(bench.path(file)).expect("reads");
        for option in ["--output", "--receipt"] {
            let ran = bench.run(&["compact", &week, option, file]).ends(2);
            ran.says(&[
                &format!("`{option}` would replace `"),
                file,
                "belongs to the list of strategies",
                "`--project off`",
            ]);
        }
        assert_eq!(fs::read(bench.path(file)).expect("reads"), before);
    }
}

#[test]
#[cfg(unix)]
fn a_list_that_others_may_write_is_passed_over_and_that_is_said() {
    use std::os::unix::fs::PermissionsExt as _;
    let (bench, _) = bench();
    let list = bench.file(
        "baler.toml",
        "[strategies.recent]\nsource = { path = 'window.wasm' }",
    );
    fs::set_permissions(&list, fs::Permissions::from_mode(0o666)).expect("a mode");
    let week = example("plan-a-week.openai.json");
    let ran = bench.run(&["compact", &week, "--dry-run"]).ends(0);
    ran.says(&[
        "warning: a list is not used",
        "may be written by every user",
    ]);
    let ran = bench.run(&["compact", &week, "-s", "recent"]).ends(2);
    ran.says(&["a list is not used", "no strategy is called `recent`"]);
    let ran = bench
        .run(&["compact", &week, "--project", "baler.toml"])
        .ends(2);
    ran.says(&["may be written by every user"]);
}
