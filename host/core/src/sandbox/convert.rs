//! Converts between the host's types and the generated types of the contract.
//!
//! Compiled twice: wasmtime generates these types for components, the SDK for strategies that run natively. Both have the
//! same names and fields.

use baler_models::{Finish, ModelError, Question};

use baler_conversation::marks::Opened;
use baler_conversation::message::{Call, Content, Media, Message, Part};
use baler_conversation::{Conversation, Role, UnitKind};

use super::contract::{history, model, strategy};
use crate::bounded::bounded;
use crate::fault::DeclaredFailure;
use crate::plan::{
    Change, Edit, Insertion, InsertionPurpose, Piece, Placement, Plan, Reason, Span,
    is_excerptable, is_removable, is_rewritable,
};
use crate::report::{Answer, Decision, Introspection, Metric, MetricValue, Report};
use crate::request::Trigger;
use crate::situation::Situation;

/// Returns empty lists with room for the figures of this many units.
pub(super) fn figures_of(units: usize) -> history::Figures {
    let numbers = || Vec::with_capacity(units);
    history::Figures {
        kinds: Vec::with_capacity(units),
        traits: Vec::with_capacity(units),
        turns: numbers(),
        messages: numbers(),
        tokens: numbers(),
        shortest: numbers(),
        bytes: numbers(),
        media: numbers(),
    }
}

/// Returns the figures of all units as a component sees them.
pub(super) fn units(situation: &Situation) -> history::Figures {
    use history::Traits;
    let units = situation.units();
    let mut figures = figures_of(units.len());
    // Without branches: this runs for each unit of each call.
    let set = |is_set: bool, flag: Traits| [Traits::empty(), flag][usize::from(is_set)];
    let first_unfinished = situation.first_unfinished();
    for (index, (unit, status)) in units.iter().zip(&situation.stay.statuses).enumerate() {
        figures.kinds.push(match unit.kind {
            UnitKind::Instructions => history::UnitKind::Instructions,
            UnitKind::User => history::UnitKind::User,
            UnitKind::Step => history::UnitKind::Step,
            UnitKind::Summary => history::UnitKind::Summary,
            _ => history::UnitKind::Other,
        });
        figures.traits.push(
            set(status.protected, Traits::PROTECTED)
                | set(status.pinned, Traits::PINNED)
                | set(status.live, Traits::LIVE)
                | set(status.unseen, Traits::UNSEEN)
                | set(unit.traits.pending, Traits::PENDING)
                | set(unit.traits.failed, Traits::FAILED)
                | set(unit.traits.thinking, Traits::THINKING)
                | set(unit.traits.media, Traits::MEDIA)
                | set(unit.traits.opaque, Traits::OPAQUE)
                | set(unit.traits.calls, Traits::CALLS)
                | set(index < first_unfinished, Traits::FINISHED),
        );
        figures.turns.push(unit.turn);
        figures.messages.push(small(unit.messages));
        figures.tokens.push(situation.tokens_of(index));
        figures.shortest.push(situation.shortest_tokens_of(index));
        figures.bytes.push(small(situation.bytes_of(index)));
        figures.media.push(unit.media);
    }
    figures
}

/// Maximum bytes of messages in one `read`, unless a single unit is larger.
const SLICE_BYTES: usize = 1 << 20;

/// Returns the messages of up to `count` units from `first`, unit by unit, as far as they fit into one answer.
pub(super) fn read(situation: &Situation, first: u32, count: u32) -> Vec<Vec<history::Message>> {
    let mut bytes = 0usize;
    let units = situation.units().iter().enumerate();
    units
        .skip(first as usize)
        .take(count as usize)
        .take_while(|(_, unit)| {
            let fits = bytes == 0 || bytes.saturating_add(unit.bytes) <= SLICE_BYTES;
            bytes = bytes.saturating_add(unit.bytes);
            fits
        })
        .map(|(index, _)| messages(situation, index))
        .collect()
}

/// Returns the messages of a unit.
pub(super) fn messages(situation: &Situation, unit: usize) -> Vec<history::Message> {
    let conversation = &situation.conversation;
    conversation
        .messages(unit)
        .iter()
        .zip(conversation.counts(unit))
        .enumerate()
        .map(|(index, (message, counts))| history::Message {
            role: role_out(message.role),
            name: message.name().map(str::to_owned),
            parts: message
                .parts
                .iter()
                .zip(counts.parts.iter())
                .enumerate()
                .map(|(place, (part, tokens))| history::Part {
                    tokens: *tokens,
                    ..part_out(situation, unit, message, part, (index, place))
                })
                .collect(),
        })
        .collect()
}

fn part_out(
    situation: &Situation,
    unit: usize,
    message: &Message,
    part: &Part,
    place: (usize, usize),
) -> history::Part {
    let conversation = &situation.conversation;
    let earlier = conversation.earlier(message, part);
    let mut traits = history::PartTraits::empty();
    let is_excerpt = earlier.as_ref().is_some_and(Opened::is_excerpt);
    if is_excerpt {
        traits |= history::PartTraits::EXCERPTED;
    }
    // What stays of a user's text is still the user's.
    if earlier.is_some()
        && !(is_excerpt && message.role == Role::User && matches!(part.content, Content::Text(_)))
    {
        traits |= history::PartTraits::REWRITTEN;
    }
    let earlier = earlier.map(|earlier| earlier.text);
    if is_rewritable(situation, unit, place) {
        traits |= history::PartTraits::REWRITABLE;
    }
    if is_excerptable(situation, unit, place) {
        traits |= history::PartTraits::EXCERPTABLE;
    }
    if is_removable(situation, unit, message, part) {
        traits |= history::PartTraits::REMOVABLE;
    }
    let content = match &part.content {
        Content::Text(place) => {
            history::Content::Text(earlier.unwrap_or_else(|| conversation.text(place).into_owned()))
        }
        Content::Thinking(place) => {
            history::Content::Thinking(conversation.text(place).into_owned())
        }
        Content::Call(call) => history::Content::Call(call_out(conversation, call)),
        Content::Output(output) => history::Content::Output(history::ToolOutput {
            call_id: output.call_id.clone(),
            name: output.name.clone(),
            failed: output.failed,
            text: earlier.unwrap_or_else(|| output.text(conversation.source()).into_owned()),
            media: output
                .others
                .iter()
                .map(|(_, media)| media_out(media))
                .collect(),
        }),
        Content::Media(media) => history::Content::Media(media_out(media)),
        Content::Opaque(opaque) => history::Content::Opaque(opaque.kind.clone()),
    };
    history::Part {
        content,
        tokens: 0,
        traits,
    }
}

fn call_out(conversation: &Conversation, call: &Call) -> history::ToolCall {
    history::ToolCall {
        id: call.id.clone(),
        name: call.name.clone(),
        arguments: call
            .arguments
            .as_ref()
            .map(|place| conversation.text(place).into_owned())
            .unwrap_or_default(),
    }
}

fn media_out(media: &Media) -> history::Media {
    history::Media {
        kind: media.kind.clone(),
        name: media.name.clone(),
        bytes: media.bytes,
    }
}

/// Returns the tool definitions of the conversation.
pub(super) fn tools(conversation: &Conversation) -> Vec<history::Tool> {
    conversation
        .tools()
        .iter()
        .map(|tool| history::Tool {
            name: tool.name.clone(),
            description: tool.description.clone(),
            parameters: tool
                .parameters
                .as_ref()
                .map(|place| conversation.text(place).into_owned())
                .unwrap_or_default(),
        })
        .collect()
}

/// Returns the situation as the strategy called `name` sees it.
pub(super) fn situation(situation: &Situation, name: &str) -> strategy::Situation {
    let request = &situation.request;
    strategy::Situation {
        trigger: match &request.trigger {
            Trigger::Threshold => strategy::Trigger::Threshold,
            Trigger::Overflow => strategy::Trigger::Overflow,
            Trigger::Manual(wish) => strategy::Trigger::Manual(wish.clone()),
            Trigger::Scheduled => strategy::Trigger::Scheduled,
        },
        context_window: request.context_window.unwrap_or(0),
        used: situation.conversation.tokens(),
        overhead: situation.overhead_for_strategies(),
        budget: situation.limits.tokens,
        floor: situation.stay.floor.tokens,
        insertion_overhead: situation.insertion_overhead_for(name),
        opening_note: situation.opening_note(),
        cached_units: small(situation.conversation.units_cached(request.cached_units)),
        max_bytes: Some(small(situation.max_bytes_of_units())),
        max_media: Some(situation.limits.media),
        context: request.context.clone().unwrap_or_default(),
        required: request.required,
    }
}

const fn role_out(role: Role) -> history::Role {
    match role {
        Role::System => history::Role::System,
        Role::Developer => history::Role::Developer,
        Role::User => history::Role::User,
        Role::Assistant => history::Role::Assistant,
        Role::Tool => history::Role::Tool,
    }
}

const fn role_in(role: history::Role) -> Role {
    match role {
        history::Role::System => Role::System,
        history::Role::Developer => Role::Developer,
        history::Role::User => Role::User,
        history::Role::Assistant => Role::Assistant,
        history::Role::Tool => Role::Tool,
    }
}

pub(super) fn report(report: strategy::Report) -> Report {
    Report {
        answer: match report.outcome {
            strategy::Outcome::Compacted(plan) => Answer::Compacted(plan_in(plan)),
            strategy::Outcome::Unchanged(why) => Answer::Unchanged(why),
        },
        metrics: report.metrics.into_iter().map(metric).collect(),
    }
}

fn plan_in(plan: strategy::Plan) -> Plan {
    Plan {
        pieces: plan.pieces.into_iter().map(piece).collect(),
        reasons: plan
            .reasons
            .into_iter()
            .map(|reason| Reason {
                units: span(reason.units),
                code: reason.code,
            })
            .collect(),
    }
}

fn piece(piece: strategy::Piece) -> Piece {
    match piece {
        strategy::Piece::Keep(kept) => Piece::Keep(span(kept)),
        strategy::Piece::Rewrite(rewrite) => Piece::Rewrite {
            unit: rewrite.unit,
            edits: rewrite
                .edits
                .into_iter()
                .map(|edit| Edit {
                    message: edit.message,
                    part: edit.part,
                    change: match edit.change {
                        strategy::Change::Text(text) => Change::Text(text),
                        strategy::Change::Excerpt(runs) => Change::Excerpt(
                            runs.into_iter().map(|run| run.start..run.end).collect(),
                        ),
                        strategy::Change::Remove => Change::Remove,
                    },
                })
                .collect(),
        },
        strategy::Piece::Insert(insertion) => Piece::Insert(Insertion {
            role: role_in(insertion.role),
            purpose: match insertion.purpose {
                strategy::Purpose::Summary => InsertionPurpose::Summary,
                strategy::Purpose::Note => InsertionPurpose::Note,
            },
            placement: match insertion.placement {
                strategy::Placement::Alone => Placement::Alone,
                strategy::Placement::JoinBefore => Placement::JoinBefore,
                strategy::Placement::JoinAfter => Placement::JoinAfter,
            },
            text: insertion.text,
        }),
    }
}

const fn span(span: strategy::Span) -> Span {
    Span {
        first: span.first,
        count: span.count,
    }
}

fn metric(metric: strategy::Metric) -> Metric {
    Metric {
        name: metric.name,
        value: match metric.value {
            strategy::Value::Count(count) => MetricValue::Count(count),
            strategy::Value::Ratio(ratio) => MetricValue::Ratio(ratio),
            strategy::Value::Flag(flag) => MetricValue::Flag(flag),
            strategy::Value::Text(text) => MetricValue::Text(text),
        },
    }
}

pub(super) fn decision(decision: strategy::Decision) -> Decision {
    match decision {
        strategy::Decision::Compact(why) => Decision::Compact(why),
        strategy::Decision::Wait(why) => Decision::Wait(why),
        strategy::Decision::HostDecides => Decision::HostDecides,
    }
}

pub(super) fn failure(failure: strategy::Failure) -> (DeclaredFailure, String) {
    match failure {
        strategy::Failure::BadConfig(message) => (DeclaredFailure::BadConfig, message),
        strategy::Failure::Model(message) => (DeclaredFailure::Model, message),
        strategy::Failure::Other(message) => (DeclaredFailure::Other, message),
    }
}

/// Converts a component's description of itself to texts that are safe to show: one line each, without
/// control characters. The schema is JSON, and is parsed before it is shown.
pub(super) fn introspection(said: strategy::Introspection) -> Introspection {
    let line = |text: String, bytes| bounded(&text, bytes).replace('\n', " ");
    let names = |names: Vec<String>| {
        names
            .into_iter()
            .map(|name| line(name, NAME_BYTES))
            .collect()
    };
    Introspection {
        name: line(said.name, NAME_BYTES),
        version: line(said.version, NAME_BYTES),
        description: line(said.description, DESCRIPTION_BYTES),
        config_schema: said.config_schema,
        reason_codes: names(said.reason_codes),
        metric_names: names(said.metric_names),
        timeout_ms: said.timeout_ms,
        memory_mib: said.memory_mib,
        fuel: said.fuel,
        metadata: said.metadata.into_iter().map(metric).collect(),
    }
}

pub(super) fn model_info(info: &baler_models::ModelInfo) -> model::Info {
    model::Info {
        name: info.name.clone(),
        context_window: info.context_window,
        max_output_tokens: info.max_output_tokens,
    }
}

pub(super) fn question(request: model::Request) -> Question {
    Question::new(request.prompt, request.max_output_tokens).with_instructions(request.instructions)
}

pub(super) fn answer(answer: baler_models::Answer) -> model::Completion {
    model::Completion {
        text: answer.text,
        finish: match answer.finish {
            Finish::Stop => model::Finish::Stop,
            Finish::Length => model::Finish::Length,
            Finish::Refusal => model::Finish::Refusal,
        },
        input_tokens: answer.input_tokens.unwrap_or(0),
        output_tokens: answer.output_tokens.unwrap_or(0),
    }
}

pub(super) fn model_error(error: ModelError) -> model::ModelError {
    match error {
        ModelError::Unavailable(why) => model::ModelError::Unavailable(why),
        ModelError::TooLong { fits } => model::ModelError::TooLong(fits.unwrap_or(0)),
        ModelError::Refused(why) => model::ModelError::Refused(why),
        ModelError::Spent(what) => model::ModelError::Spent(what),
        other => model::ModelError::Other(other.to_string()),
    }
}

/// Maximum bytes of a name, a version or a code.
const NAME_BYTES: usize = 64;

/// Maximum bytes of a description.
const DESCRIPTION_BYTES: usize = 500;

/// Converts a size to the contract's type.
fn small(size: usize) -> u32 {
    u32::try_from(size).unwrap_or(u32::MAX)
}
