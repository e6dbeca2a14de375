//! A conversation that grows: a step of the agent's costs by what was appended to it.

use std::sync::Arc;

use super::{Conversation, Inner};
use crate::formats::{Body, Named, files, is_alike};
use crate::model::message::Message;
use crate::model::read_error::ReadError;
use crate::model::unit::Unit;

impl Conversation {
    /// Appends one message (an item, for OpenAI Responses; a content, for Gemini), as JSON in
    /// the conversation's wire format. It is kept byte for byte.
    ///
    /// Units, counts and traits are up to date afterwards. The cost goes by the message and the
    /// unit that it belongs to, not by the length of the conversation; the first call while a
    /// snapshot is alive copies what is known of the messages, once. The outputs of one step are
    /// appended together ([`Conversation::append_all`]).
    ///
    /// # Errors
    /// It is not a JSON object or no message of this format; then nothing has changed.
    pub fn append(&mut self, message: &str) -> Result<(), ReadError> {
        self.append_all([message])
    }

    /// Appends messages, and divides them into units once after the last: one by one, the outputs
    /// of a step would each divide the whole step again. See [`Conversation::append`].
    ///
    /// # Errors
    /// One is not a message of this format. It and those after it are not there; those before are.
    pub fn append_all<'m>(
        &mut self,
        messages: impl IntoIterator<Item = &'m str>,
    ) -> Result<(), ReadError> {
        let mut reopened: Option<usize> = None;
        let mut result = Ok(());
        for message in messages {
            match self.take(message) {
                Ok(unit) => reopened = Some(reopened.unwrap_or(unit).min(unit)),
                Err(error) => {
                    result = Err(error);
                    break;
                }
            }
        }
        if let Some(reopened) = reopened {
            Arc::make_mut(&mut self.inner).divide_again(reopened);
        }
        result
    }

    /// Takes a message in, and says which unit is the first that has to be divided again.
    fn take(&mut self, message: &str) -> Result<usize, ReadError> {
        let piece: Arc<str> = message.trim().into();
        let number = self.inner.messages.len() + 1;
        let offset = self.inner.document.end();
        let body = Body::piece(&piece, offset)?;
        let wire = self.inner.format.wire();
        let mut message = match body.messages.first() {
            Some(raw) => (wire.facts().read)(&body, raw)
                .map_err(|what| ReadError::Message { number, what })?,
            None => return Ok(self.inner.units.len()),
        };
        files::note(&body, &mut message);
        drop(body);
        let inner = Arc::make_mut(&mut self.inner);
        inner.name_outputs(&mut message);
        inner.totals.bytes += piece.len() + inner.frame.between(inner.messages.len());
        inner.document.append(piece);
        let counts = inner.tokenizer.count_message(&inner.document, &message);
        let reopened = wire.reopens(&inner.messages, &inner.units, &message, &mut inner.asked);
        inner.messages.push(message);
        inner.counts.push(counts);
        inner.note_pictures(inner.messages.len() - 1);
        Ok(reopened)
    }

    /// Notes that the provider has seen the conversation as it is now: what stays unchanged
    /// from its beginning on can come from the provider's cache.
    pub fn mark_sent(&mut self) {
        self.mark_sent_up_to(usize::MAX);
    }

    /// How many leading messages are the same as in `before` to the provider (its marks for the
    /// cache are no difference), where all that stands around the messages is the same too.
    #[must_use]
    pub fn messages_unchanged_since(&self, before: &Self) -> usize {
        if !self.inner.frame.is_alike(&before.inner.frame) {
            return 0;
        }
        self.inner
            .messages
            .iter()
            .zip(&before.inner.messages)
            .take_while(|(own, other)| is_alike(self.raw(own), before.raw(other)))
            .count()
    }

    /// Notes how many leading messages the provider has seen as they are.
    pub fn mark_sent_up_to(&mut self, messages: usize) {
        let messages = messages.min(self.inner.messages.len());
        Arc::make_mut(&mut self.inner).sent = Some(messages);
    }

    /// Leading units that the provider has seen as they are; `None` if that is not known.
    #[must_use]
    pub fn units_sent(&self) -> Option<usize> {
        let sent = self.inner.sent?;
        Some(self.units().partition_point(|unit| unit.end() <= sent))
    }

    /// Leading units that are in the provider's cache: as the caller says, or as far as they
    /// were sent.
    pub fn units_cached(&self, said: Option<u32>) -> usize {
        let said = said.map(|units| units as usize);
        said.or(self.units_sent())
            .unwrap_or(0)
            .min(self.units().len())
    }

    /// Tokens of the request that are in the provider's cache, with what comes before the
    /// messages.
    pub fn tokens_cached(&self, said: Option<u32>) -> u32 {
        match self.units_cached(said) {
            0 => 0,
            // The usual case, and the one that has to be quick: all was sent.
            all if all == self.units().len() => self.tokens(),
            some => {
                // The rest is short, as long as all that is new was appended.
                let rest = self.units()[some..]
                    .iter()
                    .fold(0u32, |sum, unit| sum.saturating_add(unit.tokens));
                self.tokens().saturating_sub(rest)
            }
        }
    }

    /// Notes how many leading messages a result of this conversation shares with what was sent.
    pub fn with_sent(mut self, messages: Option<usize>) -> Self {
        Arc::make_mut(&mut self.inner).sent = messages;
        self
    }
}

impl Inner {
    /// Gives outputs the name of the tool whose call they answer.
    fn name_outputs(&mut self, message: &mut Message) {
        if let Some(named) = &mut self.named {
            named.note(message);
        } else if message.has_outputs() {
            // Who only reads conversations never pays for it.
            self.named.insert(Named::of(&self.messages)).note(message);
        }
    }

    /// Divides all messages from the start of a unit on.
    fn divide_again(&mut self, unit: usize) {
        while self.units.len() > unit {
            self.remove_unit();
        }
        let at = self.units.last().map_or(0, Unit::end);
        let lengths = self.format.wire().unit_lengths(&self.messages[at..]);
        self.add_units(&lengths);
        self.written.take();
        self.violations.take();
    }
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::*;
    use crate::model::format::Format;

    /// Names of the tools that the outputs of a conversation are of, and its units.
    fn read_off(conversation: &Conversation) -> (Vec<String>, Vec<Unit>) {
        let outputs = conversation.all_messages().iter();
        let names = outputs
            .flat_map(Message::outputs)
            .map(|output| format!("{} {}", output.call_id, output.name));
        (names.collect(), conversation.units().to_vec())
    }

    /// Holds that a conversation is the same whether it is read whole, grows message by message or all
    /// at once, from any of its messages on.
    fn grows_alike(format: Format, list: &str, messages: &[Value]) {
        let raws: Vec<String> = messages.iter().map(Value::to_string).collect();
        let read = |end: usize| {
            let document = format!(r#"{{"model":"m","{list}":[{}]}}"#, raws[..end].join(","));
            Conversation::of(&document, Some(format)).expect("reads")
        };
        let whole = read_off(&read(raws.len()));
        for start in 0..raws.len() {
            let mut one_by_one = read(start);
            for raw in &raws[start..] {
                one_by_one.append(raw).expect("a message");
            }
            assert_eq!(read_off(&one_by_one), whole, "one by one from {start}");
            let mut at_once = read(start);
            let rest = raws[start..].iter().map(String::as_str);
            at_once.append_all(rest).expect("messages");
            assert_eq!(read_off(&at_once), whole, "at once from {start}");
            assert_eq!(at_once.tokens(), one_by_one.tokens());
            assert_eq!(at_once.document(), one_by_one.document());
        }
    }

    #[test]
    fn outputs_of_repeated_ids_and_items_are_named_alike_read_and_appended() {
        let call = |item: &str, name: &str| json!({"type": "function_call", "id": item, "call_id": "c", "name": name, "arguments": "{}"});
        let output =
            |id: &str| json!({"type": "function_call_output", "call_id": id, "output": "07:14"});
        let messages = [
            json!({"role": "user", "content": "When is high tide?"}),
            call("fc_1", "tides"),
            output("fc_1"),
            call("fc_2", "wind"),
            output("c"),
            output("c"),
            json!({"role": "user", "content": "And tomorrow?"}),
            call("fc_3", "tides"),
            call("fc_4", "wind"),
            output("c"),
            output("fc_3"),
            output("unknown"),
        ];
        grows_alike(Format::OpenAiResponses, "input", &messages);
    }

    #[test]
    fn steps_are_divided_alike_read_and_appended() {
        let call = |id: &str| json!({"type": "tool_use", "id": id, "name": "tides", "input": {}});
        let output = |id: &str| json!({"role": "user", "content": [{"type": "tool_result", "tool_use_id": id, "content": "07:14"}]});
        let remark = |text: &str| json!({"role": "user", "content": text});
        let messages = [
            remark("When is high tide?"),
            json!({"role": "assistant", "content": [call("a"), call("b")]}),
            output("a"),
            remark("Hurry."),
            remark("Please."),
            output("b"),
            remark("Thank you."),
            json!({"role": "assistant", "content": "At 07:14."}),
            remark("And the wind?"),
            json!({"role": "assistant", "content": [call("a")]}),
            output("a"),
        ];
        grows_alike(Format::Anthropic, "messages", &messages);
    }

    #[test]
    fn responses_over_neighbouring_messages_are_divided_alike_read_and_appended() {
        let model = |block: Value| json!({"role": "assistant", "content": [block]});
        let says = || model(json!({"type": "text", "text": "Let me see."}));
        let thinks = || model(json!({"type": "thinking", "thinking": "Hm.", "signature": "c2ln"}));
        let calls =
            |id: &str| model(json!({"type": "tool_use", "id": id, "name": "tides", "input": {}}));
        let summary = model(json!({"type": "compaction", "content": "We sailed."}));
        let output = |id: &str| json!({"role": "user", "content": [{"type": "tool_result", "tool_use_id": id, "content": "07:14"}]});
        let remark = |text: &str| json!({"role": "user", "content": text});
        let messages = [
            remark("When is high tide?"),
            says(),
            says(),
            thinks(),
            calls("a"),
            says(),
            output("a"),
            thinks(),
            says(),
            remark("And the wind?"),
            says(),
            says(),
            remark("And now?"),
            says(),
            summary,
            says(),
            calls("b"),
            calls("c"),
            output("b"),
            output("c"),
            says(),
            says(),
        ];
        grows_alike(Format::Anthropic, "messages", &messages);
    }

    #[test]
    fn items_that_stand_for_others_are_divided_alike_read_and_appended() {
        let call = |id: &str| json!({"type": "function_call", "call_id": id, "name": "tides", "arguments": "{}"});
        let output =
            |id: &str| json!({"type": "function_call_output", "call_id": id, "output": "07:14"});
        let asks = json!({"type": "mcp_approval_request", "id": "mcpr_1", "name": "sail", "server_label": "port", "arguments": "{}"});
        let allows = json!({"type": "mcp_approval_response", "approval_request_id": "mcpr_1", "approve": true});
        let messages = [
            json!({"role": "user", "content": "When is high tide?"}),
            json!({"role": "assistant", "content": "Let me see."}),
            json!({"type": "item_reference", "id": "fc_1"}),
            call("a"),
            output("not shown"),
            output("a"),
            json!({"role": "user", "content": "And tomorrow?"}),
            call("a"),
            asks,
            call("b"),
            output("a"),
            allows,
            output("b"),
            output("not shown either"),
        ];
        grows_alike(Format::OpenAiResponses, "input", &messages);
    }

    #[test]
    fn outputs_without_ids_are_divided_alike_read_and_appended() {
        let call = |id: &str| json!({"type": "function_call", "call_id": id, "name": "tides", "arguments": "{}"});
        let patch =
            json!({"type": "custom_tool_call", "call_id": "", "name": "chart", "input": "x"});
        let output = json!({"type": "function_call_output", "output": "07:14"});
        let patched = json!({"type": "custom_tool_call_output", "call_id": "", "output": "ok"});
        let user = json!({"role": "user", "content": "When is high tide?"});
        let messages = [
            user.clone(),
            call("a"),
            patch.clone(),
            output.clone(),
            patched.clone(),
            call(""),
            user.clone(),
            output.clone(),
            user.clone(),
            call("b"),
            patched.clone(),
            output.clone(),
            patch,
            call("c"),
            output,
            patched,
            user,
        ];
        grows_alike(Format::OpenAiResponses, "input", &messages);
    }

    #[test]
    fn references_to_reasoning_are_divided_alike_read_and_appended() {
        let refers = |id: &str| json!({"type": "item_reference", "id": id});
        let call = |id: &str| json!({"type": "function_call", "call_id": id, "name": "tides", "arguments": "{}"});
        let output =
            |id: &str| json!({"type": "function_call_output", "call_id": id, "output": "07:14"});
        let says = json!({"role": "assistant", "content": "Let me see."});
        let messages = [
            json!({"role": "user", "content": "When is high tide?"}),
            refers("rs_1"),
            call("a"),
            output("a"),
            call("b"),
            refers("rs_2"),
            call("c"),
            output("c"),
            output("b"),
            refers("rs_3"),
            says.clone(),
            refers("msg_1"),
            json!({"type": "reasoning", "summary": []}),
            call("d"),
            output("d"),
            says,
        ];
        grows_alike(Format::OpenAiResponses, "input", &messages);
    }

    #[test]
    fn references_to_outputs_are_divided_alike_read_and_appended() {
        let refers = |id: &str| json!({"type": "item_reference", "id": id});
        let call = |id: &str| json!({"type": "function_call", "call_id": id, "name": "tides", "arguments": "{}"});
        let output =
            |id: &str| json!({"type": "function_call_output", "call_id": id, "output": "07:14"});
        let user = json!({"role": "user", "content": "When is high tide?"});
        let messages = [
            user.clone(),
            call("a"),
            call("b"),
            output("a"),
            refers("fco_b"),
            user.clone(),
            call("c"),
            user.clone(),
            json!({"id": "fco_c"}),
            call("d"),
            refers("fco_e"),
            output("d"),
            user.clone(),
            refers("fco_f"),
            call("g"),
            user.clone(),
            refers("fco_g"),
            output("c"),
            user,
        ];
        grows_alike(Format::OpenAiResponses, "input", &messages);
    }

    #[test]
    fn what_is_no_message_leaves_those_before_it() {
        let document = r#"{"model":"m","messages":[{"role":"user","content":"Sail."}]}"#;
        let mut grown = Conversation::of(document, Some(Format::OpenAiChat)).expect("reads");
        let good = r#"{"role":"assistant","content":"Where to?"}"#;
        assert!(grown.append_all([good, "[]", good]).is_err());
        assert_eq!((grown.message_count(), grown.units().len()), (2, 2));
    }
}
