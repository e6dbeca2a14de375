//! Converts between the host's types and the JSON types of `wire`.

use baler_conversation::Role;

use super::wire;
use crate::fault::DeclaredFailure;
use crate::plan::{
    Change, Edit, Insertion, InsertionPurpose, Piece, Placement, Plan, Reason, Span,
};
use crate::report::{Answer, Decision, Metric, MetricValue, Report};
use crate::request::Trigger;
use crate::situation::Situation;

impl wire::Situation {
    /// Returns the situation as the strategy called `name` sees it.
    pub(crate) fn of(situation: &Situation, name: &str) -> Self {
        let request = &situation.request;
        let conversation = &situation.conversation;
        Self {
            trigger: match &request.trigger {
                Trigger::Threshold => wire::Trigger::Threshold,
                Trigger::Overflow => wire::Trigger::Overflow,
                Trigger::Manual(wish) => wire::Trigger::Manual(wish.clone().map(Into::into)),
                Trigger::Scheduled => wire::Trigger::Scheduled,
            },
            context_window: request.context_window.unwrap_or(0),
            used: conversation.tokens(),
            overhead: situation.overhead_for_strategies(),
            budget: situation.limits.tokens,
            floor: situation.stay.floor.tokens,
            insertion_overhead: situation.insertion_overhead_for(name),
            opening_note: situation.opening_note(),
            cached_units: u32::try_from(conversation.units_cached(request.cached_units))
                .unwrap_or(u32::MAX),
            max_bytes: Some(situation.max_bytes_of_units()),
            max_media: Some(situation.limits.media),
            context: request.context.clone().unwrap_or_default().into(),
            required: request.required,
        }
    }
}

impl From<wire::Trigger> for Trigger {
    fn from(trigger: wire::Trigger) -> Self {
        match trigger {
            wire::Trigger::Threshold => Self::Threshold,
            wire::Trigger::Overflow => Self::Overflow,
            wire::Trigger::Manual(wish) => Self::Manual(wish.map(Into::into)),
            wire::Trigger::Scheduled => Self::Scheduled,
        }
    }
}

impl From<wire::Decision> for Decision {
    fn from(answer: wire::Decision) -> Self {
        match answer.decision {
            wire::Verdict::Compact => Self::Compact(answer.reason),
            wire::Verdict::Wait => Self::Wait(answer.reason),
            wire::Verdict::HostDecides => Self::HostDecides,
        }
    }
}

impl From<Decision> for wire::Decision {
    fn from(decision: Decision) -> Self {
        let (decision, reason) = match decision {
            Decision::Compact(reason) => (wire::Verdict::Compact, reason),
            Decision::Wait(reason) => (wire::Verdict::Wait, reason),
            Decision::HostDecides => (wire::Verdict::HostDecides, String::new()),
        };
        Self { decision, reason }
    }
}

impl TryFrom<wire::Report> for Report {
    type Error = (DeclaredFailure, String);

    fn try_from(report: wire::Report) -> Result<Self, Self::Error> {
        let answer = match report.outcome {
            wire::Outcome::Compacted(plan) => Answer::Compacted(plan.into()),
            wire::Outcome::Unchanged(why) => Answer::Unchanged(why),
            wire::Outcome::Failure(failure) => return Err(failure.into()),
        };
        let metrics = report.metrics.into_iter().map(Metric::from).collect();
        Ok(Self { answer, metrics })
    }
}

impl From<wire::Metric> for Metric {
    fn from(metric: wire::Metric) -> Self {
        Self {
            name: metric.name,
            value: match metric.value {
                wire::Value::Count(count) => MetricValue::Count(count),
                wire::Value::Ratio(ratio) => MetricValue::Ratio(ratio),
                wire::Value::Flag(flag) => MetricValue::Flag(flag),
                wire::Value::Text(text) => MetricValue::Text(text),
            },
        }
    }
}

impl From<Metric> for wire::Metric {
    fn from(metric: Metric) -> Self {
        Self {
            name: metric.name,
            value: match metric.value {
                MetricValue::Count(count) => wire::Value::Count(count),
                MetricValue::Ratio(ratio) => wire::Value::Ratio(ratio),
                MetricValue::Flag(flag) => wire::Value::Flag(flag),
                MetricValue::Text(text) => wire::Value::Text(text),
            },
        }
    }
}

impl From<wire::Plan> for Plan {
    fn from(plan: wire::Plan) -> Self {
        Self {
            pieces: plan.pieces.into_iter().map(Piece::from).collect(),
            reasons: plan
                .reasons
                .into_iter()
                .map(|reason| Reason {
                    units: reason.units.into(),
                    code: reason.code,
                })
                .collect(),
        }
    }
}

impl From<Plan> for wire::Plan {
    fn from(plan: Plan) -> Self {
        Self {
            pieces: plan.pieces.into_iter().map(wire::Piece::from).collect(),
            reasons: plan
                .reasons
                .into_iter()
                .map(|reason| wire::Reason {
                    units: reason.units.into(),
                    code: reason.code,
                })
                .collect(),
        }
    }
}

impl From<wire::Piece> for Piece {
    fn from(piece: wire::Piece) -> Self {
        match piece {
            wire::Piece::Keep(span) => Self::Keep(span.into()),
            wire::Piece::Rewrite(rewrite) => Self::Rewrite {
                unit: rewrite.unit,
                edits: rewrite.edits.into_iter().map(Edit::from).collect(),
            },
            wire::Piece::Insert(insertion) => Self::Insert(insertion.into()),
        }
    }
}

impl From<Piece> for wire::Piece {
    fn from(piece: Piece) -> Self {
        match piece {
            Piece::Keep(span) => Self::Keep(span.into()),
            Piece::Rewrite { unit, edits } => Self::Rewrite(wire::Rewrite {
                unit,
                edits: edits.into_iter().map(wire::Edit::from).collect(),
            }),
            Piece::Insert(insertion) => Self::Insert(insertion.into()),
        }
    }
}

impl From<wire::Span> for Span {
    fn from(wire::Span { first, count }: wire::Span) -> Self {
        Self { first, count }
    }
}

impl From<Span> for wire::Span {
    fn from(Span { first, count }: Span) -> Self {
        Self { first, count }
    }
}

impl From<wire::Edit> for Edit {
    fn from(edit: wire::Edit) -> Self {
        Self {
            message: edit.message,
            part: edit.part,
            change: match edit.change {
                wire::Change::Text(text) => Change::Text(text),
                wire::Change::Excerpt(runs) => {
                    Change::Excerpt(runs.into_iter().map(|run| run.start..run.end).collect())
                }
                wire::Change::Remove => Change::Remove,
            },
        }
    }
}

impl From<Edit> for wire::Edit {
    fn from(edit: Edit) -> Self {
        Self {
            message: edit.message,
            part: edit.part,
            change: match edit.change {
                Change::Text(text) => wire::Change::Text(text),
                Change::Excerpt(runs) => wire::Change::Excerpt(
                    runs.into_iter()
                        .map(|run| wire::Run {
                            start: run.start,
                            end: run.end,
                        })
                        .collect(),
                ),
                Change::Remove => wire::Change::Remove,
            },
        }
    }
}

impl From<wire::Insertion> for Insertion {
    fn from(insertion: wire::Insertion) -> Self {
        Self {
            role: match insertion.role {
                wire::Role::System => Role::System,
                wire::Role::Developer => Role::Developer,
                wire::Role::User => Role::User,
                wire::Role::Assistant => Role::Assistant,
                wire::Role::Tool => Role::Tool,
            },
            purpose: match insertion.purpose {
                wire::Purpose::Summary => InsertionPurpose::Summary,
                wire::Purpose::Note => InsertionPurpose::Note,
            },
            placement: match insertion.placement {
                wire::Placement::Alone => Placement::Alone,
                wire::Placement::JoinBefore => Placement::JoinBefore,
                wire::Placement::JoinAfter => Placement::JoinAfter,
            },
            text: insertion.text,
        }
    }
}

impl From<Insertion> for wire::Insertion {
    fn from(insertion: Insertion) -> Self {
        Self {
            role: match insertion.role {
                Role::System => wire::Role::System,
                Role::Developer => wire::Role::Developer,
                Role::User => wire::Role::User,
                Role::Assistant => wire::Role::Assistant,
                Role::Tool => wire::Role::Tool,
            },
            purpose: match insertion.purpose {
                InsertionPurpose::Summary => wire::Purpose::Summary,
                InsertionPurpose::Note => wire::Purpose::Note,
            },
            placement: match insertion.placement {
                Placement::Alone => wire::Placement::Alone,
                Placement::JoinBefore => wire::Placement::JoinBefore,
                Placement::JoinAfter => wire::Placement::JoinAfter,
            },
            text: insertion.text,
        }
    }
}
