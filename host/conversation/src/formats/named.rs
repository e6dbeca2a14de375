//! The names of calls, for outputs that give an id alone.

use std::collections::HashMap;
use std::sync::Arc;

use crate::model::message::{Content, LOCAL_SHELL, Message};

/// The id and the name of a call.
type Known = Arc<(String, String)>;

/// The calls of a conversation as far as it was read, so that outputs get the names of theirs. Kept
/// while a conversation grows: an output costs a look-up, however many calls there are.
#[derive(Debug, Clone, Default)]
pub(crate) struct Named {
    calls: HashMap<String, Calls>,
    /// Local shell calls under the ids of their items, which is what their outputs name. Of all other
    /// kinds an output names the id of the call alone.
    items: HashMap<String, Known>,
}

/// The calls of one id.
#[derive(Debug, Clone)]
struct Calls {
    /// Those that have no output yet, the newest last.
    open: Vec<Known>,
    newest: Known,
}

impl Named {
    /// Of messages whose outputs are named already.
    pub(crate) fn of(messages: &[Message]) -> Self {
        let mut named = Self::default();
        for message in messages {
            named.add(message);
            for output in message.outputs() {
                let _ = named.take(&output.call_id, output.kind);
            }
        }
        named
    }

    /// Notes the calls of the next message, and completes its outputs.
    pub(crate) fn note(&mut self, message: &mut Message) {
        self.add(message);
        for part in &mut message.parts {
            if let Content::Output(output) = &mut part.content
                && let Some(call) = self.take(&output.call_id, output.kind)
            {
                output.answer(&call.0, &call.1);
            }
        }
    }

    fn add(&mut self, message: &Message) {
        for call in message.calls() {
            let known = Arc::new((call.id.clone(), call.name.clone()));
            if call.kind == LOCAL_SHELL
                && let Some(item) = message.id()
            {
                self.items.insert(item.to_owned(), Arc::clone(&known));
            }
            let calls = self.calls.entry(call.id.clone()).or_insert_with(|| Calls {
                open: Vec::new(),
                newest: Arc::clone(&known),
            });
            calls.open.push(Arc::clone(&known));
            calls.newest = known;
        }
    }

    /// The call that an output with this id and of this kind answers: the nearest one without an output,
    /// or else the nearest.
    fn take(&mut self, id: &str, kind: &str) -> Option<Known> {
        if id.is_empty() {
            return None;
        }
        if let Some(calls) = self.calls.get_mut(id) {
            let open = calls.open.pop();
            return Some(open.unwrap_or_else(|| Arc::clone(&calls.newest)));
        }
        if kind != LOCAL_SHELL {
            return None;
        }
        let call = Arc::clone(self.items.get(id)?);
        // From now on the output goes by the id of its call.
        if let Some(calls) = self.calls.get_mut(&call.0) {
            calls.open.pop();
        }
        Some(call)
    }
}
