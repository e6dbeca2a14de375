//! The server's own description, for programs: an OpenAPI 3.1 document made of the types that
//! are read and written.

use std::sync::LazyLock;

use baler_host::Question;
use bytes::Bytes;
use serde_json::{Map, Value, json};

use super::own::{Compacted, Decided};
use super::wants::Wants;

/// The document, as text. All answers share its bytes, so clients that do not take theirs cost no
/// memory.
pub(crate) fn document() -> Bytes {
    static DOCUMENT: LazyLock<Bytes> = LazyLock::new(|| Bytes::from(written().to_string()));
    DOCUMENT.clone()
}

/// A conversation for the examples.
fn conversation() -> Value {
    json!({
        "model": "gpt-4o",
        "messages": [
            {"role": "user", "content": "Lisbon to Oslo on Friday, never with a night stop."},
            {"role": "assistant", "content": "There are three flights. The first one leaves at 06:10 and has a stop in Paris; the second one leaves at 11:25 and has a stop in Frankfurt; the third one leaves at 19:40 and would have a night stop in Copenhagen. Which one is it to be? The second one has the shortest stop of them all."},
            {"role": "user", "content": "The second one, please."},
        ],
    })
}

fn written() -> Value {
    let mut schemas = Schemas::default();
    let own = |schemas: &mut Schemas, name| {
        schemas.add(name, schemars::schema_for!(Wants<'_>).to_value())
    };
    let wants = own(&mut schemas, "Wants");
    let error = schemas.add(
        "Error",
        json!({
            "type": "object",
            "required": ["error"],
            "properties": {"error": {
                "type": "object",
                "required": ["code", "message"],
                "properties": {
                    "code": {"type": "string", "description": "For programs; it does not change."},
                    "message": {"type": "string", "description": "What was wrong, and what to do. Never text of the conversation."},
                },
            }},
        }),
    );
    let compacted = schemas.add("Compacted", schemars::schema_for!(Compacted<'_>).to_value());
    let decided = schemas.add("Decided", schemars::schema_for!(Decided).to_value());
    let told = schemas.add("Told", json!({"type": "object"}));
    let ask = |schemas: &mut Schemas, question: Question| {
        let name = match question {
            Question::Introspect => "WhoAreYou",
            Question::ShouldCompact | Question::Compact => "Ask",
        };
        schemas.add(name, question.request_schema())
    };
    let answer = |schemas: &mut Schemas, question: Question| {
        let name = match question {
            Question::Introspect => "Introspection",
            Question::ShouldCompact => "Decision",
            Question::Compact => "Report",
        };
        schemas.add(name, question.answer_schema())
    };
    let mut paths = Map::new();
    let questions = [
        (
            Question::Compact,
            "Makes a conversation fit its budget",
            &compacted,
            json!({"conversation": conversation(), "budget": 80}),
        ),
        (
            Question::ShouldCompact,
            "Tells whether it is time",
            &decided,
            json!({"conversation": conversation(), "context-window": 8000}),
        ),
        (
            Question::Introspect,
            "Tells who the strategies are",
            &told,
            json!({"strategy": "native:digest"}),
        ),
    ];
    for (question, summary, own_answer, example) in questions {
        let theirs = ask(&mut schemas, question);
        let their_answer = answer(&mut schemas, question);
        paths.insert(
            format!("/v1/{}", question.name()),
            json!({"post": {
                "summary": summary,
                "description": "In a client's own form; or, where the body names a `contract`, in the form of another baler whose remote strategy this server is. The answer is in the form of the question.",
                "security": [{"token": []}],
                "requestBody": {
                    "required": true,
                    "content": {"application/json": {
                        "schema": {"anyOf": [wants, theirs]},
                        "example": example,
                    }},
                },
                "responses": with_errors(json!({
                    "description": "The answer.",
                    "content": {"application/json": {"schema": {"anyOf": [own_answer, their_answer]}}},
                }), &error),
            }}),
        );
    }
    let get = |summary: &str, of: &str, schema: Value| {
        json!({"get": {"summary": summary, "responses": {"200": {
            "description": "It.", "content": {of: {"schema": schema}},
        }}}})
    };
    let health = json!({"type": "object", "required": ["status"], "properties": {"status": {"const": "ok"}}});
    paths.insert(
        "/healthz".to_owned(),
        get(
            "Tells that the server is there; needs no token",
            "application/json",
            health,
        ),
    );
    let mut metrics = get(
        "Figures, in Prometheus' text form",
        "text/plain",
        json!({"type": "string"}),
    );
    metrics["get"]["security"] = json!([{"token": []}]);
    paths.insert("/metrics".to_owned(), metrics);
    paths.insert(
        "/openapi.json".to_owned(),
        get(
            "This document; needs no token",
            "application/json",
            json!({"type": "object", "required": ["openapi", "paths"]}),
        ),
    );
    json!({
        "openapi": "3.1.0",
        "info": {
            "title": "baler",
            "summary": "Packs an agent's conversation so that it fits the model's context window.",
            "version": env!("CARGO_PKG_VERSION"),
            "license": {"name": "MIT OR Apache-2.0"},
        },
        "paths": paths,
        "components": {
            "schemas": schemas.0,
            "securitySchemes": {"token": {
                "type": "http", "scheme": "bearer",
                "description": "Where the server was started with a token.",
            }},
        },
    })
}

fn with_errors(good: Value, error: &Value) -> Value {
    let mut responses = Map::from_iter([("200".to_owned(), good)]);
    for (status, what) in [
        ("400", "The body is wrong."),
        ("401", "The token is missing or wrong."),
        ("408", "The body was sent too slowly."),
        (
            "413",
            "The body is too large, or work on it would take too much memory.",
        ),
        ("415", "The body is not sent as JSON."),
        (
            "421",
            "Without a token: the server was asked under a name that is not this machine's.",
        ),
        ("422", "The conversation cannot be read."),
        ("500", "The server failed."),
        (
            "503",
            "As many requests run and wait as the server takes; see Retry-After.",
        ),
        ("504", "It was not done in time."),
    ] {
        responses.insert(
            status.to_owned(),
            json!({"description": what, "content": {"application/json": {"schema": error}}}),
        );
    }
    responses.into()
}

/// The schemas of a document. What a schema defines inside of itself goes beside it, under its
/// name.
#[derive(Default)]
struct Schemas(Map<String, Value>);

impl Schemas {
    /// Adds a schema, and gives the reference to it.
    fn add(&mut self, name: &str, mut schema: Value) -> Value {
        let reference = json!({"$ref": format!("#/components/schemas/{name}")});
        if self.0.contains_key(name) {
            return reference;
        }
        refer(&mut schema, name);
        if let Some(members) = schema.as_object_mut() {
            members.remove("$schema");
            if let Some(Value::Object(inner)) = members.remove("$defs") {
                for (inner_name, inner) in inner {
                    self.0.insert(format!("{name}.{inner_name}"), inner);
                }
            }
        }
        self.0.insert(name.to_owned(), schema);
        reference
    }
}

/// Makes references inside of a schema ones of the document.
fn refer(schema: &mut Value, name: &str) {
    match schema {
        Value::Object(members) => {
            for (key, value) in members {
                match value {
                    Value::String(target) if key == "$ref" => {
                        if let Some(inner) = target.strip_prefix("#/$defs/") {
                            *target = format!("#/components/schemas/{name}.{inner}");
                        }
                    }
                    value => refer(value, name),
                }
            }
        }
        Value::Array(items) => items.iter_mut().for_each(|item| refer(item, name)),
        _ => {}
    }
}
