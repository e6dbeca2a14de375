//! Appends the messages that arrived while a compaction ran to its result.

use std::borrow::Cow;

use baler_conversation::rules::Rule;
use baler_conversation::{Conversation, Role};

use crate::changes::Origin;
use crate::changes::UnitOutcome;
use crate::compaction::Compaction;
use crate::thinking;

/// A result, followed by the messages that arrived in the meantime.
pub(super) struct Continued {
    pub(super) view: Conversation,
    /// Where each message of the view comes from, in the view before.
    pub(super) origins: Vec<Origin>,
    /// Whether all of these messages follow the whole result, unchanged.
    pub(super) is_as_it_came: bool,
    /// The messages of the result that moved in the view, each with its new index; `None` if it was removed.
    pub(super) moved: Vec<(usize, Option<usize>)>,
}

/// A message that arrived while the compaction ran.
struct Later<'a> {
    role: Role,
    /// Its index in the view.
    index: usize,
    text: Cow<'a, str>,
}

impl Later<'_> {
    fn is_as_it_came(&self) -> bool {
        matches!(self.text, Cow::Borrowed(_))
    }

    fn origin(&self) -> Origin {
        if self.is_as_it_came() {
            Origin::Kept(self.index)
        } else {
            Origin::Changed(self.index)
        }
    }
}

/// Returns the result of a compaction of `snapshot`, followed by the messages that `view` has in addition.
/// These lose thinking that the provider has bound to the old messages. Returns `None` if the provider would
/// refuse the combination although it accepts `view`, or if a later message continues a removed unit.
pub(super) fn append_later(
    compaction: &Compaction,
    snapshot: &Conversation,
    view: &Conversation,
) -> Option<Continued> {
    if continues_removed_unit(compaction, snapshot, view) {
        return None;
    }
    let result = compaction.conversation();
    let first = snapshot.message_count();
    let later = fitting(compaction, view, first);
    let mut next = result.clone();
    next.append_all(later.iter().map(|own| &*own.text)).ok()?;
    let is_whole = later.len() == view.message_count().saturating_sub(first);
    let origins = &compaction.changes().messages;
    let plain = Continued {
        is_as_it_came: is_whole && later.iter().all(Later::is_as_it_came),
        view: next,
        origins: origins
            .iter()
            .copied()
            .chain(later.iter().map(Later::origin))
            .collect(),
        moved: Vec::new(),
    };
    if is_sound(&plain.view, view) {
        return Some(plain);
    }
    instructions_moved(compaction, &later).filter(|moved| is_sound(&moved.view, view))
}

/// Whether a later message of `view` continues a unit of the snapshot, such as a call that follows its
/// reasoning, and the unit was removed or split. Validation does not notice missing reasoning.
fn continues_removed_unit(
    compaction: &Compaction,
    snapshot: &Conversation,
    view: &Conversation,
) -> bool {
    let first = snapshot.message_count();
    let units = view.units();
    let reaching = units.get(view.unit_of(first));
    let Some(reaching) = reaching.filter(|unit| unit.first_message < first) else {
        return false;
    };
    // A later message may have merged several units.
    let own = snapshot.unit_of(reaching.first_message);
    let changes = compaction.changes();
    let mut rest = changes.units.iter().skip(own);
    rest.any(|unit| unit.outcome == UnitOutcome::Removed)
        || changes.insertions.iter().any(|unit| *unit > own)
}

/// Whether `next` breaks no rule that `view` obeys.
pub(crate) fn is_sound(next: &Conversation, view: &Conversation) -> bool {
    let is_old = |rule: Rule| view.broken().any(|own| own.rule == rule);
    next.broken().all(|violation| is_old(violation.rule))
}

/// Returns the messages of `view` from `first` on, as they may follow a changed beginning.
fn fitting<'a>(compaction: &Compaction, view: &'a Conversation, first: usize) -> Vec<Later<'a>> {
    let loses_thinking = thinking::loses_thinking(view);
    let messages = view.all_messages().iter().enumerate().skip(first);
    messages
        .filter_map(|(index, message)| {
            let goes = compaction.drops_thinking() && loses_thinking(index);
            let rest = goes.then(|| thinking::without_thinking(view, message));
            let text = match rest.flatten() {
                None => Cow::Borrowed(view.raw(message)),
                Some(rest) => Cow::Owned(rest.text?),
            };
            let role = message.role;
            Some(Later { role, index, text })
        })
        .collect()
}

/// Like [`append_later`], but moves the instructions at the end of the result after the later user messages,
/// because the provider accepts them only before a message of the model (ANTH-1). Instructions that expire
/// with the next user message are removed, because they would apply again. Returns `None` if there are no
/// such instructions.
fn instructions_moved(compaction: &Compaction, later: &[Later<'_>]) -> Option<Continued> {
    let result = compaction.conversation();
    let messages = result.all_messages();
    let start = messages.iter().rposition(|own| !result.moves(own))? + 1;
    let users = later
        .iter()
        .take_while(|own| own.role == Role::User)
        .count();
    if start == messages.len() || users == 0 {
        return None;
    }
    let kept = messages[..start].iter().map(|own| result.raw(own));
    let document = result.frame().write(kept);
    let sent = result.units_sent().map(|units| match units {
        0 => 0,
        units => result.message_range(units - 1).end.min(start),
    });
    let mut next = result.read_alike(document, None).ok()?.with_sent(sent);
    if let Some((kind, facts)) = result.log() {
        next = next.of_log(kind, facts);
    }
    let (said, rest) = later.split_at(users);
    let own_origins = &compaction.changes().messages;
    let mut origins = own_origins.get(..start)?.to_vec();
    origins.extend(said.iter().map(Later::origin));
    let mut moved = Vec::new();
    let mut instructions = Vec::new();
    for (index, own) in messages.iter().enumerate().skip(start) {
        let place = (!own.expires).then_some(origins.len());
        if place.is_some() {
            instructions.push(result.raw(own));
            origins.push(*own_origins.get(index)?);
        }
        moved.push((index, place));
    }
    origins.extend(rest.iter().map(Later::origin));
    let said = said.iter().map(|own| &*own.text);
    let rest = rest.iter().map(|own| &*own.text);
    next.append_all(said.chain(instructions).chain(rest)).ok()?;
    Some(Continued {
        view: next,
        origins,
        is_as_it_came: false,
        moved,
    })
}
