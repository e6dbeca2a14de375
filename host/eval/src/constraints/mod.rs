//! Constraints: whether a sentence in which the user says how to work is still there after a compaction, word for word.
//!
//! Each conversation gets one sentence, chosen by the hash of its content. It is put into the first message of the
//! user, into one in the middle, or into a late one ([`put`]). Each of these three conversations is then compacted at
//! the same cuts and budgets as the conversation itself.

mod put;
mod sentence;
mod table;

pub(crate) use table::{json, markdown};

use baler_host::{Host, Receipt, Strategy, conversation::Unit};
use serde::{Deserialize, Serialize};

use crate::baselines::Baseline;
use crate::cases::{self, Case};
use crate::corpus::Recording;
use crate::message::{Message, PartKind, Role};
use crate::options::Options;
use sentence::Constraint;

/// What a constraint is about.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum ConstraintKind {
    /// What the agent may do.
    Action,
    /// What the agent may use or tell.
    Information,
    /// In which order the agent works, and when it asks.
    Process,
    /// What the user likes better.
    Preference,
    /// The form of what the agent hands over.
    Output,
}

impl ConstraintKind {
    /// All kinds, in the order of tables.
    pub const ALL: [Self; 5] = [
        Self::Action,
        Self::Information,
        Self::Process,
        Self::Preference,
        Self::Output,
    ];

    /// Returns the name in tables.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Action => "action",
            Self::Information => "information",
            Self::Process => "process",
            Self::Preference => "preference",
            Self::Output => "output",
        }
    }
}

/// Which message of the user has the constraint.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum ConstraintPlace {
    /// The first one.
    First,
    /// One in the middle.
    Middle,
    /// The last one before the newest.
    Late,
}

impl ConstraintPlace {
    /// All places, in the order of the conversation.
    pub const ALL: [Self; 3] = [Self::First, Self::Middle, Self::Late];
}

/// Whether one constraint is there after one compaction.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub struct ConstraintRow {
    /// The number of messages before the cut, without one that was inserted for the constraint.
    pub cut: usize,
    /// The budget as a share of the history, in thousandths.
    pub budget: u32,
    /// The name of the strategy or baseline.
    pub strategy: String,
    /// Which message has the constraint.
    pub place: ConstraintPlace,
    /// What it is about.
    pub kind: ConstraintKind,
    /// Whether it has a word such as *never* or *always*.
    pub absolute: bool,
    /// Its language, as a code of ISO 639-1.
    pub language: String,
    /// Whether it is there word for word.
    pub kept: bool,
    /// Whether all of the user's words fit into their share of the budget, so that the host keeps them.
    pub within_share: bool,
}

/// Measures what strategies and baselines keep of the constraint of a conversation. A place is left out at cuts at
/// which the format allows no message of the user there.
///
/// # Errors
/// The host or the machine failed during the attempt of a strategy.
pub(crate) async fn measure(
    host: &Host,
    strategies: &[Strategy],
    record: &Recording,
    cases: &[Case],
    options: &Options,
) -> anyhow::Result<Vec<ConstraintRow>> {
    let constraint = Constraint::of(&record.content_hash());
    let mut rows = Vec::new();
    for original in cases {
        for place in ConstraintPlace::ALL {
            let with_constraint =
                put::put(host, &original.conversation, place, &constraint.sentence);
            let Some(conversation) = with_constraint else {
                continue;
            };
            let case = Case::of_history(conversation);
            let words = tokens_of_users_words(&case);
            for (budget, room) in case.rooms(options) {
                let mut found: Vec<(&str, bool)> = Vec::new();
                for baseline in Baseline::ALL {
                    let kept = baseline.keep(&case, room);
                    found.push((baseline.name(), constraint.is_in(&kept)));
                }
                let mut within_share = false;
                for strategy in strategies {
                    let compaction = case.compacted(host, strategy, room, &options.pins).await?;
                    // The same for all strategies, because the host protects before it asks one.
                    within_share = are_within_share(words, compaction.receipt());
                    let units = cases::read(compaction.conversation());
                    found.push((strategy.name(), constraint.is_in(units.iter().flatten())));
                }
                rows.extend(found.into_iter().map(|(strategy, kept)| ConstraintRow {
                    cut: original.cut,
                    budget,
                    strategy: strategy.to_owned(),
                    place,
                    kind: constraint.kind,
                    absolute: constraint.absolute,
                    language: constraint.language.to_owned(),
                    kept,
                    within_share,
                }));
            }
        }
    }
    Ok(rows)
}

/// Returns the tokens of all units with the user's words.
fn tokens_of_users_words(case: &Case) -> u64 {
    let units = case.conversation.units().iter().zip(&case.units);
    units
        .filter(|(unit, messages)| has_users_words(unit, messages))
        .map(|(unit, _)| u64::from(unit.tokens))
        .sum()
}

/// Whether so many tokens of the user's words fit into the share of the free budget that the host keeps for them: half
/// of it by default. The floor includes the words that the host keeps anyway, so the words fit more often than this
/// says.
fn are_within_share(words: u64, receipt: &Receipt) -> bool {
    let free = receipt.tokens.budget.saturating_sub(receipt.tokens.floor);
    words * 2 <= u64::from(free)
}

/// Whether the user says something in a unit, or shows pictures. What programs write as the user does not count.
pub(crate) fn has_users_words(unit: &Unit, messages: &[Message]) -> bool {
    let mut texts = messages
        .iter()
        .filter(|message| message.role == Role::User)
        .flat_map(|message| &message.parts)
        .filter(|part| part.kind == PartKind::Text)
        .peekable();
    unit.traits.user_text
        && (texts.peek().is_none()
            || texts.any(|part| !baler_provenance::is_by_program(&part.text)))
}

#[cfg(test)]
mod tests {
    use baler_host::conversation::UnitKind;
    use baler_host::{Budget, Request};
    use serde_json::json;

    use super::*;
    use crate::corpus::{CHAT, RecordingKind};

    const TASK: &str = "Paint the boat, and mind the tide.";

    /// A conversation of short messages of the user, between steps with long outputs.
    fn record() -> Recording {
        let mut messages = Vec::new();
        for part in 0..6 {
            messages.push(json!({"role": "user", "content": format!("{TASK} Part {part}.")}));
            let id = format!("call-{part}");
            let call = json!({"id": id, "type": "function", "function": {"name": "look", "arguments": "{\"at\": \"hull.md\"}"}});
            messages.push(json!({"role": "assistant", "content": null, "tool_calls": [call]}));
            let output = "The planks are dry and grey. ".repeat(200);
            messages.push(json!({"role": "tool", "tool_call_id": id, "content": output}));
            messages.push(json!({"role": "assistant", "content": "Its hull is dry."}));
        }
        Recording {
            set: "yard".to_owned(),
            id: "boat.json#0".to_owned(),
            kind: RecordingKind::Document,
            format: CHAT,
            document: json!({"model": "gpt-4o", "messages": messages}).to_string(),
            wanted: Vec::new(),
            questions: Ok(Vec::new()),
            needs: Vec::new(),
        }
    }

    fn case(host: &Host) -> Case {
        Case::of_history(host.read(record().document).expect("reads"))
    }

    fn of<'r>(rows: &'r [ConstraintRow], strategy: &str) -> Vec<&'r ConstraintRow> {
        rows.iter().filter(|row| row.strategy == strategy).collect()
    }

    fn block_on<T>(work: impl Future<Output = T>) -> T {
        let runtime = tokio::runtime::Builder::new_current_thread()
            .enable_all()
            .build()
            .expect("a runtime");
        runtime.block_on(work)
    }

    #[test]
    fn each_place_is_measured_for_each_strategy_baseline_and_budget() {
        let host = Host::builder().build().expect("a host");
        let options = Options {
            budgets: vec![0.1, 1.0],
            ..Options::default()
        };
        let strategies = [Strategy::truncate()];
        let cases = [case(&host)];
        let record = record();
        let rows = block_on(measure(&host, &strategies, &record, &cases, &options));
        let rows = rows.expect("the host works");
        assert_eq!(rows.len(), 2 * 3 * (Baseline::ALL.len() + 1));
        assert!(rows.iter().all(|row| row.cut == 24));
        assert!(rows.iter().all(|row| row.kind == rows[0].kind));
        // A tenth is a tenth of the outputs: less than the newest step has.
        let places = |strategy: &str, budget: u32| -> Vec<ConstraintPlace> {
            let rows = of(&rows, strategy).into_iter();
            let kept = rows.filter(|row| row.budget == budget && row.kept);
            kept.map(|row| row.place).collect()
        };
        assert_eq!(places("keep-last", 100), [] as [ConstraintPlace; 0]);
        assert_eq!(places("first+last", 100), [ConstraintPlace::First]);
        for strategy in ["keep-last", "first+last", "mask", "random"] {
            assert_eq!(places(strategy, 1_000), ConstraintPlace::ALL, "{strategy}");
        }
    }

    #[test]
    fn user_words_are_within_their_share_up_to_half_of_what_is_free() {
        let host = Host::builder().build().expect("a host");
        let case = case(&host);
        let units = case.conversation.units().iter();
        let users = units.filter(|unit| unit.kind == UnitKind::User);
        let words: u32 = users.map(|unit| unit.tokens).sum();
        let request = Request::default().with_budget(Budget::Share(0.5));
        let chain = [Strategy::truncate()];
        let compaction = block_on(host.compact(&case.conversation, &chain, &request));
        let mut receipt = compaction.expect("the host works").receipt().clone();
        receipt.tokens.floor = 700;
        receipt.tokens.budget = 700 + 2 * words;
        let words = tokens_of_users_words(&case);
        assert!(are_within_share(words, &receipt));
        receipt.tokens.budget -= 1;
        assert!(!are_within_share(words, &receipt));
    }

    #[test]
    fn words_of_programs_are_not_the_users() {
        let host = Host::builder().build().expect("a host");
        let picture =
            json!({"type": "image_url", "image_url": {"url": "data:image/png;base64,AAAA"}});
        for (content, expected) in [
            (json!("Mind the tide."), true),
            (
                json!("<system-reminder>\nMind the tide.\n</system-reminder>"),
                false,
            ),
            (
                json!("Mind the tide.\n<system-reminder>\nIt is late.\n</system-reminder>"),
                true,
            ),
            (json!([picture]), true),
        ] {
            let document = json!([{"role": "user", "content": content}]).to_string();
            let conversation = host.read(document).expect("reads");
            let messages = cases::read(&conversation);
            let is_users = has_users_words(&conversation.units()[0], &messages[0]);
            assert_eq!(is_users, expected, "{content}");
        }
    }
}
