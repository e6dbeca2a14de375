//! What the strategies of the gallery that ask a model have in common: each is a list of the units that it wants to keep
//! word for word, and a [`Task`] for the model.
//!
//! The systems whose strategies these are send the model their own transcript. Here all of them send that of
//! [`baler_strategy_core::summary`], in which no output can speak for the user, and refuse the same answers as every
//! strategy of baler.

mod choice;
mod instruction;
mod task;
pub mod testing;

use baler_strategy::{Conversation, Decision, Failure, Insertion, PlanBuilder, Report, Situation};
use baler_strategy_core::summary::{
    Question, Summary, UnitOutcome, earlier_summaries, summarize, summarize_with_usage,
    summary_position, wishes,
};
use instruction::instruction;

pub use baler_strategy_core::summarize::{newest_messages, newest_tokens};
pub use baler_strategy_core::summary::{Form, LIMITS, METRICS};
pub use instruction::Section;
pub use task::Task;

/// The reason codes of the plans.
pub const REASON_CODES: &[&str] = &["kept", "earlier", "summarized"];

/// Keeps the wanted units, most important first, as far as they fit with the protected ones and a summary, and lets the
/// model summarise the rest.
///
/// # Errors
/// Returns a failure if there is no model, no answer that is a summary, or too little room for one.
pub fn compact(
    conversation: &Conversation<'_>,
    situation: &Situation,
    wanted: &[usize],
    task: Task<'_>,
) -> Result<Report, Failure> {
    compact_with(conversation, situation, wanted, task, |_, _, _| {})
}

/// As [`compact`], for a task that depends on what is removed: `complete` gets these units, the most tokens of the summary
/// and of what it adds to the task, and the task.
///
/// # Errors
/// As [`compact`].
pub fn compact_with<'a>(
    conversation: &Conversation<'_>,
    situation: &Situation,
    wanted: &[usize],
    mut task: Task<'a>,
    complete: impl FnOnce(&[usize], u32, &mut Task<'a>),
) -> Result<Report, Failure> {
    let units = conversation.units();
    let framing = conversation.count(&task.framed(""));
    let Some(choice) = choice::choose(units, situation, wanted, framing, task.max_output_tokens)?
    else {
        return Ok(Report::unchanged(
            "there is nothing to summarise except units that are kept",
        ));
    };
    complete(&choice.removed(), choice.max_tokens, &mut task);
    let added = conversation.count(&task.framed("")).saturating_sub(framing);
    let outcomes = &choice.outcomes;
    let earlier = choice::units_of(outcomes, UnitOutcome::Earlier);
    let so_far = earlier_summaries(conversation, &earlier, task.header);
    let told = match &so_far {
        Some(_) if !task.update.is_empty() => &format!("{} {}", task.instruction, task.update),
        _ => task.instruction,
    };
    let question = Question {
        instruction: &instruction(told, task.sections),
        wishes: wishes(situation),
        so_far: so_far.as_deref(),
        form: task.form,
        max_output_tokens: task.max_output_tokens,
        max_tokens: (choice.max_tokens.saturating_sub(added)).min(task.max_output_tokens),
    };
    let shown = choice::shown(units, outcomes, task.max_input_tokens);
    let mut summary = summarize(conversation, &shown, &question)?;
    if let Some(told) = task.review {
        let told = instruction(told, task.sections);
        summary = reviewed(conversation, &shown, question, &told, summary);
    }
    let mut builder = PlanBuilder::removing_all(units.len());
    for (unit, outcome) in outcomes.iter().enumerate() {
        let code = match outcome {
            UnitOutcome::Kept => "kept",
            UnitOutcome::Earlier => "earlier",
            UnitOutcome::Summarized => "summarized",
        };
        builder.reason(unit..unit + 1, code);
        if *outcome == UnitOutcome::Kept {
            builder.keep(unit);
        }
    }
    builder.insert(
        summary_position(outcomes),
        Insertion::summary(task.framed(&summary.text)),
    );
    let summarized = choice::units_of(outcomes, UnitOutcome::Summarized).len();
    Ok(summary.add_to(Report::compacted(builder.build()?), summarized))
}

/// Returns the summary that the model gives after it has compared its first one with the conversation, or else the first.
fn reviewed(
    conversation: &Conversation<'_>,
    shown: &[usize],
    question: Question<'_>,
    instruction: &str,
    first: Summary,
) -> Summary {
    let question = Question {
        instruction,
        so_far: Some(&first.text),
        ..question
    };
    let (second, mut usage) = summarize_with_usage(conversation, shown, &question);
    usage.calls += first.usage.calls;
    usage.input_tokens += first.usage.input_tokens;
    usage.output_tokens += first.usage.output_tokens;
    Summary {
        usage,
        ..second.unwrap_or(first)
    }
}

/// Returns the units from `first` on, newest first: the order in which they are wanted.
pub fn newest_first(conversation: &Conversation<'_>, first: usize) -> Vec<usize> {
    (first..conversation.units().len()).rev().collect()
}

/// Decides by the tokens in use. `None`: the host decides, because the context window is not known.
pub fn decide(situation: &Situation, threshold: Option<u32>) -> Decision {
    let used = situation.used;
    match threshold {
        None => Decision::HostDecides,
        Some(threshold) if used >= threshold => {
            Decision::Compact(format!("{used} of {threshold} tokens are in use"))
        }
        Some(threshold) => Decision::Wait(format!("only {used} of {threshold} tokens are in use")),
    }
}

/// Returns a share of the context window, `None` if the window is not known.
pub fn share_of_window(situation: &Situation, share: f64) -> Option<u32> {
    #[expect(
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "truncation is meant, and no share is negative"
    )]
    let tokens = (f64::from(situation.context_window) * share) as u32;
    (situation.context_window > 0).then_some(tokens)
}

/// Returns the context window without a reserve, `None` if the window is not known.
pub fn window_without(situation: &Situation, reserve: u32) -> Option<u32> {
    (situation.context_window > 0).then(|| situation.context_window.saturating_sub(reserve))
}

/// Checks that a share is over 0 and at most 1.
///
/// # Errors
/// Returns a message that names the field, the allowed values and the value found.
pub fn check_share(field: &str, share: f64) -> Result<(), String> {
    if share > 0.0 && share <= 1.0 {
        return Ok(());
    }
    Err(format!("`{field}` must be over 0 and at most 1: {share}"))
}
