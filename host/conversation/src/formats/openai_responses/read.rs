//! From an item of OpenAI Responses to a message of ours.

use std::borrow::Cow;

use serde_json::value::RawValue;

use super::item::{self, Kind};
use crate::formats::body::{Body, Raw, no_role};
use crate::formats::media::{self, printable};
use crate::json::{self, Members, Object, Place};
use crate::model::message::{
    Call, Content, LOCAL_SHELL, Link, Meaning, Message, Output, Part, Role,
};
use crate::model::rule::Rule;

/// The format and its roles, for errors.
const ROLES: &str = "OpenAI Responses (user, assistant, system, developer)";

/// Reads one item.
pub(super) fn message(body: &Body<'_>, raw: &Raw<'_>) -> Result<Message, String> {
    let Some(members) = &raw.members else {
        // An `input` that is a text.
        let place = raw.place.clone();
        return Ok(Message::of(Role::User, place.clone(), Content::Text(place)));
    };
    let untyped = || is_untyped_reference(members).then_some(Cow::Borrowed(item::REFERENCE));
    let typed = members.text("type").or_else(untyped);
    // What the provider searches itself, no client answers.
    let is_hosted = members.text("execution").as_deref() == Some("server");
    let call_id = members.text("call_id").filter(|_| !is_hosted);
    let own_id = members.text("id").unwrap_or_default();
    let kind = match typed.as_deref() {
        Some(kind) if item::refers_to_compaction(kind, &own_id) => Kind::Compaction,
        Some(kind) => item::of(kind, call_id.is_some()),
        None if members.get("role").is_some() => Kind::Message,
        None => return Err("expected a `type` or a `role`; both are missing".to_owned()),
    };
    let mut message = match kind {
        Kind::Message => said(body, raw, members)?,
        Kind::Reasoning => reasoning(body, raw, members),
        Kind::Call => call(body, raw, members, call_id)?,
        Kind::Output => output(body, raw, members, call_id)?,
        _ => opaque(raw, members, kind, typed.as_deref().unwrap_or_default()),
    };
    // The output of a local shell call names the item of the call by `id`, not itself; also where it has
    // a `call_id` beside it.
    let names_call = kind == Kind::Output && typed.as_deref().is_some_and(is_local_shell);
    if !names_call {
        // One that is empty is none.
        let id = members
            .text("id")
            .filter(|id| !id.is_empty() && !item::is_made_up(id));
        message.set_id(id.map(Cow::into_owned));
    }
    Ok(message)
}

/// Whether an item is a reference whose `type` is left out or null, which the API allows: it has an `id`
/// and nothing else.
pub(super) fn is_untyped_reference(members: &Members<'_>) -> bool {
    let mut others = members.0.iter().filter(|(key, _)| key != "id");
    members.text("id").is_some()
        && others.all(|(key, value)| key == "type" && value.get() == "null")
}

/// Whether an item is sent under an id that the provider gave it.
fn is_sent_under_id(members: &Members<'_>) -> bool {
    members.present("id").is_some() && members.text("id").is_none_or(|id| !item::is_made_up(&id))
}

fn said(body: &Body<'_>, raw: &Raw<'_>, members: &Members<'_>) -> Result<Message, String> {
    let role = match members.text("role").as_deref() {
        Some("user") => Role::User,
        Some("assistant") => Role::Assistant,
        Some("system") => Role::System,
        Some("developer") => Role::Developer,
        _ => return Err(no_role(members, ROLES)),
    };
    let content = members.present("content").ok_or("`content` is missing")?;
    let mut message = Message {
        content: Some(body.place(content)),
        ..Message::new(role, raw.place.clone())
    };
    if json::is_text(content.get()) {
        message.parts.push(Part::text(body.place(content)));
        return Ok(message);
    }
    let parts = body.content_parts(content, "part")?;
    for part in parts {
        let Object { members, place } = part?;
        let kind = members.text("type").unwrap_or_default();
        let content = match (&*kind, members.text_value("text")) {
            // Annotations point into other items; such a text cannot change alone.
            ("input_text" | "output_text" | "text", Some(text)) if !is_annotated(&members) => {
                Content::Text(body.place(text))
            }
            ("input_image" | "input_file" | "input_audio", _) => {
                Content::Media(Box::new(media::responses(body, &kind, &members, &place)))
            }
            ("", _) => return Err("a part of `content` has no `type`".to_owned()),
            _ => {
                message.opaque = true;
                let kind = printable(&kind);
                let meaning = item::meaning(&kind);
                Content::opaque(kind, meaning)
            }
        };
        message.parts.push(Part { content, place });
    }
    // What is sent under the id that the provider gave it must be what it gave.
    message.opaque |= role == Role::Assistant && is_sent_under_id(members);
    Ok(message)
}

fn is_annotated(part: &Members<'_>) -> bool {
    part.present("annotations")
        .is_some_and(|raw| !json::is_empty_list(raw.get()))
}

fn reasoning(body: &Body<'_>, raw: &Raw<'_>, members: &Members<'_>) -> Message {
    let mut message = Message {
        opaque: true,
        ..Message::new(Role::Assistant, raw.place.clone())
    };
    for key in ["summary", "content"] {
        let list = members.present(key).map(|list| body.objects(list));
        for Object { members, place } in list.into_iter().flatten().flatten() {
            message
                .parts
                .extend(members.text_value("text").map(|text| Part {
                    content: Content::Thinking(body.place(text)),
                    place,
                }));
        }
    }
    if let Some(secret) = members.present("encrypted_content") {
        message.parts.push(Part {
            content: Content::opaque(item::ENCRYPTED, Meaning::Reasoning),
            place: body.place(secret),
        });
    }
    if message.parts.is_empty() {
        message.parts.push(Part {
            content: Content::opaque("reasoning", Meaning::Reasoning),
            place: raw.place.clone(),
        });
    }
    message
}

/// The id that pairs a call and its output. A local shell call of an older client, and the output
/// of one, have nothing but an `id`; of other kinds it names the item alone. Empty where a server gave
/// none.
fn id_of<'a>(members: &Members<'a>, kind: &str, call_id: Option<Cow<'a, str>>) -> Cow<'a, str> {
    let own = || members.text("id").filter(|_| is_local_shell(kind));
    call_id.or_else(own).unwrap_or_default()
}

fn is_local_shell(kind: &str) -> bool {
    item::answers(kind) == LOCAL_SHELL
}

/// Notes that a call or output has no id, and so pairs by order.
fn note_id(id: &str, message: &mut Message) {
    if id.is_empty() {
        message.warning(Rule::Resp9, "a call or an output has no `call_id`");
    }
}

fn call(
    body: &Body<'_>,
    raw: &Raw<'_>,
    members: &Members<'_>,
    call_id: Option<Cow<'_, str>>,
) -> Result<Message, String> {
    let kind = members.text("type").unwrap_or_default();
    let id = id_of(members, &kind, call_id);
    let arguments = members.first(&["arguments", "input", "action", "operation", "actions"]);
    let mut message = Message::new(Role::Assistant, raw.place.clone());
    note_id(&id, &mut message);
    if matches!(&*kind, "function_call" | "custom_tool_call") {
        if members.text("name").is_none_or(|name| name.is_empty()) {
            message.flaw(Rule::Resp9, "a call has no `name`");
        }
        if !arguments.is_some_and(|raw| json::is_text(raw.get())) {
            message.flaw(Rule::Resp9, "the arguments of a call are not a text");
        }
    }
    message.parts.push(Part {
        content: Content::Call(Box::new(Call {
            id: id.into_owned(),
            name: members
                .text("name")
                .unwrap_or_else(|| Cow::Owned(printable(&kind)))
                .into_owned(),
            arguments: arguments.map(|raw| body.place(raw)),
            kind: item::answers(&kind),
            detached: members.is_true("async"),
        })),
        place: raw.place.clone(),
    });
    Ok(message)
}

fn output(
    body: &Body<'_>,
    raw: &Raw<'_>,
    members: &Members<'_>,
    call_id: Option<Cow<'_, str>>,
) -> Result<Message, String> {
    let kind = members.text("type").unwrap_or_default();
    let call_id = id_of(members, &kind, call_id);
    // Only of these the output may be any text; the others have forms of their own.
    let is_free = matches!(&*kind, "function_call_output" | "custom_tool_call_output");
    let content = members.present("output");
    let mut output = Output {
        call_id: call_id.into_owned(),
        kind: item::answers(&kind),
        content: content.filter(|_| is_free).map(|raw| body.place(raw)),
        ..Output::default()
    };
    let mut has_bare_texts = false;
    match content {
        Some(text) if json::is_text(text.get()) => output.texts.push(body.place(text)),
        Some(list) if json::is_list(list.get()) => {
            let part = "a part of `output`";
            has_bare_texts = body.output_list(list, part, &mut output, |part, place, output| {
                output_part(body, part, place, output);
            })?;
        }
        Some(value) => match json::members(value.get()) {
            // The screenshot of a computer.
            Some(members) if !is_free || members.present("type").is_some() => {
                output_part(body, &members, body.place(value), &mut output);
            }
            // What a tool returned, not written as a text: its JSON is the text.
            _ if is_free => output.texts.push(body.place(value)),
            _ => return Err("expected `output` to be a text, a list or an object".to_owned()),
        },
        None => {}
    }
    let is_marked = members.text("status").as_deref() == Some("failed");
    output.marked_failed = is_marked;
    output.failed |= is_marked || body.reports_failure(&output);
    let mut message = Message {
        // Sent under the provider's id, it must be what has that id.
        opaque: is_sent_under_id(members) || !is_free,
        ..Message::new(Role::Tool, raw.place.clone())
    };
    note_id(&output.call_id, &mut message);
    let has_form = content.is_some_and(|raw| json::is_text(raw.get()) || json::is_list(raw.get()));
    if is_free && !has_form {
        message.warning(Rule::Resp9, "an output is neither a text nor a list");
    }
    if is_free && has_bare_texts {
        let what = "a part of an output is a string instead of an object";
        message.warning(Rule::Resp9, what);
    }
    message.parts.push(Part {
        content: Content::Output(Box::new(output)),
        place: raw.place.clone(),
    });
    Ok(message)
}

fn output_part(body: &Body<'_>, part: &Members<'_>, place: Place, output: &mut Output) {
    output.failed |= part.present("outcome").is_some_and(ended_badly);
    let texts = ["text", "stdout", "stderr"];
    let found = texts.iter().filter_map(|key| part.text_value(key));
    let mut found = found.peekable();
    if found.peek().is_some() {
        output.texts.extend(found.map(|text| body.place(text)));
    } else {
        let kind = part.text("type").unwrap_or_default();
        let media = media::responses(body, &kind, part, &place);
        output.others.push((place, media));
    }
}

/// Whether the outcome of a command is another code than 0, or that its time was up.
fn ended_badly(outcome: &RawValue) -> bool {
    let Some(outcome) = json::members(outcome.get()) else {
        return false;
    };
    let code = outcome
        .present("exit_code")
        .and_then(|code| code.get().parse::<i64>().ok());
    code.is_some_and(|code| code != 0) || outcome.text("type").as_deref() == Some("timeout")
}

fn opaque(raw: &Raw<'_>, members: &Members<'_>, kind: Kind, named: &str) -> Message {
    let text = |key| members.text(key).map(Cow::into_owned);
    let (role, link) = match kind {
        // Both hold until another one says otherwise.
        Kind::Tools => (Role::Developer, Link::None),
        Kind::ApprovalRequest => (Role::Assistant, text("id").map_or(Link::None, Link::Opens)),
        Kind::ApprovalResponse => (
            Role::Tool,
            text("approval_request_id").map_or(Link::None, Link::Closes),
        ),
        Kind::Other if item::gives_back(named) => (Role::Assistant, Link::Hosted),
        Kind::Other if item::refers_to_anything(named, &members.text("id").unwrap_or_default()) => {
            (Role::Assistant, Link::Unknown)
        }
        _ => (Role::Assistant, Link::None),
    };
    let is_act =
        item::is_act(named) || item::refers_to_call(named, &members.text("id").unwrap_or_default());
    let is_not_said = kind == Kind::Other && !is_act;
    let kind = if kind == Kind::Compaction {
        item::COMPACTION.to_owned()
    } else {
        printable(named)
    };
    let meaning = item::meaning(&kind);
    let content = Content::linked(kind, meaning, link);
    Message {
        opaque: true,
        is_not_said,
        ..Message::of(role, raw.place.clone(), content)
    }
}
