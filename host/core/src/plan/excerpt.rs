//! Excerpts: runs of a text that stay byte for byte, with the host's words about what is missing.

use std::borrow::Cow;
use std::ops::Range;

use baler_conversation::Conversation;
use baler_conversation::marks::Purpose;
use baler_conversation::message::{Content, Message, Part};
use baler_provenance::gaps::EXCERPT_HEAD as HEAD;

use super::gaps::Body;
use crate::fault::PlanRule;
use crate::situation::Situation;

/// The fewest bytes of a run. Fewer would let a plan put sentences together from words.
const SHORTEST_RUN: usize = 16;

/// Text before the reference in this line.
const WHOLE: &str = "; whole: ";

/// Text before a reference to a text that was already shortened: without an archive, or by a strategy.
const LONGER: &str = "; longer: ";

/// Returns the text of a part as strategies read it, and the purpose of the mark that it was in. `None` if the
/// part is neither text nor a tool output.
pub(super) fn text_of<'a>(
    conversation: &'a Conversation,
    message: &Message,
    part: &Part,
) -> Option<(Cow<'a, str>, Option<Purpose>)> {
    if let Some(opened) = conversation.opened(message, part) {
        return Some((opened.text.into(), Some(opened.purpose)));
    }
    let text = match &part.content {
        Content::Output(output) => output.text(conversation.source()),
        Content::Text(place) => conversation.text(place),
        _ => return None,
    };
    Some((text, None))
}

/// A text of which an excerpt can be made.
#[derive(Debug)]
pub(super) struct Excerptable<'a> {
    /// The first line of the excerpt, with its line break.
    pub(super) head: String,
    /// What the excerpt is made of.
    pub(super) body: Body<'a>,
    /// The text as strategies read it. It begins with an earlier excerpt's first line, if there is one.
    text: &'a str,
    /// Bytes of that line.
    skipped: usize,
}

impl<'a> Excerptable<'a> {
    /// Prepares a text of a unit. `earlier` is the purpose of the mark that it was in.
    ///
    /// An excerpt that was made before keeps its first line, with the reference to the whole. In any other text
    /// such a line is the text's own.
    pub(super) fn of(
        situation: &Situation,
        unit: usize,
        text: &'a str,
        earlier: Option<Purpose>,
    ) -> Self {
        let made = |head: String, body: Body<'a>, skipped: usize| Self {
            head,
            body,
            text,
            skipped,
        };
        let first_line = text
            .split_once('\n')
            .filter(|(line, _)| earlier == Some(Purpose::Excerpt) && line.starts_with(HEAD));
        let (body, skipped) = match first_line {
            Some((line, body)) => {
                let (body, skipped) = (Body::shortened_before(body), line.len() + 1);
                let has_reference = line.contains(WHOLE) || line.contains(LONGER);
                // A text that was shortened without an archive gets a reference once there is an archive.
                if has_reference || !situation.archived {
                    return made(format!("{line}\n"), body, skipped);
                }
                (body, skipped)
            }
            None => (Body::whole(text), 0),
        };
        let is_changed = matches!(earlier, Some(Purpose::Rewritten | Purpose::Excerpt));
        let names = if is_changed { LONGER } else { WHOLE };
        let reference = situation
            .reference(unit)
            .map(|reference| format!("{names}{reference}"))
            .unwrap_or_default();
        made(format!("{HEAD}{reference}]\n"), body, skipped)
    }

    /// Returns the excerpt of these runs, which a plan names.
    ///
    /// # Errors
    /// Returns the rule that the runs break.
    pub(super) fn excerpt(&self, runs: &[Range<u32>]) -> Result<String, PlanRule> {
        let mut ends = Vec::with_capacity(runs.len() * 2);
        let mut next = 0;
        for run in runs {
            let run = run.start as usize..run.end as usize;
            let own = self
                .text
                .get(run.clone())
                .ok_or(PlanRule::ExcerptOutOfRange)?;
            if run.start < next {
                return Err(PlanRule::ExcerptOutOfOrder);
            }
            if own.len() < SHORTEST_RUN {
                return Err(PlanRule::ExcerptTooShort);
            }
            next = run.end;
            ends.extend([run.start, run.end].map(|at| at.saturating_sub(self.skipped)));
        }
        let places = self.body.places(ends);
        let runs: Vec<Range<usize>> = places
            .chunks_exact(2)
            .map(|ends| ends[0]..ends[1])
            .filter(|run| !run.is_empty())
            .collect();
        let mut written = self.head.clone();
        self.body.write(&mut written, &runs);
        Ok(written)
    }
}
