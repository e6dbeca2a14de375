//! Strategies in other languages, against a real host. `.ci/languages` builds them and names their folder in
//! `BALER_LANGUAGES`: a file `LANGUAGE.wasm` for each, all of the same strategy, and `hostile-LANGUAGE.wasm`.

#![allow(
    clippy::expect_used,
    clippy::print_stdout,
    clippy::panic,
    reason = "helpers of tests are tests, and one that cannot run says so"
)]

use std::path::{Path, PathBuf};
use std::time::Instant;

use baler_generated::{Choices, Kind, conversation};
use baler_host::receipt::Attempt;
use baler_host::strategy::Permission;
use baler_host::{Budget, Compiler, Conversation, Format, Host, HostBuilder, Request, Strategy};

/// A component in a folder of them.
struct Guest {
    name: String,
    path: PathBuf,
}

/// The components whose names begin with `prefix`, or those of the strategy itself. Says so if there are none.
fn guests(of_hostile: bool) -> Vec<Guest> {
    let Some(folder) = std::env::var_os("BALER_LANGUAGES") else {
        println!(
            "skipped: no strategies in other languages (BALER_LANGUAGES; `.ci/languages` builds them)"
        );
        return Vec::new();
    };
    let mut guests: Vec<Guest> = std::fs::read_dir(Path::new(&folder))
        .expect("BALER_LANGUAGES is a folder")
        .map(|entry| entry.expect("an entry").path())
        .filter(|path| path.extension().is_some_and(|ending| ending == "wasm"))
        .map(|path| Guest {
            name: path
                .file_stem()
                .expect("a name")
                .to_string_lossy()
                .into_owned(),
            path,
        })
        .filter(|guest| guest.name.starts_with("hostile-") == of_hostile)
        .collect();
    guests.sort_by(|one, other| one.name.cmp(&other.name));
    assert!(!guests.is_empty(), "no components in BALER_LANGUAGES");
    guests
}

/// A host. All share a state folder next to the components, so that each component is compiled once.
fn host() -> Host {
    builder().build().expect("a host")
}

fn builder() -> HostBuilder {
    let folder = std::env::var_os("BALER_LANGUAGES").unwrap_or_default();
    let builder = Host::builder()
        .without_archive()
        .compiler(Compiler::Program(env!("CARGO_BIN_EXE_baler").into()));
    if folder.is_empty() {
        return builder;
    }
    builder.state(Path::new(&folder).join("state"))
}

async fn load(host: &Host, guest: &Guest) -> Strategy {
    let bytes = std::fs::read(&guest.path).expect("reads");
    let start = Instant::now();
    let strategy = host.load(&guest.name, &bytes).await;
    let strategy = strategy
        .unwrap_or_else(|error| panic!("{}: {}", guest.name, baler_host::with_causes(&error)));
    let compiled = start.elapsed();
    let start = Instant::now();
    host.load(&guest.name, &bytes).await.expect("loads again");
    println!(
        "{}: {} kB, compiled and loaded in {compiled:?}, loaded from the cache in {:?}",
        guest.name,
        bytes.len() / 1000,
        start.elapsed()
    );
    strategy
}

async fn compact(
    host: &Host,
    strategy: &Strategy,
    conversation: &Conversation,
    request: &Request,
) -> (String, Attempt) {
    let compaction = host
        .compact(conversation, std::slice::from_ref(strategy), request)
        .await;
    let compaction = compaction.expect("no archive that could fail");
    let after = compaction.conversation();
    assert_eq!(after.broken().count(), 0, "{}", strategy.name());
    let attempt = compaction.receipt().attempts[0].clone();
    (compaction.document().to_owned(), attempt)
}

/// All of them make the same of the same conversation: of every format, within every limit, with and without a config.
/// Each answer is verified: plan, log and fuel are the same when it is asked again.
#[tokio::test]
async fn all_languages_give_the_same_result_every_time() {
    let guests = guests(false);
    let plain = host();
    let mut strategies = Vec::new();
    for guest in &guests {
        let strategy = load(&plain, guest).await;
        let component = strategy.component().expect("it is a component");
        let uses_wasi = component.permissions.contains(&Permission::Wasi);
        assert_eq!(uses_wasi, guest.name.ends_with("-wasi"), "{}", guest.name);
        let said = plain
            .introspect(&strategy, None)
            .await
            .expect("it says what it is");
        assert_eq!(said.name, "keep-newest", "{}", guest.name);
        assert_eq!(said.version, "0.1.0");
        assert_eq!(said.reason_codes, ["old"], "{}", guest.name);
        assert_eq!(said.metric_names, ["removed"], "{}", guest.name);
        for bad in [
            r#"{"units": -1}"#,
            r#"{"units": "two"}"#,
            r#"{"unit": 1}"#,
            "[",
        ] {
            let refused = plain.configure(strategy.clone(), bad).await;
            assert!(refused.is_err(), "{} takes {bad}", guest.name);
        }
        strategies.push(strategy);
    }
    let Some((first, others)) = strategies.split_first() else {
        return;
    };
    let mut removed = 0;
    for kind in Kind::ALL {
        let format: Format = kind.name().parse().expect("the host knows the format");
        for seed in 0..4 {
            let made = conversation(kind, 60, &mut Choices::from_seed(seed));
            let host = builder().format(format).build().expect("a host");
            let conversation = host.read(made.document()).expect("reads");
            let share = |share| Request::new(Budget::Share(share)).with_verify(true);
            for (what, request, config) in [
                ("10 %", share(0.1), None),
                ("50 %", share(0.5), None),
                ("3 units", share(0.9), Some(r#"{"units": 3}"#)),
                (
                    "a third of the bytes",
                    share(0.9).with_max_bytes(conversation.bytes() / 3),
                    None,
                ),
                ("no pictures", share(0.9).with_max_media(0), None),
            ] {
                let what = format!("{} {seed}, {what}", kind.name());
                let expected = result(&host, first, &conversation, config, &request).await;
                removed += usize::from(expected.0.len() < conversation.bytes());
                for strategy in others {
                    let found = result(&host, strategy, &conversation, config, &request).await;
                    assert_eq!(
                        found,
                        expected,
                        "{} and {}: {what}",
                        strategy.name(),
                        first.name()
                    );
                }
            }
        }
    }
    assert!(removed > 20, "only {removed} results are smaller");
}

/// The document and how the attempt ended.
async fn result(
    host: &Host,
    strategy: &Strategy,
    conversation: &Conversation,
    config: Option<&str>,
    request: &Request,
) -> (String, String) {
    let strategy = match config {
        Some(config) => host
            .configure(strategy.clone(), config)
            .await
            .expect("a good config"),
        None => strategy.clone(),
    };
    let (document, attempt) = compact(host, &strategy, conversation, request).await;
    (document, attempt.result.code().to_owned())
}

/// A thousand units: what each takes for them.
#[tokio::test]
async fn all_languages_plan_a_thousand_units() {
    let host = host();
    let made = conversation(Kind::ALL[0], 1_600, &mut Choices::from_seed(1));
    let conversation = host.read(made.document()).expect("reads");
    for guest in guests(false) {
        let strategy = load(&host, &guest).await;
        let mut times = Vec::new();
        let mut fuel = None;
        for _ in 0..20 {
            let request = Request::new(Budget::Share(0.5));
            let (_, attempt) = compact(&host, &strategy, &conversation, &request).await;
            assert_eq!(attempt.result.code(), "accepted", "{}", guest.name);
            times.push(attempt.usage.time_us);
            fuel = attempt.usage.fuel;
        }
        times.sort_unstable();
        println!(
            "{}: {} units in {} µs (median of 20), fuel {fuel:?}",
            guest.name,
            conversation.units().len(),
            times[10]
        );
    }
}

/// Guests in these languages that loop, recurse and eat memory, as their config says.
#[tokio::test]
async fn hostile_guests_of_all_languages_end_as_faults_or_failures() {
    let host = host();
    let made = conversation(Kind::ALL[0], 60, &mut Choices::from_seed(7));
    let conversation = host.read(made.document()).expect("reads");
    for guest in guests(true) {
        let strategy = load(&host, &guest).await;
        for (attack, codes) in [
            ("loop", &["out-of-fuel", "timeout"][..]),
            // An engine may make an error of it, which the strategy lets through or not.
            (
                "recurse",
                &[
                    "trap",
                    "stack",
                    "memory",
                    "failure",
                    "out-of-fuel",
                    "timeout",
                ],
            ),
            (
                "memory",
                &["memory", "trap", "failure", "out-of-fuel", "timeout"],
            ),
            ("throw", &["trap", "failure"]),
        ] {
            let config = format!(r#"{{"attack": "{attack}"}}"#);
            let strategy = host
                .configure(strategy.clone(), &config)
                .await
                .expect("a good config");
            let request = Request::new(Budget::Share(0.5)).with_required(true);
            let (document, attempt) = compact(&host, &strategy, &conversation, &request).await;
            let code = attempt.result.code();
            println!(
                "{}: {attack}: {code}, {} ms",
                guest.name,
                attempt.usage.time_us / 1000
            );
            if guest.name == "hostile-python" && attack == "throw" {
                assert_eq!(
                    code, "failure",
                    "the layer for Python declares what is raised"
                );
            }
            assert!(codes.contains(&code), "{} {attack}: {code}", guest.name);
            assert!(document.len() < conversation.bytes(), "a fallback compacts");
            host.lift_quarantine();
        }
    }
}
