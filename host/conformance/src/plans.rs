//! Plans for all cases in all situations.

use std::collections::BTreeMap;
use std::sync::Arc;

use baler_host::model::ModelGrant;
use baler_host::receipt::{Attempt, AttemptResult};
use baler_host::{Budget, Conversation, Host, Request, Strategy};

use crate::advice;
use crate::cases::{Case, SITUATIONS, Situation};
use crate::model::Scripted;
use crate::report::{Check, Example, Severity};

/// Share of all compactions that a strategy may give up before a user wonders what it is for.
const MOST_GIVEN_UP: usize = 50;

/// The same, from which on it is an error.
const HOPELESS: usize = 90;

/// Faults after which nothing more is asked: a strategy that never returns would take an hour.
const MOST_FAULTS: usize = 40;

/// Characters of a reason that are told.
const REASON: usize = 160;

/// Outcomes of all attempts, by number.
#[derive(Debug, Default)]
struct Outcomes {
    accepted: usize,
    declined: usize,
    failed: usize,
    faults: usize,
    /// What it said when it declined, by number.
    words: BTreeMap<String, usize>,
}

impl Outcomes {
    /// Returns what it said most often when it declined.
    fn said(&self) -> String {
        let most = self.words.iter().max_by_key(|(_, times)| **times);
        most.map_or_else(String::new, |(words, times)| {
            format!("; {times} times it said: {words}")
        })
    }

    const fn asked(&self) -> usize {
        self.accepted + self.declined + self.failed + self.faults
    }
}

/// Asks for a plan of each case in each situation, twice, and once more after the conversation went on.
///
/// # Errors
/// The host or the machine failed.
pub(crate) async fn checks(
    host: &Host,
    strategy: &Strategy,
    cases: &[Case],
    on_progress: &(dyn Fn(&'static str, usize) + Sync),
) -> anyhow::Result<Vec<Check>> {
    let (mut plans, mut outcomes) = (Check::new("plans", ""), Outcomes::default());
    let (mut later, mut later_outcomes) = (Check::new("later", ""), Outcomes::default());
    for case in cases {
        on_progress("plans", cases.len());
        let conversation = host.read(Arc::clone(&case.document))?;
        for situation in SITUATIONS {
            if outcomes.faults >= MOST_FAULTS {
                break;
            }
            let request = (situation.request)(&conversation).with_verify(true);
            let attempt = attempt(host, strategy, &conversation, request).await?;
            let example = || example(case, situation, Arc::clone(&case.document));
            count(&mut plans, &mut outcomes, attempt, example);
        }
        if outcomes.faults + later_outcomes.faults < MOST_FAULTS {
            go_on(host, strategy, case, (&mut later, &mut later_outcomes)).await?;
        }
    }
    plans.done = in_words(&outcomes, cases.len());
    if outcomes.faults >= MOST_FAULTS {
        plans.done += ", after which nothing more was asked";
    }
    let continued = cases.iter().filter(|case| case.generated.is_some());
    later.done = in_words(&later_outcomes, continued.count());
    let asked = outcomes.asked();
    let given_up = (outcomes.declined + outcomes.failed) * 100;
    let remedy =
        "make the plan fit the budget: remove more of the oldest units that are not protected";
    if outcomes.accepted == 0 {
        plans.add(
            Severity::Error,
            format!(
                "expected that it compacts something; found no accepted plan in {asked} attempts{}",
                outcomes.said()
            ),
            remedy,
        );
    } else if given_up > asked * MOST_GIVEN_UP {
        let severity = match given_up > asked * HOPELESS {
            true => Severity::Error,
            false => Severity::Warning,
        };
        plans.add(
            severity,
            format!(
                "it declined {} and failed {} times of {asked}, although each of these conversations can be made smaller{}",
                outcomes.declined,
                outcomes.failed,
                outcomes.said()
            ),
            remedy,
        );
    }
    Ok(vec![plans, later])
}

/// Compacts the first part of a conversation, continues the result with the rest, and compacts that.
async fn go_on(
    host: &Host,
    strategy: &Strategy,
    case: &Case,
    (check, outcomes): (&mut Check, &mut Outcomes),
) -> anyhow::Result<()> {
    let Some(generated) = &case.generated else {
        return Ok(());
    };
    let first = generated.messages.len() * 2 / 3;
    let conversation = host.read(generated.cut(first))?;
    let half = Request::new(Budget::Share(0.5));
    host.lift_quarantine();
    let compaction = host
        .compact(&conversation, std::slice::from_ref(strategy), &half)
        .await?;
    let mut longer = compaction.conversation().clone();
    let rest = generated.messages.iter().skip(first).map(String::as_str);
    // What follows may break a rule behind a result, such as a turn of the user behind one: that is no case.
    if longer.append_all(rest).is_err() || longer.is_broken() {
        return Ok(());
    }
    let attempt = attempt(host, strategy, &longer, half.with_verify(true)).await?;
    let example = || Example {
        name: format!("{}-later", case.name),
        options: Some("--budget 50%"),
        situation: "half, of a conversation that was compacted before",
        document: longer.document().into(),
    };
    count(check, outcomes, attempt, example);
    Ok(())
}

/// Checks that the strategy survives whatever a model does.
///
/// # Errors
/// The host or the machine failed.
pub(crate) async fn with_model(
    host: &Host,
    strategy: &Strategy,
    cases: &[Case],
) -> anyhow::Result<Check> {
    const LONG: &str = "-70";
    let (mut check, mut outcomes) = (Check::new("model", ""), Outcomes::default());
    let half = SITUATIONS[2];
    let long: Vec<&Case> = cases
        .iter()
        .filter(|case| case.name.ends_with(LONG))
        .collect();
    let models = Scripted::bad().into_iter();
    let granted = models.map(|(does, model)| (does, Some(ModelGrant::new(Arc::new(model)))));
    for (does, grant) in granted.chain([("is not granted", None)]) {
        let strategy = match grant {
            Some(grant) => strategy.clone().with_model(grant),
            None => strategy.clone(),
        };
        for case in &long {
            if outcomes.faults >= MOST_FAULTS {
                break;
            }
            let conversation = host.read(Arc::clone(&case.document))?;
            let request = (half.request)(&conversation);
            let attempt = attempt(host, &strategy, &conversation, request).await?;
            let example = || Example {
                situation: does,
                ..example(case, half, Arc::clone(&case.document))
            };
            count(&mut check, &mut outcomes, attempt, example);
        }
    }
    check.done = in_words(&outcomes, long.len());
    // Without an answer that is of use, a failure is what a host wants.
    check
        .findings
        .retain(|finding| finding.severity == Severity::Error);
    Ok(check)
}

/// Runs the strategy. Returns `None` if the host did not need it.
async fn attempt(
    host: &Host,
    strategy: &Strategy,
    conversation: &Conversation,
    request: Request,
) -> anyhow::Result<Option<Attempt>> {
    host.lift_quarantine();
    let chain = std::slice::from_ref(strategy);
    let request = request.with_free_text_in_receipt(true);
    let compaction = host.compact(conversation, chain, &request).await?;
    let attempts = compaction.receipt().attempts.first();
    Ok(attempts
        .filter(|attempt| attempt.strategy == strategy.name())
        .cloned())
}

fn count(
    check: &mut Check,
    outcomes: &mut Outcomes,
    attempt: Option<Attempt>,
    example: impl FnOnce() -> Example,
) {
    let Some(attempt) = attempt else {
        return;
    };
    match &attempt.result {
        AttemptResult::Accepted => outcomes.accepted += 1,
        AttemptResult::Declined => {
            outcomes.declined += 1;
            *outcomes.words.entry(words(&attempt)).or_default() += 1;
        }
        AttemptResult::Failure { .. } => {
            outcomes.failed += 1;
            let problem = format!("it declared a failure: {}", words(&attempt));
            let remedy = "correct what it says, unless it has to give up there: `--words` shows it with the log";
            check.add_example(Severity::Warning, problem, remedy, example());
        }
        AttemptResult::Fault { fault } => {
            outcomes.faults += 1;
            let remedy = advice::for_author(fault);
            check.add_example(Severity::Error, fault.to_string(), remedy, example());
        }
        _ => {}
    }
}

/// Returns what a strategy said when it gave up, without figures of the conversation.
fn words(attempt: &Attempt) -> String {
    let said = attempt.free_text.as_ref();
    let reason = said
        .and_then(|said| said.reason.as_deref())
        .unwrap_or("nothing");
    let reason = reason.replace(|c: char| c.is_ascii_digit(), "#");
    reason.chars().take(REASON).collect()
}

fn example(case: &Case, situation: Situation, document: Arc<str>) -> Example {
    Example {
        name: case.name.clone(),
        options: situation.options,
        situation: situation.words,
        document,
    }
}

fn in_words(outcomes: &Outcomes, conversations: usize) -> String {
    let Outcomes {
        accepted,
        declined,
        failed,
        faults,
        ..
    } = outcomes;
    format!(
        "{} questions about {conversations} conversations: {accepted} accepted, {declined} declined, {failed} failures, {faults} faults",
        outcomes.asked()
    )
}
