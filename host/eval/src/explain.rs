//! Lists what was needed of one conversation, and what each method lost.

use std::fmt::Write as _;

use baler_host::{Host, Strategy};

use crate::baselines::Baseline;
use crate::cases::{self, Case, Needed};
use crate::context::Shown;
use crate::corpus::Recording;
use crate::message::PartKind;
use crate::options::Options;
use crate::{names, search};

/// The most characters that are shown of a sentence or an error.
const SHOWN: usize = 160;

/// Lists, for each cut, budget and method, the needed names, rules and errors that are not in the result, in
/// Markdown. It contains text of the conversation.
///
/// # Errors
/// The recording cannot be read, nothing of it was needed later, or the host failed.
pub async fn explain(
    host: &Host,
    strategies: &[Strategy],
    record: &Recording,
    options: &Options,
) -> anyhow::Result<String> {
    let cases = cases::cases(host, record, options.at_recorded_compactions).map_err(|_| {
        anyhow::anyhow!(
            "`{}` cannot be measured: it cannot be read, or breaks a rule of its format",
            record.id
        )
    })?;
    anyhow::ensure!(
        !cases.is_empty(),
        "too little of `{}` was needed later to measure it",
        record.id
    );
    let mut text = format!("# {}, {}\n", record.set, record.id);
    for case in &cases {
        for (budget, room) in case.rooms(options) {
            let _ = write!(
                text,
                "\n## Cut after {} messages, {} characters ({}), {} names needed\n",
                case.cut,
                room,
                match budget {
                    0 => "the recorded summary's size".to_owned(),
                    _ => format!("{} % of the history", f64::from(budget) / 10.0),
                },
                case.needed.len()
            );
            for strategy in strategies {
                let compaction = case.compacted(host, strategy, room, &options.pins).await?;
                let units = cases::read(compaction.conversation());
                let shown = Shown::of(&case.units, &units);
                text += &lost(case, strategy.name(), &shown);
            }
            let baseline = Baseline::KeepLast;
            let shown = Shown::kept(&baseline.keep(case, room));
            text += &lost(case, baseline.name(), &shown);
        }
    }
    Ok(text)
}

/// Lists what a method lost.
fn lost(case: &Case, method: &str, shown: &Shown) -> String {
    let (all, in_context) = (names::all(&shown.text), names::all(&shown.in_context));
    let needed = case.needed.iter();
    let kept = needed.filter(|needed| all.contains(&needed.name)).count();
    let number = case.needed.len();
    let mut text = format!("\n### {method}: keeps {kept} of {number} names\n\n");
    for needed in &case.needed {
        let name = &needed.name;
        let how = match (all.contains(name), in_context.contains(name)) {
            (true, true) => continue,
            (true, false) => "in a mere list",
            (false, _) => "lost",
        };
        let _ = writeln!(
            text,
            "- {how}: {} `{}`, {}",
            needed.name.0.name(),
            needed.name.1,
            place(case, needed)
        );
    }
    let plain = crate::words::on_one_line(&shown.text);
    let rules = search::contained_in(&case.rules, std::iter::once(plain.as_str()));
    for (rule, _) in case.rules.iter().zip(rules).filter(|(_, is_kept)| !is_kept) {
        let _ = writeln!(text, "- lost: instruction “{}”", beginning(rule));
    }
    if let Some(error) = case
        .error
        .as_ref()
        .filter(|error| !shown.text.contains(error.as_str()))
    {
        let _ = writeln!(text, "- lost: the last error “{}”", beginning(error));
    }
    text
}

/// Says where a name was last mentioned.
fn place(case: &Case, needed: &Needed) -> String {
    let messages: Vec<_> = case.units.iter().flatten().collect();
    let is_in = |text: &str| text.contains(needed.name.1.as_str());
    let last = messages
        .iter()
        .rposition(|message| message.parts.iter().any(|part| is_in(&part.text)));
    let Some(last) = last else {
        return "nowhere".to_owned();
    };
    let part = messages[last]
        .parts
        .iter()
        .rev()
        .find(|part| is_in(&part.text));
    let kind = match part.map(|part| (part.kind, part.tool.as_str())) {
        Some((PartKind::Call, tool)) => format!("a call of `{tool}`"),
        Some((PartKind::Output, _)) => "an output".to_owned(),
        Some((PartKind::Thinking, _)) => "thinking".to_owned(),
        _ => "a text".to_owned(),
    };
    format!("last in {kind}, message {} of {}", last + 1, messages.len())
}

fn beginning(text: &str) -> String {
    let line = crate::words::on_one_line(text);
    match line.char_indices().nth(SHOWN) {
        Some((end, _)) => format!("{}…", &line[..end]),
        None => line,
    }
}
