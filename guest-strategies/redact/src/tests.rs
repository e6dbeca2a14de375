//! The filter before real strategies.

use baler_strategy::testing::{Recording, ScriptedModel, TestRun, call, run_filter};
use baler_strategy::{
    Change, Content, Conversation, Failure, Filter, NoConfig, Piece, PlanBuilder, Report,
    Situation, Strategy, Trigger,
};
use sliding_window::SlidingWindow;

use crate::{Config, Redact};

/// Secrets of which none may be shown. Their forms are those of real ones.
const KEY: &str = "ghp_k2Jq8Wm4Zt6Rb1Xc9Vn3Lp7Hs5Df0Gy";
const PASSWORD: &str = "MAST-7x-keel";
const ADDRESS: &str = "mira@harbour.example";

fn lines(word: &str, lines: usize) -> String {
    (0..lines)
        .map(|line| format!("{word} of berth {line} is calm\n"))
        .collect()
}

/// An output with every secret after a third of its lines, so that they are not in its middle.
fn leak(third: usize) -> String {
    format!(
        "{}export QUAY_TOKEN={KEY}\nDB=postgres://harbour:{PASSWORD}@db/tide\nby {ADDRESS}\n{}",
        lines("tide", third),
        lines("wind", 2 * third)
    )
}

/// Fails if a plan writes a secret.
#[track_caller]
fn assert_redacted(tested: &TestRun) {
    let rendered = tested.render();
    for secret in [KEY, PASSWORD, ADDRESS] {
        assert!(!rendered.contains(secret), "{rendered}");
    }
}

#[test]
fn outputs_that_stay_are_redacted_and_all_else_of_them_stays() {
    let recording = Recording::new()
        .user("Look.")
        .step("", [call("ls", "{}", &lines("old", 200))])
        .step("", [call("env", "{}", &leak(20))])
        .step("", [call("ls", "{}", &lines("new", 5))]);
    let situation = recording.situation(600);
    let tested = run_filter::<Redact, SlidingWindow>(&recording, &situation, "").expect("a plan");
    assert_redacted(&tested);
    assert_eq!(tested.kept(), [0, 2, 3]);
    let expected = leak(20)
        .replace(KEY, "[redacted]")
        .replace(PASSWORD, "[redacted]")
        .replace(ADDRESS, "[redacted]");
    let rendered = tested.render();
    // The mark needs more than the secrets had, so the middle of the text makes room.
    let (first, last) = (&expected[..600], &expected[expected.len() - 600..]);
    assert!(first.contains("by [redacted]"), "{first}");
    assert!(
        rendered.contains(first) && rendered.contains(last),
        "{rendered}"
    );
    assert!(rendered.contains(" bytes left out …]\n"), "{rendered}");
    assert_eq!(tested.count("outputs-redacted"), Some(1));
    assert_eq!(tested.count("secrets-left"), Some(0));
}

#[test]
fn what_a_private_key_was_makes_room_for_the_mark() {
    let body = "MIIEvQIBADANBgkqhkiG9w0BAQEFAASC\n".repeat(24);
    let text = format!("-----BEGIN PRIVATE KEY-----\n{body}-----END PRIVATE KEY-----\n");
    let recording = Recording::new()
        .user("Look.")
        .step("", [call("ls", "{}", &lines("old", 200))])
        .step("", [call("cat", "{}", &text)]);
    let situation = recording.situation(1000);
    let tested = run_filter::<Redact, SlidingWindow>(&recording, &situation, "").expect("a plan");
    let rendered = tested.render();
    assert!(
        rendered.contains("-----BEGIN PRIVATE KEY-----[redacted]-----END PRIVATE KEY-----\n"),
        "{rendered}"
    );
}

#[test]
fn a_unit_is_removed_if_its_output_is_too_short_to_be_changed() {
    let recording = Recording::new()
        .user("Look.")
        .step("", [call("ls", "{}", &lines("old", 200))])
        .step("", [call("env", "{}", &format!("QUAY_TOKEN={KEY}\n"))])
        .step("", [call("ls", "{}", &lines("new", 5))]);
    let situation = recording.situation(1000);
    let tested = run_filter::<Redact, SlidingWindow>(&recording, &situation, "").expect("a plan");
    assert_eq!(tested.kept(), [0, 3]);
    assert_eq!(tested.count("units-with-secrets-removed"), Some(1));
}

#[test]
fn what_a_plan_cannot_change_stays_and_is_counted() {
    let recording = Recording::new()
        .user(&format!("The key is {KEY}."))
        .step("", [call("ls", "{}", &lines("old", 200))])
        .step(
            "",
            [call("login", &format!(r#"{{"key":"{KEY}"}}"#), "done")],
        )
        .step("", [call("env", "{}", &leak(3)).fixed()])
        .pin();
    let situation = recording.situation(1000);
    let tested = run_filter::<Redact, SlidingWindow>(&recording, &situation, "").expect("a plan");
    assert_eq!(tested.kept(), [0, 2, 3]);
    // The user's text, the arguments, and the output in the pinned unit.
    assert_eq!(tested.count("secrets-left"), Some(3));
    assert_eq!(tested.count("units-with-secrets-removed"), Some(0));
}

/// Keeps all units, and of each output its first and last lines.
struct Excerpts;

impl Strategy for Excerpts {
    type Config = NoConfig;
    const NAME: &'static str = "excerpts";
    const VERSION: &'static str = "1.0.0";
    const DESCRIPTION: &'static str = "Keeps excerpts.";

    fn compact(
        conversation: &Conversation<'_>,
        _: &Situation,
        _: &NoConfig,
    ) -> Result<Report, Failure> {
        let mut builder = PlanBuilder::keeping_all(conversation.units().len());
        for (unit, messages) in conversation.read(0..conversation.units().len()) {
            for (message, own) in messages.iter().enumerate() {
                for (part, own) in own.parts.iter().enumerate() {
                    if let Content::Output(output) = &own.content {
                        assert!(!output.text.contains(KEY));
                        // The whole first half, with the shown secrets in it.
                        let half = output.text.floor_char_boundary(output.text.len() * 6 / 10);
                        builder
                            .rewrite(unit)
                            .excerpt(message, part, std::iter::once(0..half));
                    }
                }
            }
        }
        Ok(Report::compacted(builder.build()?))
    }
}

#[test]
fn runs_of_an_excerpt_count_in_what_was_shown() {
    let recording = Recording::new()
        .user("Look.")
        .step("", [call("env", "{}", &leak(20))])
        .step("", [call("ls", "{}", &lines("calm", 60))]);
    let situation = recording.situation(1000);
    let tested = run_filter::<Redact, Excerpts>(&recording, &situation, "").expect("a plan");
    assert_redacted(&tested);
    let rendered = tested.render();
    assert!(
        rendered.contains("by [redacted]\nwind of berth 0"),
        "{rendered}"
    );
    // The other excerpt is the strategy's own.
    let plan = tested.plan().expect("a plan");
    let changes: Vec<&Change> = plan
        .pieces
        .iter()
        .filter_map(|piece| match piece {
            Piece::Rewrite(own) => Some(&own.edits[0].change),
            _ => None,
        })
        .collect();
    assert!(
        matches!(changes[..], [Change::Text(_), Change::Excerpt(_)]),
        "{changes:?}"
    );
}

#[test]
fn where_only_excerpts_are_allowed_they_are_moved_and_leave_the_secrets_out() {
    let recording = Recording::new()
        .user("Look.")
        .step("", [call("env", "{}", &leak(20)).verbatim()])
        .pin();
    let situation = recording.situation(1000);
    let tested = run_filter::<Redact, Excerpts>(&recording, &situation, "").expect("a plan");
    assert_redacted(&tested);
    let rendered = tested.render();
    assert!(
        rendered.contains("export QUAY_TOKEN=[… 35 bytes left out …]\n"),
        "{rendered}"
    );
    // The host leaves no gap that is shorter than its line about it.
    assert_eq!(tested.count("secrets-left"), Some(1));
}

#[test]
fn questions_to_a_model_and_summaries_show_no_secret() {
    let recording = Recording::new()
        .user("Look for the token, and tell me what else is in the environment.")
        .step(
            "I read it.",
            [call("env", &format!(r#"{{"key":"{KEY}"}}"#), &leak(20))],
        )
        .step("", [call("env", "{}", &leak(20))])
        .user("Go on.")
        .step("", [call("ls", "{}", &lines("new", 5))])
        .model(ScriptedModel::answering(
            "The tide of each berth is calm, and so is the wind of each berth. \
             The environment has a QUAY_TOKEN and a DB.",
        ));
    let situation = recording.situation(500);
    let tested = run_filter::<Redact, baler_strategy_core::Summarize>(&recording, &situation, "")
        .expect("a plan");
    let asked = recording.asked();
    assert!(!asked.is_empty());
    for request in asked {
        for secret in [KEY, PASSWORD, ADDRESS] {
            assert!(!request.prompt.contains(secret), "{}", request.prompt);
        }
        assert!(request.prompt.contains("[redacted]"), "{}", request.prompt);
    }
    assert_redacted(&tested);
}

#[test]
fn a_digest_shows_no_address_of_a_person() {
    let mut recording = Recording::new().user("Who wrote to us?");
    for _ in 0..20 {
        recording = recording.step("I look.", [call("mail", "{}", &leak(20))]);
    }
    let recording = recording.user("Go on.");
    let situation = recording.situation(900);
    let tested = run_filter::<Redact, baler_strategy_core::Tiered>(&recording, &situation, "")
        .expect("a plan");
    assert_redacted(&tested);
    assert!(tested.tokens() <= 900);
}

#[test]
fn the_config_of_the_filter_is_a_member_and_the_rest_is_that_of_the_strategy() {
    let recording = Recording::new()
        .user("Look.")
        .step("", [call("ls", "{}", &lines("old", 200))])
        .step("", [call("mail", "{}", &leak(20))])
        .step("", [call("ls", "{}", &lines("new", 5))]);
    let situation = recording.situation(2000);
    let config = r#"{"redact": {"addresses": [], "words": ["berth 7"]}, "keep": {"units": 2}}"#;
    let tested =
        run_filter::<Redact, SlidingWindow>(&recording, &situation, config).expect("a plan");
    let rendered = tested.render();
    assert!(
        rendered.contains(ADDRESS) && !rendered.contains(KEY),
        "{rendered}"
    );
    assert!(
        rendered.contains("tide of [redacted] is calm"),
        "{rendered}"
    );
    for (config, says) in [
        (
            r#"{"redact": {"mails": []}}"#,
            "in `redact`: `mails`: unknown field",
        ),
        (
            r#"{"redact": {"words": ["a"]}}"#,
            "in `redact`: each of `words`",
        ),
        (r#"{"redact": true}"#, "`redact`: expected an object"),
        (r#"{"kep": 1}"#, "unknown field `kep`"),
    ] {
        let failure = run_filter::<Redact, SlidingWindow>(&recording, &situation, config);
        let Err(Failure::BadConfig(message)) = failure else {
            panic!("{config}: {failure:?}");
        };
        assert!(message.contains(says), "{config}: {message}");
    }
}

#[test]
fn the_schema_is_that_of_the_config() {
    let schema: serde_json::Value = serde_json::from_str(Redact::CONFIG_SCHEMA).expect("is JSON");
    let members = schema["properties"].as_object().expect("has members");
    assert_eq!(members.keys().collect::<Vec<_>>(), ["addresses", "words"]);
    let defaults = members
        .iter()
        .map(|(name, own)| (name.clone(), own["default"].clone()));
    let defaults: serde_json::Map<_, _> = defaults.collect();
    let config: Config = serde_json::from_value(defaults.into()).expect("is a config");
    assert_eq!(config, Config::default());
}

#[test]
fn what_is_said_about_the_call_is_redacted_too() {
    let mut situation = Recording::new().user("Look.").situation(100);
    situation.context = format!(r#"{{"token":"{KEY}"}}"#);
    situation.trigger = Trigger::Manual(Some(format!("keep {ADDRESS} in mind")));
    let seen = Redact::situation(&situation, &Config::default());
    assert_eq!(seen.context, r#"{"token":"[redacted]"}"#);
    assert_eq!(
        seen.trigger,
        Trigger::Manual(Some("keep [redacted] in mind".to_owned()))
    );
}

#[test]
fn a_conversation_that_stays_unchanged_is_not_touched() {
    let recording = Recording::new()
        .user("Look.")
        .step("", [call("env", "{}", &leak(20))]);
    let situation = recording.situation(100_000);
    let tested =
        run_filter::<Redact, SlidingWindow>(&recording, &situation, "").expect("an answer");
    assert!(tested.unchanged().is_some());
}

/// Fails if a unit that need not stay keeps an output with a secret.
#[track_caller]
fn assert_no_output_leaks(recording: &Recording, tested: &TestRun) {
    assert_redacted(tested);
    let conversation = Conversation::new(recording);
    for piece in tested.plan().map_or(&[][..], |plan| &plan.pieces) {
        let Piece::Keep(span) = piece else { continue };
        for unit in span.first..span.first + span.count {
            let messages = conversation.messages(unit as usize);
            let parts = messages.iter().flat_map(|message| &message.parts);
            let leaks = parts.filter(|part| match &part.content {
                Content::Output(output) => output.text.contains(KEY),
                _ => false,
            });
            let is_protected = conversation.units()[unit as usize].is_protected();
            assert!(is_protected || leaks.count() == 0, "{}", tested.render());
        }
    }
}

#[test]
fn whatever_the_conversation_plans_are_valid_and_no_output_leaks() {
    let mut seed = 7_u64;
    let mut random = move |below: u64| {
        seed = seed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
        (seed >> 33) % below
    };
    let (mut plans, mut changed) = (0, 0);
    for _ in 0..400 {
        let mut recording = Recording::new().user("Look.");
        for _ in 0..2 + random(12) {
            let text = match random(4) {
                0 => lines("calm", random(60) as usize),
                1 => format!("{KEY}{}", " ".repeat(random(200) as usize)),
                _ => leak(random(40) as usize),
            };
            let mut output = call("env", "{}", &text);
            if random(5) == 0 {
                output = output.verbatim();
            }
            recording = recording.step("I look.", [output, call("ls", "{}", &lines("a", 2))]);
            match random(9) {
                0 => recording = recording.pin(),
                1 => recording = recording.user("And now?"),
                _ => {}
            }
        }
        let recording = recording.user("Go on.");
        let used = recording.situation(0).used;
        let situation = recording.situation(random(u64::from(used)) as u32);
        let window = run_filter::<Redact, SlidingWindow>(&recording, &situation, "");
        let digest = run_filter::<Redact, baler_strategy_core::Tiered>(&recording, &situation, "");
        for tested in [window, digest].into_iter().flatten() {
            if tested.plan().is_some() {
                assert_no_output_leaks(&recording, &tested);
                plans += 1;
                changed += tested.count("outputs-redacted").unwrap_or_default();
            }
        }
    }
    assert!(plans > 400 && changed > 400, "{plans} {changed}");
}
