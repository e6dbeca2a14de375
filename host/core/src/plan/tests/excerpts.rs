//! Excerpts of tool outputs, and excerpts of these.

use std::ops::Range;
use std::sync::Arc;
use std::time::Instant;

use async_trait::async_trait;
use baler_conversation::message::Content;
use baler_conversation::{Conversation, marks::Purpose};
use proptest::collection::vec;
use proptest::prelude::{Just, Strategy as _, any};
use proptest::test_runner::{Config, TestCaseError, TestRunner};
use proptest::{prop_assert, prop_assert_eq, prop_oneof};
use serde_json::json;

use super::{host, runtime};
use crate::Host;
use crate::fault::PlanRule;
use crate::plan::gaps::Body;
use crate::plan::{Change, Edit, Piece, Plan, Span};
use crate::receipt::AttemptResult;
use crate::report::{Answer, Report};
use crate::request::{Budget, Policy, Request};
use crate::runner::{Call, Runner, Terms};
use crate::situation::Situation;
use crate::strategy::Strategy;

/// Keeps all units, and these runs of the output in unit 1.
struct Excerpts(Vec<Range<u32>>);

#[async_trait]
impl Runner for Excerpts {
    async fn compact(&self, _: Terms<'_>, situation: &Arc<Situation>) -> Call<Report> {
        let keep = |first, end| {
            Piece::Keep(Span {
                first,
                count: end - first,
            })
        };
        let edit = Edit {
            message: 1,
            part: 0,
            change: Change::Excerpt(self.0.clone()),
        };
        let units = u32::try_from(situation.units().len()).expect("a few");
        let plan = Plan {
            pieces: vec![
                keep(0, 1),
                Piece::Rewrite {
                    unit: 1,
                    edits: vec![edit],
                },
                keep(2, units),
            ],
            reasons: Vec::new(),
        };
        let report = Report {
            answer: Answer::Compacted(plan),
            metrics: Vec::new(),
        };
        Call::of(Instant::now(), Ok(report))
    }
}

fn document(output: &str) -> String {
    let call =
        json!({"id": "a", "type": "function", "function": {"name": "tides", "arguments": "{}"}});
    json!({"model": "gpt-4o", "messages": [
        {"role": "user", "content": "When may we sail?"},
        {"role": "assistant", "content": null, "tool_calls": [call]},
        {"role": "tool", "tool_call_id": "a", "content": output},
        {"role": "assistant", "content": "At seven."},
        {"role": "user", "content": "And back?"},
    ]})
    .to_string()
}

/// The text of the output in unit 1 as strategies read it, and the purpose of its mark.
fn output(conversation: &Conversation) -> (String, Option<Purpose>) {
    let message = &conversation.messages(1)[1];
    let part = &message.parts[0];
    let Content::Output(output) = &part.content else {
        panic!("no output");
    };
    match conversation.opened(message, part) {
        Some(opened) => (opened.text, Some(opened.purpose)),
        None => (output.text(conversation.source()).into_owned(), None),
    }
}

/// The conversation with these runs of its output; otherwise the broken rule.
async fn excerpted(
    host: &Host,
    conversation: &Conversation,
    policy: Policy,
    runs: Vec<Range<u32>>,
) -> Result<crate::Compaction, Option<PlanRule>> {
    let request = Request::default()
        .with_budget(Budget::Share(0.99))
        .with_policy(policy);
    let strategy = Strategy::native_of("native:test", Excerpts(runs));
    let compaction = host
        .compact(conversation, &[strategy], &request)
        .await
        .expect("the archive is in memory");
    match &compaction.receipt().attempts[0].result {
        AttemptResult::Accepted => Ok(compaction),
        AttemptResult::Fault {
            fault: crate::fault::Fault::InvalidPlan(fault),
        } => Err(Some(fault.rule)),
        // Too little was left out to get under the budget.
        other => {
            assert!(
                matches!(
                    other,
                    AttemptResult::Fault {
                        fault: crate::fault::Fault::OverBudget { .. }
                            | crate::fault::Fault::NoProgress { .. }
                    }
                ),
                "{other:?}"
            );
            Err(None)
        }
    }
}

#[test]
fn excerpt_keeps_its_runs_and_says_how_much_is_missing_and_where_it_is() {
    let (host, archive) = host();
    let rows: String = (100..400)
        .map(|row| format!("row {row} of the tide table\n"))
        .collect();
    let conversation = host.read(document(&rows)).expect("reads");
    let line = rows.find('\n').expect("a line") as u32 + 1;
    let runs = vec![0..2 * line, 100 * line..101 * line];
    runtime().block_on(async {
        let compaction = excerpted(&host, &conversation, Policy::default(), runs)
            .await
            .expect("a good plan");
        let (text, purpose) = output(compaction.conversation());
        assert_eq!(purpose, Some(Purpose::Excerpt));
        let archived = compaction.receipt().archive.as_deref().expect("is archived");
        let reference = &archived[0].reference;
        let gap = |lines: u32| format!("[… {lines} lines, {} bytes left out …]\n", lines * line);
        assert_eq!(
            text,
            format!(
                "[This text was too long for the context window and is shortened; whole: {reference}]\n\
                 row 100 of the tide table\nrow 101 of the tide table\n{}row 200 of the tide table\n{}",
                gap(98),
                gap(199)
            )
        );
        let unit = archive.get(reference).await.expect("is stored");
        let messages: serde_json::Value = serde_json::from_str(&unit).expect("JSON");
        assert_eq!(messages[1]["content"], rows);
    });
}

#[test]
#[expect(
    clippy::single_range_in_vec_init,
    reason = "an excerpt may have one run"
)]
fn excerpt_is_refused_unless_its_runs_are_in_the_text_in_order_and_long_enough() {
    let (host, _) = host();
    let text = "潮汐 table\n".repeat(200);
    let conversation = host.read(document(&text)).expect("reads");
    let end = text.len() as u32;
    let good = 0..26;
    runtime().block_on(async {
        // A line has 13 bytes.
        for (runs, rule) in [
            (vec![0..end + 1], PlanRule::ExcerptOutOfRange),
            (vec![u32::MAX - 20..u32::MAX], PlanRule::ExcerptOutOfRange),
            (
                vec![Range { start: 32, end: 0 }],
                PlanRule::ExcerptOutOfRange,
            ),
            (vec![1..26], PlanRule::ExcerptOutOfRange),
            (vec![0..14], PlanRule::ExcerptOutOfRange),
            (vec![0..13], PlanRule::ExcerptTooShort),
            (vec![good.clone(), 26..26], PlanRule::ExcerptTooShort),
            (vec![good.clone(), 13..39], PlanRule::ExcerptOutOfOrder),
            (vec![26..52, good.clone()], PlanRule::ExcerptOutOfOrder),
            (
                vec![good.clone(), good.clone()],
                PlanRule::ExcerptOutOfOrder,
            ),
        ] {
            let found = excerpted(&host, &conversation, Policy::default(), runs.clone()).await;
            assert_eq!(found.err(), Some(Some(rule)), "{runs:?}");
        }
        // One that saves nothing is no fault.
        let all = excerpted(&host, &conversation, Policy::default(), vec![0..end]).await;
        assert_eq!(all.err(), Some(None));
        let forbidden = Policy::default().with_excerpts(false);
        let found = excerpted(&host, &conversation, forbidden, vec![good.clone()]).await;
        assert_eq!(found.err(), Some(Some(PlanRule::EditNotAllowed)));
        // Other words and excerpts are two rights.
        let verbatim = Policy::default().with_rewrite_outputs(false);
        let found = excerpted(&host, &conversation, verbatim, vec![good]).await;
        assert!(found.is_ok());
    });
}

#[test]
fn word_between_two_runs_is_never_hidden() {
    let (host, _) = host();
    let text = format!(
        "{} do not sail {}",
        "calm ".repeat(200),
        "storm ".repeat(200)
    );
    let conversation = host.read(document(&text)).expect("reads");
    let not = text.find("not").expect("is there") as u32;
    let end = text.len() as u32;
    runtime().block_on(async {
        let around = vec![not - 40..not, not + 4..not + 40];
        let compaction = excerpted(&host, &conversation, Policy::default(), around)
            .await
            .expect("a good plan");
        let (kept, _) = output(compaction.conversation());
        assert!(kept.contains("calm  do not sail storm"), "{kept}");
        // With nothing else left out, nothing is.
        let around = vec![0..not, not + 4..end];
        let found = excerpted(&host, &conversation, Policy::default(), around).await;
        assert_eq!(found.err(), Some(None));
    });
}

/// Lines of many kinds: also such as the host writes itself.
fn text() -> impl proptest::strategy::Strategy<Value = String> {
    let line = prop_oneof![
        (0..999u32).prop_map(|row| format!("row {row} of the tide table\n")),
        Just("\r\n".to_owned()),
        Just("[… 12 lines, 480 bytes left out …]\n".to_owned()),
        Just("\\[… 5 bytes left out …]\n".to_owned()),
        Just("[This text was too long for the context window and is shortened; whole: 0123456789abcdef0123]\n".to_owned()),
        Just("<baler:excerpt by=\"baler\" seal=\"1.0000000000000000\">x</baler:excerpt>\n".to_owned()),
        Just("潮汐表と水深の記録🌊".repeat(9)),
        Just("no line break ".repeat(20)),
    ];
    vec(line, 20..90).prop_map(|lines| lines.concat())
}

/// Runs with places between 0 and 1, whatever the length of the text.
fn runs(text: &str, places: &[f64]) -> Vec<Range<u32>> {
    let mut ends: Vec<usize> = places
        .iter()
        .map(|place| text.floor_char_boundary((place * text.len() as f64) as usize))
        .collect();
    ends.sort_unstable();
    ends.chunks_exact(2)
        .map(|run| run[0] as u32..run[1] as u32)
        .filter(|run| run.len() >= 16)
        .collect()
}

/// What an excerpt stands for, by the host's own account: bytes that it keeps and that it names as missing.
fn accounted(excerpt: &str) -> usize {
    let (_, body) = excerpt.split_once('\n').expect("a first line");
    Body::shortened_before(body).missing(0..body.len()).bytes
}

#[test]
fn chains_of_excerpts_add_up_keep_the_reference_and_are_undone_byte_for_byte() {
    let runtime = runtime();
    let (host, archive) = host();
    let cases = (text(), vec(vec(0.0..1.0f64, 2..9), 1..6), any::<bool>());
    let config = Config {
        cases: 300,
        failure_persistence: None,
        ..Config::default()
    };
    let done = std::cell::Cell::new([0; 2]);
    TestRunner::new(config)
        .run(&cases, |(whole, chain, _)| {
            runtime.block_on(async {
                let mut conversation = host.read(document(&whole)).expect("reads");
                let mut undo = Vec::new();
                let mut first_line: Option<String> = None;
                for places in &chain {
                    let (text, _) = output(&conversation);
                    let runs = runs(&text, places);
                    let before = conversation.document().to_owned();
                    let made = excerpted(&host, &conversation, Policy::default(), runs).await;
                    let Ok(compaction) = made else {
                        continue;
                    };
                    conversation = compaction.conversation().clone();
                    let (text, purpose) = output(&conversation);
                    prop_assert_eq!(purpose, Some(Purpose::Excerpt));
                    prop_assert_eq!(accounted(&text), whole.len(), "{}", text);
                    let (line, body) = text.split_once('\n').expect("a first line");
                    // It names the whole text, however often it was cut.
                    let line = first_line.get_or_insert_with(|| line.to_owned()).clone();
                    prop_assert!(text.starts_with(&line), "{}", text);
                    for own in body.split('\n').filter(|own| !Body::is_gap(own)) {
                        let own = own
                            .strip_prefix('\\')
                            .filter(|own| whole.contains(own))
                            .unwrap_or(own);
                        prop_assert!(whole.contains(own), "{:?} is not in the text", own);
                    }
                    let record = compaction.receipt().undo.clone().expect("is stored");
                    undo.push((record, before));
                    let [rounds, repeated] = done.get();
                    done.set([rounds + 1, repeated + usize::from(undo.len() > 1)]);
                }
                for (record, before) in &undo {
                    let undone = archive.undo(record).await;
                    prop_assert_eq!(undone.as_ref(), Ok(before));
                }
                if let Some(line) = first_line {
                    let (_, reference) = line.rsplit_once(' ').expect("a reference");
                    let unit = archive
                        .get(reference.trim_end_matches(']'))
                        .await
                        .expect("is stored");
                    let messages: serde_json::Value = serde_json::from_str(&unit).expect("JSON");
                    prop_assert_eq!(messages[1]["content"].as_str(), Some(whole.as_str()));
                }
                Ok::<(), TestCaseError>(())
            })
        })
        .unwrap_or_else(|error| panic!("{error}"));
    let [rounds, repeated] = done.get();
    assert!(rounds > 200 && repeated > 50, "{rounds} and {repeated}");
}
