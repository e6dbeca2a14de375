//! Whether to compact now.

use std::sync::Arc;

use baler_host::receipt::AttemptResult;
use baler_host::strategy::Decision;
use baler_host::{Budget, Host, Request, Strategy};

use crate::advice;
use crate::cases::Case;
use crate::report::{Check, Example, Severity};

/// Faults of one kind after which nothing more is asked.
const MOST_FAULTS: usize = 10;

/// Asks of each case whether to compact it, far below its budget and far above.
///
/// # Errors
/// The host or the machine failed.
pub(crate) async fn check(
    host: &Host,
    strategy: &Strategy,
    cases: &[Case],
) -> anyhow::Result<Check> {
    let mut check = Check::new("should-compact", "");
    let (mut asked, mut decided, mut too_early) = (0, 0, 0);
    for case in cases {
        if check
            .findings
            .iter()
            .any(|finding| finding.times >= MOST_FAULTS)
        {
            break;
        }
        let conversation = host.read(Arc::clone(&case.document))?;
        for (situation, options, budget) in [
            (
                "a tenth of its budget is used",
                "--budget 1000%",
                conversation.tokens().saturating_mul(10),
            ),
            (
                "ten times its budget is used",
                "--budget 10%",
                conversation.tokens() / 10,
            ),
        ] {
            host.lift_quarantine();
            let request = Request::new(Budget::Tokens(budget.max(1)));
            let answer = host.should_compact(&conversation, strategy, &request).await;
            asked += 1;
            if let AttemptResult::Fault { fault } = &answer.attempt.result {
                let example = Example {
                    name: case.name.clone(),
                    options: (budget < conversation.tokens()).then_some(options),
                    situation,
                    document: Arc::clone(&case.document),
                };
                let remedy = advice::for_author(fault);
                check.add_example(Severity::Error, fault.to_string(), remedy, example);
            }
            decided += usize::from(answer.decision != Decision::HostDecides);
            let is_early = matches!(answer.decision, Decision::Compact(_));
            too_early += usize::from(is_early && budget > conversation.tokens());
        }
    }
    check.done = match decided {
        0 => "it leaves the decision to the host".to_owned(),
        _ => format!("it decides itself, {decided} times of {asked}"),
    };
    if too_early > cases.len() / 2 {
        check.add(
            Severity::Warning,
            format!("it wants to compact {too_early} of {} conversations that fill a tenth of their budget", cases.len()),
            "compare `situation.used` with `situation.budget`, or answer `host-decides`",
        );
    }
    Ok(check)
}
