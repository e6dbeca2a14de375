//! Cuts of a conversation: the history before, and what of it was needed after.

use std::borrow::Cow;
use std::collections::{HashMap, HashSet};

use baler_host::{
    Conversation, Format, Host, Pins,
    conversation::{ReadOptions, Unit, UnitKind},
};
use serde_json::Value;

use crate::corpus::{Need, Question, Recording, RecordingKind, WantedCall};
use crate::evidence::Evidence;
use crate::fingerprint::thousandths;
use crate::message::{Message, PartKind, Role, strings};
use crate::names::{self, Name, NameKind};
use crate::options::Options;
use crate::run::SkipReason;
use crate::state::{self, LastAction};
use crate::{paths, search, unseen};

/// The number of messages after a cut in which uses are looked for.
const AHEAD: usize = 60;

/// The least number of needed names at which recall is measured.
pub(crate) const MIN_NEEDED: usize = 5;

/// The cuts, as shares of the units. A conversation with questions is also cut at its end.
const CUTS: [f64; 3] = [0.4, 0.6, 0.8];

/// The most compactions of a log that are measured. Each reads the log up to it, so the cost is quadratic in
/// their number.
const MAX_RECORDED: usize = 64;

/// A name that was last mentioned before this share of the history is far.
const FAR: f64 = 0.75;

/// A conversation up to a cut, and what was needed of it.
#[derive(Debug)]
pub(crate) struct Case {
    /// The number of messages before the cut.
    pub(crate) cut: usize,
    /// The conversation up to the cut, which strategies compact.
    pub(crate) conversation: Conversation,
    /// The messages of each unit.
    pub(crate) units: Vec<Vec<Message>>,
    /// Characters of the history without instructions.
    pub(crate) size: usize,
    /// The names that are needed after the cut.
    pub(crate) needed: Vec<Needed>,
    /// What was done last with files and ids that are needed.
    pub(crate) last_actions: Vec<LastAction>,
    /// What came after the cut, as far as it is looked at.
    pub(crate) next: Vec<Message>,
    /// The user's sentences with a rule, with one space between words.
    pub(crate) rules: Vec<String>,
    /// The last line of tool output that reports an error.
    pub(crate) error: Option<String>,
    /// Values that the task needs and that were not used yet.
    pub(crate) wanted: Vec<String>,
    /// The questions about the history, and the messages that they name.
    pub(crate) evidence: Evidence,
    /// What must still be known, if the cut is the end.
    pub(crate) needs: Vec<Need>,
    /// The summary that the program wrote at this cut.
    pub(crate) recorded: Option<String>,
}

/// A name in the history that was used later.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Needed {
    pub(crate) name: Name,
    /// The distinguishing end of a path; otherwise the name itself.
    pub(crate) end: String,
    /// Whether the name was last mentioned long before the cut.
    pub(crate) is_far: bool,
    /// Whether the name was used in the arguments of a call.
    pub(crate) in_arguments: bool,
}

impl Case {
    /// Returns a history of which nothing is known to be needed.
    pub(crate) fn of_history(conversation: Conversation) -> Self {
        let units = read(&conversation);
        let history = || units.iter().flatten();
        Self {
            cut: history().count(),
            size: history().map(Message::size).sum(),
            needed: Vec::new(),
            last_actions: Vec::new(),
            next: Vec::new(),
            rules: Vec::new(),
            error: None,
            wanted: Vec::new(),
            evidence: Evidence::default(),
            needs: Vec::new(),
            recorded: None,
            units,
            conversation,
        }
    }

    /// Returns the characters of the protected units: the newest user message, pins, pending calls, and
    /// unseen outputs at their shortest.
    pub(crate) fn floor(&self, options: &Options) -> usize {
        let units = self.conversation.units();
        let newest = units.iter().rposition(|unit| unit.kind == UnitKind::User);
        let first = units
            .iter()
            .position(|unit| unit.kind == UnitKind::User)
            .filter(|_| options.pins == Pins::FirstUser);
        let stays = |(index, unit): &(usize, &Unit)| {
            Some(*index) == newest || Some(*index) == first || unit.traits.pending
        };
        let shortest = unseen::shortest(&self.units);
        let sizes = self.sizes().into_iter().zip(shortest);
        let of_units = units.iter().enumerate().zip(sizes);
        let protected = of_units.filter(|(unit, (_, shortest))| shortest.is_some() || stays(unit));
        protected
            .map(|(_, (size, shortest))| shortest.unwrap_or(size))
            .sum()
    }

    /// Returns the budgets in characters, each with its share of the history in thousandths; 0 at a recorded
    /// compaction.
    pub(crate) fn rooms(&self, options: &Options) -> Vec<(u32, usize)> {
        let floor = self.floor(options);
        match &self.recorded {
            Some(summary) => vec![(0, summary.chars().count())],
            None => options
                .budgets
                .iter()
                .map(|share| {
                    // If the protected units are larger, they are the budget for all.
                    let room = (self.size as f64 * share) as usize;
                    (thousandths(*share), room.max(floor))
                })
                .collect(),
        }
    }

    /// Returns the size of each unit.
    pub(crate) fn sizes(&self) -> Vec<usize> {
        let size = |unit: &Vec<Message>| unit.iter().map(Message::size).sum();
        self.units.iter().map(size).collect()
    }
}

/// Returns the cuts of a recorded conversation at which something can be measured; with `recorded`, those at
/// the program's own compactions.
///
/// Questions are measured at the end, for which they were written. At earlier cuts only those with early
/// evidence could be measured, and these would count several times.
pub(crate) fn cases(
    host: &Host,
    record: &Recording,
    recorded: bool,
) -> Result<Vec<Case>, SkipReason> {
    if recorded {
        return Ok(recorded_cases(host, record));
    }
    let whole = whole(host, record)?;
    let units = read(&whole);
    let mut cuts: Vec<usize> = CUTS
        .iter()
        .map(|share| (units.len() as f64 * share) as usize)
        .filter(|cut| *cut > 0)
        .collect();
    cuts.dedup();
    let questions = record.questions.as_deref().unwrap_or_default();
    if !questions.is_empty() || !record.needs.is_empty() {
        cuts.push(units.len());
    }
    let cases = cuts.into_iter().filter_map(|cut| {
        let document = first_units(&whole, cut)?;
        let conversation = read_as(host, document, Some(whole.format()))?;
        let behind: Vec<&Message> = units[cut..].iter().flatten().collect();
        let asked = match cut == units.len() {
            true => Asked {
                questions,
                needs: &record.needs,
            },
            false => Asked::default(),
        };
        case(conversation, &behind, &record.wanted, asked, None)
    });
    Ok(cases.collect())
}

/// Reads a recorded conversation as if its program had compacted nothing.
pub(crate) fn whole(host: &Host, record: &Recording) -> Result<Conversation, SkipReason> {
    let document = match record.kind {
        RecordingKind::Log => without_compactions(&record.document),
        RecordingKind::Document => record.document.clone(),
    };
    let format = match record.kind {
        RecordingKind::Log => None,
        RecordingKind::Document => record.format.parse().ok(),
    };
    let whole = read_as(host, document, format).ok_or(SkipReason::Unread)?;
    match whole.is_broken() {
        true => Err(SkipReason::Invalid),
        false => Ok(whole),
    }
}

/// Reads a document in this format, or in the one that is detected. `None` if it cannot be read.
pub(crate) fn read_as(
    host: &Host,
    document: String,
    format: Option<Format>,
) -> Option<Conversation> {
    let options = ReadOptions::default().with_format(format);
    host.read_with(document.into_bytes(), options).ok()
}

/// Returns the cuts at which a program compacted by itself.
fn recorded_cases(host: &Host, record: &Recording) -> Vec<Case> {
    if record.kind != RecordingKind::Log {
        return Vec::new();
    }
    let mut cases = Vec::new();
    let mut at = 0;
    let mut ends: Vec<usize> = Vec::new();
    for line in record.document.split_inclusive('\n') {
        if CompactionMarks::of(line).is_boundary() {
            ends.push(at);
        }
        at += line.len();
    }
    for (place, end) in ends.iter().enumerate().take(MAX_RECORDED) {
        let next = ends
            .get(place + 1)
            .copied()
            .unwrap_or(record.document.len());
        let (Ok(before), Ok(after)) = (
            host.read(&record.document[..*end]),
            host.read(&record.document[..next]),
        ) else {
            continue;
        };
        let behind = read(&after);
        // The host reads from the newest compaction on: first its summary, then the messages after it.
        let units = after.units().iter().zip(&behind);
        let is_summary = |(unit, _): &(&Unit, &Vec<Message>)| unit.kind == UnitKind::Summary;
        let (own, came): (Vec<_>, Vec<_>) = units.partition(is_summary);
        let own = own.into_iter().flat_map(|(_, messages)| messages);
        let own = own.flat_map(|message| &message.parts);
        let summary: String = own.map(|part| without_tags(&part.text)).collect();
        let came = came.into_iter().flat_map(|(_, messages)| messages);
        let came: Vec<&Message> = came.collect();
        let summaries = before.recorded_summaries();
        let options = ReadOptions::default()
            .with_format(before.format())
            .with_recorded_summaries(&summaries);
        let Ok(body) = host.read_with(before.document().as_bytes().to_vec(), options) else {
            continue;
        };
        if summary.is_empty() || body.is_broken() {
            continue;
        }
        cases.extend(case(body, &came, &[], Asked::default(), Some(summary)));
    }
    cases
}

/// Removes the tags that the host puts around a recorded summary.
fn without_tags(text: &str) -> &str {
    let inner = text
        .strip_prefix("<baler:recorded ")
        .and_then(|rest| rest.split_once(">\n"))
        .and_then(|(_, rest)| rest.strip_suffix("\n</baler:recorded>"));
    inner.unwrap_or(text)
}

/// What a file asks about its conversation.
#[derive(Clone, Copy, Default)]
struct Asked<'a> {
    questions: &'a [Question],
    needs: &'a [Need],
}

fn case(
    conversation: Conversation,
    behind: &[&Message],
    wanted: &[WantedCall],
    Asked { questions, needs }: Asked<'_>,
    recorded: Option<String>,
) -> Option<Case> {
    let case = Case::of_history(conversation);
    let history: Vec<&Message> = case.units.iter().flatten().collect();
    let needed = needed(&history, behind, &case.conversation);
    let wanted = open_values(&history, wanted);
    let evidence = Evidence::of(questions, &history);
    let is_needed = needed.len() >= MIN_NEEDED || !wanted.is_empty() || !needs.is_empty();
    if case.size == 0 || (!is_needed && evidence.is_empty()) {
        return None;
    }
    let next = behind.iter().take(AHEAD);
    Some(Case {
        rules: rules(&case.conversation, &case.units),
        error: last_error(&history),
        last_actions: state::last_actions(&history, &needed),
        next: next.map(|message| (*message).clone()).collect(),
        needed: if needed.len() < MIN_NEEDED {
            Vec::new()
        } else {
            needed
        },
        wanted,
        evidence,
        needs: needs.to_vec(),
        recorded,
        ..case
    })
}

/// Reads the messages of each unit of a conversation.
pub(crate) fn read(conversation: &Conversation) -> Vec<Vec<Message>> {
    let format = conversation.format().to_string();
    (0..conversation.units().len())
        .map(|unit| {
            let raw = conversation.raw_messages(unit);
            raw.map(|raw| Message::read(&format, raw)).collect()
        })
        .collect()
}

/// Returns the names of the history that the model is the first to mention after the cut.
pub(crate) fn needed(
    history: &[&Message],
    behind: &[&Message],
    conversation: &Conversation,
) -> Vec<Needed> {
    let total: usize = history.iter().map(|message| message.size()).sum();
    let far = total as f64 * FAR;
    let mut last: HashMap<Name, usize> = HashMap::new();
    let mut instructions: HashSet<Name> = HashSet::new();
    names::each(&system(conversation), |kind, name| {
        instructions.insert((kind, name.to_owned()));
    });
    let mut at = 0;
    for message in history {
        for part in &message.parts {
            names::each(&part.text, |kind, name| {
                let name = (kind, name.to_owned());
                if message.role == Role::Instructions {
                    instructions.insert(name);
                } else {
                    last.insert(name, at);
                }
            });
        }
        at += message.size();
    }
    let mut seen: HashSet<Name> = HashSet::new();
    let mut needed = Vec::new();
    for message in behind.iter().take(AHEAD) {
        let mut new: HashMap<Name, bool> = HashMap::new();
        let mut order = Vec::new();
        for part in &message.parts {
            if part.kind == PartKind::Thinking {
                continue;
            }
            names::each(&part.text, |kind, name| {
                let name = (kind, name.to_owned());
                if seen.contains(&name) {
                    return;
                }
                let in_call = part.kind == PartKind::Call;
                match new.get_mut(&name) {
                    Some(in_arguments) => *in_arguments |= in_call,
                    None => {
                        order.push(name.clone());
                        new.insert(name, in_call);
                    }
                }
            });
        }
        for name in order {
            let in_arguments = new.get(&name).copied().unwrap_or(false);
            if message.role == Role::Assistant
                && let Some(at) = last.get(&name)
                && !instructions.contains(&name)
            {
                needed.push(Needed {
                    is_far: (*at as f64) < far,
                    in_arguments,
                    end: end_of(&name, &last),
                    name: name.clone(),
                });
            }
            seen.insert(name);
        }
    }
    needed
}

/// Returns the end that distinguishes a path from the others of the history, or another name itself.
fn end_of((kind, name): &Name, last: &HashMap<Name, usize>) -> String {
    let paths = last.keys().filter(|(kind, _)| *kind == NameKind::Path);
    match kind {
        NameKind::Path => paths::distinguishing_end(name, paths.map(|(_, path)| path.as_str())),
        _ => name,
    }
    .to_owned()
}

/// Returns the system prompt, if it is not among the messages.
fn system(conversation: &Conversation) -> String {
    let Ok(body) = serde_json::from_str::<Value>(conversation.document()) else {
        return String::new();
    };
    let mut found = Vec::new();
    for name in [
        "system",
        "instructions",
        "systemInstruction",
        "system_instruction",
    ] {
        if let Some(value) = body.get(name) {
            strings(value, &mut found);
        }
    }
    found.join("\n")
}

/// Returns the user's sentences with never, always, must, do not, don't or only, without their final
/// punctuation. Summaries of earlier compactions do not count.
pub(crate) fn rules(conversation: &Conversation, units: &[Vec<Message>]) -> Vec<String> {
    let mut found: Vec<String> = Vec::new();
    let mut known: HashSet<String> = HashSet::new();
    let own = conversation
        .units()
        .iter()
        .zip(units)
        .filter(|(unit, _)| unit.kind != UnitKind::Summary)
        .flat_map(|(_, message)| message)
        .filter(|message| message.role == Role::User)
        .flat_map(|message| &message.parts)
        .filter(|part| part.kind == PartKind::Text);
    for part in own {
        // Texts that programs write into the user's messages are not rules of the user.
        let words = crate::words::users_words(&part.text);
        crate::words::each_sentence(&words, &mut |sentence| {
            let is_question = sentence.ends_with(['?', '？', '؟']);
            let sentence = sentence.trim_end_matches(['.', '!', '?']);
            let sentence = crate::words::on_one_line(sentence);
            if !is_question && is_rule(&sentence) && known.insert(sentence.clone()) {
                found.push(sentence);
            }
        });
    }
    found
}

fn is_rule(sentence: &str) -> bool {
    let lower = sentence.to_lowercase().replace('’', "'");
    let words: Vec<&str> = lower
        .split(|c: char| !c.is_alphanumeric() && c != '_' && c != '\'')
        .filter(|word| !word.is_empty())
        .collect();
    words
        .iter()
        .any(|word| matches!(*word, "never" | "always" | "must" | "don't" | "only"))
        || words.windows(2).any(|pair| pair == ["do", "not"])
}

fn last_error(history: &[&Message]) -> Option<String> {
    let outputs = history
        .iter()
        .rev()
        .flat_map(|message| message.parts.iter().rev())
        .filter(|part| part.kind == PartKind::Output);
    outputs
        .flat_map(|part| part.text.lines().rev().map(str::trim))
        .find(|line| crate::words::reports_error(line))
        .map(str::to_owned)
}

/// Returns the values of wanted calls that were not made yet, as far as the history contains them.
fn open_values(history: &[&Message], wanted: &[WantedCall]) -> Vec<String> {
    if wanted.is_empty() {
        return Vec::new();
    }
    let parts = || {
        history
            .iter()
            .filter(|message| message.role != Role::Instructions)
            .flat_map(|message| &message.parts)
    };
    let calls = parts().filter(|part| part.kind == PartKind::Call);
    let made: HashSet<&str> = calls.map(|part| part.text.as_str()).collect();
    let mut open: Vec<String> = Vec::new();
    for call in wanted {
        let mut values = Vec::new();
        strings(&call.arguments, &mut values);
        let whole = values.join("\n");
        if !made.contains(whole.as_str()) {
            open.extend(values);
        }
    }
    open.sort();
    open.dedup();
    let known = search::contained_in(&open, parts().map(|part| part.text.as_str()));
    let open = open.into_iter().zip(known);
    open.filter_map(|(value, is_known)| is_known.then_some(value))
        .collect()
}

/// Returns the document with its first units only.
fn first_units(conversation: &Conversation, units: usize) -> Option<String> {
    let document = conversation.document();
    let last = conversation.raw_messages(units.checked_sub(1)?).last()?;
    let count = conversation.units().len();
    let end_of = |raw: &str| {
        // The messages of a conversation are slices of its document.
        let start = raw.as_ptr().addr().checked_sub(document.as_ptr().addr())?;
        Some(start + raw.len())
    };
    let end = end_of(last)?;
    let tail = end_of(conversation.raw_messages(count.checked_sub(1)?).last()?)?;
    Some(format!("{}{}", document.get(..end)?, document.get(tail..)?))
}

/// Returns a log as if nothing had been compacted.
fn without_compactions(log: &str) -> String {
    log.split_inclusive('\n')
        .filter(|line| {
            let of = CompactionMarks::of(line);
            !of.is_boundary() && !of.is_compact_summary
        })
        .collect()
}

/// The fields of a log's line that mark a compaction.
#[derive(Default, serde::Deserialize)]
#[serde(rename_all = "camelCase", default)]
struct CompactionMarks<'a> {
    #[serde(borrow)]
    subtype: Option<Cow<'a, str>>,
    is_compact_summary: bool,
}

impl<'a> CompactionMarks<'a> {
    fn of(line: &'a str) -> Self {
        serde_json::from_str(line).unwrap_or_default()
    }

    fn is_boundary(&self) -> bool {
        self.subtype.as_deref() == Some("compact_boundary")
    }
}

#[cfg(test)]
mod tests {
    use std::time::{Duration, Instant};

    use serde_json::json;

    use super::*;

    /// A message of the format OpenAI Chat.
    fn message(message: &Value) -> Message {
        Message::read("openai-chat", &message.to_string())
    }

    #[test]
    fn open_values_are_those_of_calls_that_were_not_made() {
        let call = json!({"role": "assistant", "tool_calls": [{"function": {"name": "book", "arguments": "{\"id\":\"W1\"}"}}]});
        let history = [
            message(&json!({"role": "system", "content": "W4"})),
            message(&json!({"role": "user", "content": "Book W1, and then W2."})),
            message(&call),
        ];
        let history: Vec<&Message> = history.iter().collect();
        let wanted = ["W2", "W1", "W2", "W3", "W4"].map(|id| WantedCall {
            name: "book".to_owned(),
            arguments: json!({"id": id}),
        });
        assert_eq!(open_values(&history, &wanted), ["W2"]);
    }

    #[test]
    fn without_tags_returns_the_recorded_summary() {
        let words = "W1 is > booked.\nW2 is not.";
        let line = |number: usize, is_summary: bool, content: &str| {
            let line = json!({"type": "user", "sessionId": "s", "uuid": number.to_string(), "parentUuid": (number > 1).then_some("1"),
                "isCompactSummary": is_summary, "message": {"role": "user", "content": content}});
            format!("{line}\n")
        };
        let log = line(1, true, words) + &line(2, false, "Go on.");
        let host = Host::builder().build().expect("a host");
        let conversation = host.read(log).expect("reads");
        let summary = &read(&conversation)[0][0].parts[0].text;
        assert_ne!(summary, words);
        assert_eq!(without_tags(summary), words);
        assert_eq!(without_tags(words), words);
    }

    #[test]
    fn rules_are_whole_sentences_whatever_their_line_breaks() {
        let text = "Do not\n  use HX-77120; only\tTS-11 is yours, e.g. for a.rs. Never push!\n\nNever do these:\n- delete files";
        let document = json!([{"role": "user", "content": text}]).to_string();
        let host = Host::builder().build().expect("a host");
        let conversation = host.read(document).expect("reads");
        assert_eq!(
            rules(&conversation, &read(&conversation)),
            [
                "Do not use HX-77120; only TS-11 is yours, e.g. for a.rs",
                "Never push",
                "Never do these: - delete files"
            ]
        );
    }

    #[test]
    fn many_wanted_calls_and_rules_do_not_take_quadratic_time() {
        const MANY: usize = 30_000;
        let start = Instant::now();
        let wanted: Vec<WantedCall> = (0..MANY)
            .map(|number| WantedCall {
                name: "book".to_owned(),
                arguments: json!({"id": format!("v{number}w")}),
            })
            .collect();
        let history: Vec<Message> = (0..MANY)
            .map(|number| message(&json!({"role": "user", "content": format!("v{number}w")})))
            .collect();
        let history: Vec<&Message> = history.iter().collect();
        assert_eq!(open_values(&history, &wanted).len(), MANY);
        let sentences: String = (0..MANY)
            .map(|number| format!("Never {number}. "))
            .collect();
        let document = json!([{"role": "user", "content": sentences}]).to_string();
        let host = Host::builder().build().expect("a host");
        let conversation = host.read(document).expect("reads");
        let units = read(&conversation);
        assert_eq!(rules(&conversation, &units).len(), MANY);
        assert!(start.elapsed() < Duration::from_secs(30));
    }
}
