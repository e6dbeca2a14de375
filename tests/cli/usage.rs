//! Invalid usage, help and version.

use crate::support::{Bench, example};

/// Runs `baler` with each list of arguments. Expects exit code 2, nothing on standard output, and an
/// error with these words that quotes no secret.
#[track_caller]
fn assert_refused(cases: &[(&[&str], &str)]) {
    let bench = Bench::new();
    for (arguments, message) in cases {
        let ran = bench.run(arguments);
        assert_eq!(
            (ran.code, ran.stdout.as_str()),
            (2, ""),
            "{arguments:?}: {}",
            ran.stderr
        );
        assert!(
            ran.stderr.contains(message),
            "{arguments:?}: {}",
            ran.stderr
        );
        for secret in ["sk-1234567890", "hunter2"] {
            assert!(!ran.stderr.contains(secret), "{}", ran.stderr);
        }
    }
}

#[test]
fn invalid_budgets_pins_and_limits_are_refused() {
    assert_refused(&[
        (
            &["compact", "--budget", "0%"],
            "a share must be more than 0% and at most 100%",
        ),
        (
            &["compact", "--budget", "120%"],
            "a share must be more than 0% and at most 100%",
        ),
        (
            &["compact", "--budget", "-5"],
            "give a number of tokens such as 8000",
        ),
        (
            &["compact", "--budget", "0"],
            "1 asks for the smallest possible result",
        ),
        (
            &["proxy", "--listen", "localhost:7411"],
            "give an address and a port such as 127.0.0.1:7411",
        ),
        (
            &["proxy", "--context-window", "k"],
            "give a number of tokens such as 8000 or 8k",
        ),
        (
            &["compact", "--budget", "much"],
            "give a number of tokens such as 8000",
        ),
        (
            &["compact", "--budget", "99999999999"],
            "no request has so many tokens",
        ),
        (
            &["compact", "--pin", "second-user"],
            "give first-user, none, or numbers of units",
        ),
        (&["compact", "--fuel", "0"], "without fuel no strategy runs"),
        (
            &["compact", "--timeout", "0s"],
            "without time no strategy runs",
        ),
        (
            &["compact", "--timeout", "5"],
            "give a number with its unit",
        ),
        (
            &["compact", "--memory", "0"],
            "without memory no strategy runs",
        ),
        (
            &["compact", "--memory", "8GiB"],
            "a strategy can have 4GiB at most",
        ),
        (
            &["compact", "--timeout", "18446744073709551615s"],
            "give at most a day (24h)",
        ),
    ]);
}

#[test]
fn unknown_formats_tokenizers_and_strategies_are_refused() {
    assert_refused(&[
        (
            &["compact", "--format", "gemni"],
            "known formats: auto, openai-chat, openai-responses, anthropic, gemini, bedrock-converse",
        ),
        (
            &["compact", "--tokenizer", "gpt9"],
            "unknown tokenizer `gpt9`; known: auto, ",
        ),
        (
            &["compact", "--strategy", "masc-tool-outputs"],
            "did you mean `mask-tool-outputs`?",
        ),
        (
            &["compact", "--strategy", "digest"],
            "did you mean `native:digest`?",
        ),
        (
            &["compact", "--strategy", "qqq"],
            "Known: native:digest, native:summarize, native:truncate, ",
        ),
        (
            &["compact", "-s", "tiered", "-s", "trim", "-s", "tiered"],
            "`tiered` is named more than once; name each strategy once",
        ),
        (
            &["compact", "--config", "@nowhere.json"],
            "cannot read the config `nowhere.json`",
        ),
    ]);
}

#[test]
fn invalid_model_options_are_refused_without_quoting_a_secret() {
    assert_refused(&[
        (
            &["compact", "--model", "opnai:gpt-5"],
            "`opnai` is not a known provider; write openai:MODEL",
        ),
        (
            &[
                "compact",
                "--model",
                "openai:gpt-5",
                "--model-key",
                "sk-1234567890",
            ],
            "and never the key itself",
        ),
        (
            &["compact", "--model", "http://me:hunter2@gulls.example/v1#m"],
            "--model: a base URL must not contain a user name or a password",
        ),
        (&["compact", "--model-calls", "3"], "--model <MODEL>"),
    ]);
}

#[test]
fn options_that_exclude_each_other_and_unknown_commands_are_refused() {
    assert_refused(&[
        (&["compact", "--no-such-option"], "unexpected argument"),
        (
            &["compact", "--receipt", "-", "--pin", "none"],
            "for a receipt on standard output, use `--json`",
        ),
        (
            &[
                "compact",
                "--instructions",
                "be brief",
                "--trigger",
                "overflow",
            ],
            "--instructions require --trigger manual",
        ),
        (&["compact", "--context", "{"], "--context is not JSON"),
        (&["compress"], "unrecognized subcommand"),
    ]);
}

#[test]
fn a_pin_of_a_unit_that_is_not_there_is_wrong_use() {
    let bench = Bench::new();
    bench
        .run(&[
            "compact",
            &example("plan-a-week.openai.json"),
            "--pin",
            "0,999",
        ])
        .ends(2)
        .says(&["unit 999 cannot be pinned: the conversation has units 0 to "]);
}

#[test]
fn a_report_of_no_tokens_is_wrong_use() {
    let bench = Bench::new();
    let file = example("fix-a-bug.openai.json");
    for (used, told) in [("0", "leave it out"), ("many", "such as 48210")] {
        let ran = bench.run(&["compact", &file, "--used", used]).ends(2);
        assert!(ran.stderr.contains(told), "{}", ran.stderr);
    }
}

#[test]
fn unreadable_previous_request_is_reported() {
    let bench = Bench::new();
    let file = example("fix-a-bug.openai.json");
    let ran = bench
        .run(&["compact", &file, "--previous", "nowhere.json"])
        .ends(2);
    assert!(
        ran.stderr
            .contains("cannot read the previous request `nowhere.json`"),
        "{}",
        ran.stderr
    );
}

#[test]
fn help_shows_exit_codes_and_examples() {
    let bench = Bench::new();
    for command in [
        "compact",
        "report",
        "should-compact",
        "introspect",
        "strategies",
    ] {
        for flag in ["--help", "-h"] {
            let help = bench.run(&[command, flag]).ends(0);
            assert!(help.stdout.contains("Exit codes:"), "{command} {flag}");
            assert_eq!(help.stderr, "");
        }
        assert!(
            bench.run(&[command, "--help"]).stdout.contains("Examples:"),
            "{command}"
        );
    }
    bench.run(&[]).ends(2).says(&["Usage: baler <COMMAND>"]);
}

#[test]
fn the_version_names_the_contract() {
    let bench = Bench::new();
    let version = bench.run(&["--version"]).ends(0).stdout;
    assert_eq!(
        version,
        format!(
            "baler {} (contract baler:compaction@0.1.0)\n",
            env!("CARGO_PKG_VERSION")
        )
    );
}
