//! `baler proxy --service`.

use std::process::Command;

use crate::support::Bench;

#[test]
fn a_service_runs_this_program_with_the_same_options() {
    let bench = Bench::new();
    let options = [
        "proxy",
        "--context-window",
        "90000",
        "--upstream",
        "a=http://h/$x",
    ];
    let unit = bench.run(&[&options[..], &["--service", "systemd"]].concat());
    let program = env!("CARGO_BIN_EXE_baler");
    let line = format!(
        "ExecStart=\"{program}\" \"proxy\" \"--context-window\" \"90000\" \"--upstream\" \"a=http://h/$$x\""
    );
    assert!(
        unit.stdout.lines().any(|other| other == line),
        "{}",
        unit.stdout
    );
    assert!(
        unit.stdout.contains("\nWorkingDirectory=/"),
        "{}",
        unit.stdout
    );
    unit.ends(0)
        .says(&["systemctl --user enable --now baler-proxy", "$BALER_TOKEN"]);

    let list = bench.run(&[&["proxy", "--service=launchd"], &options[1..]].concat());
    assert!(
        list.stdout.contains(&format!("<string>{program}</string>")),
        "{}",
        list.stdout
    );
    assert!(!list.stdout.contains("--service"), "{}", list.stdout);
    list.ends(0).says(&["launchctl bootstrap"]);
    assert!(bench.entries().is_empty(), "{:?}", bench.entries());
}

#[test]
fn systemd_accepts_the_unit() {
    let bench = Bench::new();
    let unit = bench.run(&["proxy", "--service", "systemd"]).ends(0);
    let file = bench.file("baler-proxy.service", unit.stdout);
    let mut verify = Command::new("systemd-analyze");
    verify.env("XDG_RUNTIME_DIR", bench.folder.path());
    // There is none on many machines.
    if let Ok(output) = verify.args(["verify", "--user", &file]).output() {
        let said = String::from_utf8_lossy(&output.stderr).into_owned();
        assert!(!said.contains("baler-proxy.service:"), "{said}");
    }
}

#[test]
fn a_service_that_others_reach_needs_a_token_in_a_file() {
    let bench = Bench::new();
    let mut command = bench.command();
    command.env("BALER_TOKEN", "a-token-that-nobody-knows-0123456789");
    command.args(["proxy", "--listen", "0.0.0.0:7411", "--service", "systemd"]);
    let output = command.output().expect("it runs");
    assert_eq!(output.status.code(), Some(2));
    let said = String::from_utf8_lossy(&output.stderr).into_owned();
    assert!(
        said.contains("--token-file") && !said.contains("0123456789"),
        "{said}"
    );
}
