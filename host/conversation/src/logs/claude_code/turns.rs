//! From the lines of a segment to what was said, in order.

use super::branches::{self, Kind};
use super::content::Content;
use super::segment::Segment;
use crate::logs::Log;
use crate::logs::anthropic::flow::Flow;
use crate::logs::body::Body;
use crate::model::format::Format;
use crate::model::log::{LogError, LogFacts, LogKind};

/// The body of a segment.
///
/// # Errors
/// There is no message in it.
pub(super) fn body(segment: Segment<'_>, mut facts: LogFacts) -> Result<Log, LogError> {
    let mut body = Body::new(LogKind::ClaudeCode, Format::Anthropic);
    let left = branches::left(&segment.nodes, segment.leaf());
    facts.other_branches = left.iter().filter(|left| **left).count();
    let mut flow = Flow::default();
    let lines = segment.contents.into_iter().zip(segment.nodes);
    for ((content, node), left) in lines.zip(left) {
        match (content, node.kind) {
            _ if left => {}
            (Content::Reply(reply), Kind::Reply(number)) => {
                body.model = reply.model.or(body.model.take());
                flow.reply(number, reply.tokens, reply.blocks, &mut facts);
            }
            (Content::None | Content::Reply(_), _) => {}
            (Content::Said { blocks, .. }, kind) => {
                if kind == Kind::Typed {
                    flow.stop_waiting();
                }
                flow.said(blocks);
            }
            (Content::Summary(text), _) => flow.summary(text),
        }
    }
    flow.write(&mut body, &mut facts);
    body.finish(facts)
}
