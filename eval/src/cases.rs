//! Cuts of a conversation: what stood before, and what of it was needed behind.

use std::borrow::Cow;
use std::collections::{HashMap, HashSet};

use baler_host::{Conversation, Format, Host, Pins, ReadOptions, Unit, UnitKind};
use serde_json::Value;

use crate::corpus::{Kind as Recording, Question, Recorded, WantedCall};
use crate::entities::{self, Name};
use crate::evidence::Evidence;
use crate::options::Options;
use crate::reading::{PieceKind, Said, Who, strings};
use crate::{search, unseen};

/// Messages behind a cut in which use is looked for.
const AHEAD: usize = 60;

/// Cuts with fewer needed names say nothing.
const LEAST: usize = 5;

/// Where a conversation is cut: shares of its units. One with questions is cut at its end, too.
const CUTS: [f64; 3] = [0.4, 0.6, 0.8];

/// Compactions of one log that are looked at. Each reads the log up to it, so that a log of nothing
/// but compactions would cost the square of its length.
const MOST_RECORDED: usize = 64;

/// Names last mentioned before this share of the history are far.
const FAR: f64 = 0.75;

/// A conversation up to a cut, and what was needed of it.
#[derive(Debug)]
pub(crate) struct Case {
    /// How many messages it has.
    pub(crate) cut: usize,
    /// What a strategy is given.
    pub(crate) conversation: Conversation,
    /// What the history says, unit by unit.
    pub(crate) units: Vec<Vec<Said>>,
    /// Characters of the history, instructions left out.
    pub(crate) size: usize,
    pub(crate) needed: Vec<Needed>,
    /// The user's sentences with a rule in them, with one space between words.
    pub(crate) rules: Vec<String>,
    /// The last line of tool output that tells of an error.
    pub(crate) error: Option<String>,
    /// Values that a task asks for and that are not yet used.
    pub(crate) wanted: Vec<String>,
    /// What questions that come next name of it.
    pub(crate) evidence: Evidence,
    /// A summary that was recorded at this cut.
    pub(crate) recorded: Option<String>,
}

/// A name that stood in the history and was used later.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Needed {
    pub(crate) name: Name,
    /// It was last mentioned long ago.
    pub(crate) is_far: bool,
    /// It was used in the arguments of a call.
    pub(crate) in_arguments: bool,
}

impl Case {
    /// Characters of what must stay whatever is done: the newest user message, what is pinned,
    /// pending calls, and outputs that the model has not seen, at their shortest.
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

    /// The size of each unit.
    pub(crate) fn sizes(&self) -> Vec<usize> {
        let size = |unit: &Vec<Said>| unit.iter().map(Said::size).sum();
        self.units.iter().map(size).collect()
    }
}

/// Why a conversation has no cases.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum NoCases {
    /// It cannot be read.
    Unread,
    /// It breaks a rule of its format as it was recorded.
    Invalid,
}

/// The cuts of a recorded conversation that say something. With `recorded` those at its own
/// compactions instead.
///
/// Questions are asked at its end, for which they were written. At an earlier cut only those with
/// early evidence could be, and these would count several times.
pub(crate) fn cases(host: &Host, record: &Recorded, recorded: bool) -> Result<Vec<Case>, NoCases> {
    if recorded {
        return Ok(recorded_cases(host, record));
    }
    let whole = match record.kind {
        Recording::Log => without_compactions(&record.document),
        Recording::Document => record.document.clone(),
    };
    let format = match record.kind {
        Recording::Log => None,
        Recording::Document => record.format.parse().ok(),
    };
    let whole = read_as(host, whole, format).ok_or(NoCases::Unread)?;
    if whole.is_broken() {
        return Err(NoCases::Invalid);
    }
    let units = read(&whole);
    let mut cuts: Vec<usize> = CUTS
        .iter()
        .map(|share| (units.len() as f64 * share) as usize)
        .filter(|cut| *cut > 0)
        .collect();
    cuts.dedup();
    let questions = record.questions.as_deref().unwrap_or_default();
    if !questions.is_empty() {
        cuts.push(units.len());
    }
    let cases = cuts.into_iter().filter_map(|cut| {
        let document = first_units(&whole, cut)?;
        let conversation = read_as(host, document, Some(whole.format()))?;
        let behind: Vec<&Said> = units[cut..].iter().flatten().collect();
        let questions = if cut == units.len() { questions } else { &[] };
        case(conversation, &behind, &record.wanted, questions, None)
    });
    Ok(cases.collect())
}

fn read_as(host: &Host, document: String, format: Option<Format>) -> Option<Conversation> {
    let options = ReadOptions {
        format,
        ..ReadOptions::default()
    };
    host.read_with(document.into_bytes(), options).ok()
}

/// Cuts where a program compacted by itself.
fn recorded_cases(host: &Host, record: &Recorded) -> Vec<Case> {
    if record.kind != Recording::Log {
        return Vec::new();
    }
    let mut cases = Vec::new();
    let mut at = 0;
    let mut ends: Vec<usize> = Vec::new();
    for line in record.document.split_inclusive('\n') {
        if is_boundary(line) {
            ends.push(at);
        }
        at += line.len();
    }
    for (place, end) in ends.iter().enumerate().take(MOST_RECORDED) {
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
        // The host reads on from the newest compaction: first what it left, then what came.
        let mut summary = String::new();
        for (unit, said) in after.units().iter().zip(&behind) {
            if unit.kind == UnitKind::Summary {
                for piece in said.iter().flat_map(|said| &said.pieces) {
                    summary.push_str(without_tags(&piece.text));
                }
            }
        }
        let came: Vec<&Said> = after
            .units()
            .iter()
            .zip(&behind)
            .filter(|(unit, _)| unit.kind != UnitKind::Summary)
            .flat_map(|(_, said)| said)
            .collect();
        let options = ReadOptions {
            format: Some(before.format()),
            recorded_summaries: &before.recorded_summaries(),
            ..ReadOptions::default()
        };
        let Ok(body) = host.read_with(before.document().as_bytes().to_vec(), options) else {
            continue;
        };
        if summary.is_empty() || body.is_broken() {
            continue;
        }
        cases.extend(case(body, &came, &[], &[], Some(summary)));
    }
    cases
}

/// A recorded summary without the tags that the host puts around it, which its program did not write.
fn without_tags(text: &str) -> &str {
    let inner = text
        .strip_prefix("<baler:recorded ")
        .and_then(|rest| rest.split_once(">\n"))
        .and_then(|(_, rest)| rest.strip_suffix("\n</baler:recorded>"));
    inner.unwrap_or(text)
}

fn case(
    conversation: Conversation,
    behind: &[&Said],
    wanted: &[WantedCall],
    questions: &[Question],
    recorded: Option<String>,
) -> Option<Case> {
    let units = read(&conversation);
    let history: Vec<&Said> = units.iter().flatten().collect();
    let size = history.iter().map(|said| said.size()).sum();
    let needed = needed(&history, behind, &conversation);
    let wanted = open_values(&history, wanted);
    let evidence = Evidence::of(questions, &history);
    if size == 0 || (needed.len() < LEAST && wanted.is_empty() && evidence.is_empty()) {
        return None;
    }
    Some(Case {
        cut: history.len(),
        rules: rules(&conversation, &units),
        error: last_error(&history),
        needed: if needed.len() < LEAST {
            Vec::new()
        } else {
            needed
        },
        wanted,
        evidence,
        size,
        recorded,
        units,
        conversation,
    })
}

/// What a conversation says, unit by unit.
pub(crate) fn read(conversation: &Conversation) -> Vec<Vec<Said>> {
    let format = conversation.format().to_string();
    (0..conversation.units().len())
        .map(|unit| {
            let raw = conversation.raw_messages(unit);
            raw.map(|raw| Said::read(&format, raw)).collect()
        })
        .collect()
}

/// Names whose first mention behind the cut is the model's own, and that stood before it.
fn needed(history: &[&Said], behind: &[&Said], conversation: &Conversation) -> Vec<Needed> {
    let total: usize = history.iter().map(|said| said.size()).sum();
    let far = total as f64 * FAR;
    let mut last: HashMap<Name, usize> = HashMap::new();
    let mut instructions: HashSet<Name> = HashSet::new();
    entities::each(&system(conversation), |kind, name| {
        instructions.insert((kind, name.to_owned()));
    });
    let mut at = 0;
    for said in history {
        for piece in &said.pieces {
            entities::each(&piece.text, |kind, name| {
                let name = (kind, name.to_owned());
                if said.who == Who::Instructions {
                    instructions.insert(name);
                } else {
                    last.insert(name, at);
                }
            });
        }
        at += said.size();
    }
    let mut seen: HashSet<Name> = HashSet::new();
    let mut needed = Vec::new();
    for said in behind.iter().take(AHEAD) {
        let mut new: HashMap<Name, bool> = HashMap::new();
        let mut order = Vec::new();
        for piece in &said.pieces {
            if piece.kind == PieceKind::Thinking {
                continue;
            }
            entities::each(&piece.text, |kind, name| {
                let name = (kind, name.to_owned());
                if seen.contains(&name) {
                    return;
                }
                let in_call = piece.kind == PieceKind::Call;
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
            if said.who == Who::Assistant
                && let Some(at) = last.get(&name)
                && !instructions.contains(&name)
            {
                needed.push(Needed {
                    is_far: (*at as f64) < far,
                    in_arguments,
                    name: name.clone(),
                });
            }
            seen.insert(name);
        }
    }
    needed
}

/// The system prompt, where it stands beside the messages.
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

/// The user's sentences that say never, always, must, do not, don't or only, without what ends them.
/// Summaries that an earlier compaction wrote are nobody's.
fn rules(conversation: &Conversation, units: &[Vec<Said>]) -> Vec<String> {
    let mut found: Vec<String> = Vec::new();
    let mut known: HashSet<String> = HashSet::new();
    let own = conversation
        .units()
        .iter()
        .zip(units)
        .filter(|(unit, _)| unit.kind != UnitKind::Summary)
        .flat_map(|(_, said)| said)
        .filter(|said| said.who == Who::User)
        .flat_map(|said| &said.pieces)
        .filter(|piece| piece.kind == PieceKind::Text);
    for piece in own {
        // What programs write as the user is no rule of the user's.
        let words = baler_digest::own_words(&piece.text);
        baler_digest::each_sentence(&words, &mut |sentence| {
            let is_question = sentence.ends_with(['?', '？', '؟']);
            let sentence = sentence.trim_end_matches(['.', '!', '?']);
            let sentence = baler_digest::on_one_line(sentence);
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

fn last_error(history: &[&Said]) -> Option<String> {
    let outputs = history
        .iter()
        .rev()
        .flat_map(|said| said.pieces.iter().rev())
        .filter(|piece| piece.kind == PieceKind::Output);
    outputs
        .flat_map(|piece| piece.text.lines().rev().map(str::trim))
        .find(|line| baler_digest::mentions_error(line))
        .map(str::to_owned)
}

/// Values of wanted calls that were not made yet, as far as they stand in the history.
fn open_values(history: &[&Said], wanted: &[WantedCall]) -> Vec<String> {
    if wanted.is_empty() {
        return Vec::new();
    }
    let pieces = || {
        history
            .iter()
            .filter(|said| said.who != Who::Instructions)
            .flat_map(|said| &said.pieces)
    };
    let calls = pieces().filter(|piece| piece.kind == PieceKind::Call);
    let made: HashSet<&str> = calls.map(|piece| piece.text.as_str()).collect();
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
    let known = search::stand_in(&open, pieces().map(|piece| piece.text.as_str()));
    let open = open.into_iter().zip(known);
    open.filter_map(|(value, is_known)| is_known.then_some(value))
        .collect()
}

/// The document with its first units alone.
fn first_units(conversation: &Conversation, units: usize) -> Option<String> {
    let document = conversation.document();
    let last = conversation.raw_messages(units.checked_sub(1)?).last()?;
    let count = conversation.units().len();
    let end_of = |raw: &str| {
        // The messages of a conversation that was read are places in its document.
        let start = raw.as_ptr().addr().checked_sub(document.as_ptr().addr())?;
        Some(start + raw.len())
    };
    let end = end_of(last)?;
    let tail = end_of(conversation.raw_messages(count.checked_sub(1)?).last()?)?;
    Some(format!("{}{}", document.get(..end)?, document.get(tail..)?))
}

/// A log as it would be had nothing been compacted.
fn without_compactions(log: &str) -> String {
    log.split_inclusive('\n')
        .filter(|line| {
            let of = OfCompaction::of(line);
            !of.is_boundary() && !of.is_compact_summary
        })
        .collect()
}

fn is_boundary(line: &str) -> bool {
    OfCompaction::of(line).is_boundary()
}

/// What a line of a log tells of a compaction, however its JSON is spelled.
#[derive(Default, serde::Deserialize)]
#[serde(rename_all = "camelCase", default)]
struct OfCompaction<'a> {
    #[serde(borrow)]
    subtype: Option<Cow<'a, str>>,
    is_compact_summary: bool,
}

impl<'a> OfCompaction<'a> {
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
    fn said(message: &Value) -> Said {
        Said::read("openai-chat", &message.to_string())
    }

    #[test]
    fn values_of_wanted_calls_are_open_until_the_call_is_made() {
        let call = json!({"role": "assistant", "tool_calls": [{"function": {"name": "book", "arguments": "{\"id\":\"W1\"}"}}]});
        let history = [
            said(&json!({"role": "system", "content": "W4"})),
            said(&json!({"role": "user", "content": "Book W1, and then W2."})),
            said(&call),
        ];
        let history: Vec<&Said> = history.iter().collect();
        let wanted = ["W2", "W1", "W2", "W3", "W4"].map(|id| WantedCall {
            name: "book".to_owned(),
            arguments: json!({"id": id}),
        });
        assert_eq!(open_values(&history, &wanted), ["W2"]);
    }

    #[test]
    fn a_recorded_summary_counts_without_the_tags_of_the_host() {
        let words = "W1 is > booked.\nW2 is not.";
        let line = |number: usize, is_summary: bool, content: &str| {
            let line = json!({"type": "user", "sessionId": "s", "uuid": number.to_string(), "parentUuid": (number > 1).then_some("1"),
                "isCompactSummary": is_summary, "message": {"role": "user", "content": content}});
            format!("{line}\n")
        };
        let log = line(1, true, words) + &line(2, false, "Go on.");
        let host = Host::builder().build().expect("a host");
        let conversation = host.read(log).expect("reads");
        let summary = &read(&conversation)[0][0].pieces[0].text;
        assert_ne!(summary, words);
        assert_eq!(without_tags(summary), words);
        assert_eq!(without_tags(words), words);
    }

    #[test]
    fn rules_are_whole_sentences_however_their_lines_break() {
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
    fn many_wanted_calls_and_rules_take_no_time_by_their_square() {
        const MANY: usize = 30_000;
        let start = Instant::now();
        let wanted: Vec<WantedCall> = (0..MANY)
            .map(|number| WantedCall {
                name: "book".to_owned(),
                arguments: json!({"id": format!("v{number}w")}),
            })
            .collect();
        let history: Vec<Said> = (0..MANY)
            .map(|number| said(&json!({"role": "user", "content": format!("v{number}w")})))
            .collect();
        let history: Vec<&Said> = history.iter().collect();
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
