//! Where the archive is: `--archive`, `$BALER_ARCHIVE`, and the default in the state folder.

use std::fs;

use crate::support::{Bench, Ran, example, private_folder};

#[test]
fn archive_option_wins_over_the_environment() {
    let bench = Bench::new();
    let input = example("fix-a-bug.openai.json");
    let run = |arguments: &[&str], archive: &str| {
        let mut command = bench.command();
        command.env("BALER_ARCHIVE", archive).args(arguments);
        Ran::of(command.output().expect("it runs"))
    };
    run(&["compact", &input, "--receipt", "r.json"], "mine")
        .ends(0)
        .says(&[" in `mine`"]);
    run(&["undo", "r.json"], "mine").ends(0);
    run(&["compact", &input, "--archive", "off"], "mine")
        .ends(0)
        .says(&["there is no archive"]);
    run(&["compact", &input], "off")
        .ends(0)
        .says(&["there is no archive"]);
    run(&["archive"], "off")
        .ends(2)
        .says(&["no archive is named"]);
    for (wrong, words) in [
        ("ftp://there", "`ftp://there` is no place for an archive"),
        ("s3://", "`s3://` is no place for an archive"),
    ] {
        let ran = run(&["compact", &input], wrong).ends(2).says(&[words]);
        assert_eq!(ran.stdout, "");
    }
}

#[test]
fn an_archive_in_memory_is_refused() {
    let bench = Bench::new();
    let input = example("fix-a-bug.openai.json");
    let wrong = "`memory:` is no place for an archive";
    for command in [
        &["compact", &input][..],
        &["compact", &input, "--dry-run"],
        &["expand", "3f2a90c41be07d5512aa"],
        &["archive"],
    ] {
        let ran = bench.run(&[command, &["--archive", "memory:"]].concat());
        assert_eq!(ran.ends(2).says(&[wrong]).stdout, "");
        let mut command_in = bench.command();
        command_in.env("BALER_ARCHIVE", "memory:").args(command);
        Ran::of(command_in.output().expect("it runs"))
            .ends(2)
            .says(&[wrong]);
    }
    #[cfg(feature = "http")]
    bench
        .run(&["serve", "--listen", "127.0.0.1:0", "--archive", "memory:"])
        .ends(2)
        .says(&[wrong]);
    // A folder of that name is one.
    let folder = ["compact", &input, "--archive", "./memory:"];
    bench.run(&folder).ends(0);
}

#[test]
fn archive_name_without_a_path_creates_no_folder() {
    let bench = Bench::new();
    let input = example("fix-a-bug.openai.json");
    for (typed, wrong) in [
        (
            "OFF",
            "`OFF` is no place for an archive; expected a folder or a URL",
        ),
        (
            "Off",
            "`off` in lower case (a folder of that name is `./Off`)",
        ),
        ("", "`--archive` is empty; expected a folder, or a URL"),
        ("none", "the word `off` (a folder of that name is `./none`)"),
        (" off", "has white space around the name"),
        ("mine\n", "has white space around the name"),
        ("~", "only a shell knows what `~` stands for"),
        ("~/bales", "give the whole path"),
        ("s3:bucket", "a URL has `://` after its scheme"),
        ("S3:/bucket/prefix", "a URL has `://` after its scheme"),
        ("gs:bucket", "a folder of that name begins with `./gs:`"),
        ("az:", "a URL has `://` after its scheme"),
        ("https:bucket", "a URL has `://` after its scheme"),
        ("file:/bales", "a URL has `://` after its scheme"),
    ] {
        for command in [
            &["compact", &input][..],
            &["expand", "3f2a90c41be07d5512aa"],
            &["archive"],
        ] {
            let ran = bench.run(&[command, &["--archive", typed]].concat());
            assert_eq!(ran.ends(2).says(&[wrong]).stdout, "");
        }
    }
    assert_eq!(bench.entries(), [] as [&str; 0]);
    let folder = ["compact", &input, "--archive", "./OFF"];
    bench.run(&folder).ends(0);
    assert_eq!(bench.entries(), ["OFF"]);
    for folder in ["./~", "./s3:bucket", "./ off/", "2026:bales"] {
        bench.run(&["compact", &input, "--archive", folder]).ends(0);
    }
}

#[cfg(feature = "cloud")]
#[test]
fn keys_of_a_store_come_from_the_environment() {
    use baler_models::testing::{Reply, ScriptedServer};

    let bench = Bench::new();
    let server = ScriptedServer::start([]).expect("a server");
    server.set_default_reply(Reply::body(
        403,
        "application/xml",
        "<Error><Code>AccessDenied</Code></Error>",
    ));
    let mut command = bench.command();
    command
        .env("AWS_ENDPOINT", format!("http://{}", server.address()))
        .env("AWS_REGION", "eu-west-1")
        .env("AWS_ACCESS_KEY_ID", "AKIAKEY")
        .env("AWS_SECRET_ACCESS_KEY", "mackerel")
        .args(["compact", &example("fix-a-bug.openai.json")])
        .args(["--archive", "s3://bales/one"]);
    let ran = Ran::of(command.output().expect("it runs"))
        .ends(1)
        .says(&["error: cannot read the archive `s3://bales/one`: ", "403"]);
    assert_eq!(ran.stdout, "");
    assert!(!ran.stderr.contains("mackerel"), "{}", ran.stderr);
    let request = &server.requests()[0];
    assert!(
        request.path.starts_with("/bales/one/entries/"),
        "{}",
        request.path
    );
    let signed = request.header("authorization").expect("it is signed");
    assert!(
        signed.starts_with("AWS4-HMAC-SHA256 Credential=AKIAKEY/"),
        "{signed}"
    );
}

/// Arguments by which the folder of the default archive cannot be made, and the environment's home.
fn places_that_cannot_be_made(bench: &Bench) -> Vec<(Vec<String>, Option<&'static str>)> {
    let file = bench.file("not-a-folder", "");
    // The state folder can be used, but not for an archive.
    let half = private_folder(bench, "half");
    fs::write(half.join("archive"), "in the way").expect("writes");
    let state = |folder: String| vec!["--state".to_owned(), folder];
    vec![
        (state(format!("{file}/state")), None),
        (state(half.to_str().expect("UTF-8").to_owned()), None),
        (Vec::new(), Some("/dev/null")),
        (Vec::new(), Some("")),
    ]
}

fn run_at(bench: &Bench, home: Option<&str>, arguments: &[&str]) -> Ran {
    let mut command = bench.command();
    if let Some(home) = home {
        command.env_remove("BALER_STATE").env("HOME", home);
    }
    Ran::of(command.args(arguments).output().expect("it runs"))
}

#[test]
fn compact_writes_nothing_where_the_default_archive_cannot_be_created() {
    let bench = Bench::new();
    let before = fs::read(example("fix-a-bug.openai.json")).expect("an example");
    let input = bench.file("c.json", &before);
    for (place, home) in places_that_cannot_be_made(&bench) {
        let place: Vec<&str> = place.iter().map(String::as_str).collect();
        let entries = bench.entries();
        for loud in [&["-q"][..], &["--json"], &[]] {
            let files = ["-o", &input, "--receipt", "r.json"];
            for files in [&files[..], &[]] {
                let arguments = [&["compact", &input][..], files, loud, &place].concat();
                let ran = run_at(&bench, home, &arguments).ends(1).says(&[
                    "error: cannot use the state folder (",
                    "nothing was compacted",
                    "--state",
                    "--archive",
                    "`off`",
                ]);
                assert_eq!(ran.stdout, "", "{arguments:?}");
                assert_eq!(fs::read(&input).expect("is there"), before);
                assert_eq!(bench.entries(), entries);
            }
        }
    }
}

#[test]
fn commands_without_need_of_an_archive_work_where_the_default_cannot_be_created() {
    let bench = Bench::new();
    let input = example("fix-a-bug.openai.json");
    for (place, home) in places_that_cannot_be_made(&bench) {
        let place: Vec<&str> = place.iter().map(String::as_str).collect();
        let run = |arguments: &[&str]| run_at(&bench, home, &[arguments, &place].concat());
        // Nothing has to be compiled, of which nothing would be kept.
        let compact = ["compact", &input, "--strategy", "native:digest"];
        let compact = |more: &[&str]| run(&[&compact, more].concat());
        compact(&["--archive", "off"])
            .ends(0)
            .says(&["there is no archive"]);
        compact(&["--archive", "mine", "--receipt", "r.json"]).ends(0);
        run(&["undo", "r.json", "--archive", "mine"]).ends(0);
        compact(&["--dry-run"]).ends(0);
        let should = ["should-compact", &input, "--budget", "10"];
        run(&[&should[..], &["--strategy", "native:digest"]].concat()).ends(0);
        run(&["introspect", "sliding-window"]).ends(0);
        // It compiles all that ship.
        if home == Some("") {
            run(&["strategies"]).ends(0);
        }
        bench.run(&["validate", &input]).ends(0);
        fs::remove_dir_all(bench.path("mine")).expect("removes it");
        fs::remove_file(bench.path("r.json")).expect("removes it");
    }
}

#[test]
fn dry_run_reports_that_the_default_archive_cannot_be_created() {
    let bench = Bench::new();
    let file = bench.file("not-a-folder", "");
    let input = example("fix-a-bug.openai.json");
    let state = format!("{file}/state");
    bench
        .run(&["compact", &input, "--dry-run", "--state", &state])
        .ends(0)
        .says(&["warning: ", "without --dry-run nothing would be compacted"]);
}
