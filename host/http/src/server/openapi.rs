//! The server's own description for programs: an OpenAPI 3.1 document, generated from the types that
//! the server reads and writes.

use std::sync::LazyLock;

use baler_host::remote::Operation;
use bytes::Bytes;
use serde_json::{Map, Value, json};

use super::client_api::{CompactResponse, ShouldCompactResponse};
use super::request::CompactRequest;

/// Returns the document as text. All responses share its bytes, so clients that read slowly cost no
/// additional memory.
pub(crate) fn document() -> Bytes {
    static DOCUMENT: LazyLock<Bytes> = LazyLock::new(|| Bytes::from(generate().to_string()));
    DOCUMENT.clone()
}

fn generate() -> Value {
    let mut schemas = Schemas::default();
    let error = schemas.add("Error", error_schema());
    let mut paths = compaction_paths(&mut schemas, &error);
    paths.extend(status_paths());
    json!({
        "openapi": "3.1.0",
        "info": {
            "title": "baler",
            "summary": "Compacts an agent's conversation so that it fits the model's context window.",
            "version": env!("CARGO_PKG_VERSION"),
            "license": {"name": "MIT OR Apache-2.0"},
        },
        "paths": paths,
        "components": {
            "schemas": schemas.0,
            "securitySchemes": {"token": {
                "type": "http", "scheme": "bearer",
                "description": "Required if the server was started with a token.",
            }},
        },
    })
}

fn error_schema() -> Value {
    json!({
        "type": "object",
        "required": ["error"],
        "properties": {"error": {
            "type": "object",
            "required": ["code", "message"],
            "properties": {
                "code": {"type": "string", "description": "A stable code for programs."},
                "message": {"type": "string", "description": "What was wrong, and what to do. Never contains text of the conversation."},
            },
        }},
    })
}

/// Describes the three endpoints that work on conversations. Each accepts two request schemas: that of
/// clients, and that of other hosts.
fn compaction_paths(schemas: &mut Schemas, error: &Value) -> Map<String, Value> {
    let client_request = schemas.add(
        "CompactRequest",
        schemars::schema_for!(CompactRequest<'_>).to_value(),
    );
    let mut paths = Map::new();
    for question in [
        Operation::Compact,
        Operation::ShouldCompact,
        Operation::Introspect,
    ] {
        let (summary, example) = summary_and_example(question);
        let client_response = client_response(schemas, question);
        let (strategy_request, strategy_response) = strategy_schemas(schemas, question);
        paths.insert(
            format!("/v1/{}", question.name()),
            json!({"post": {
                "summary": summary,
                "description": "Accepts a client's request; or, if the body has the member `contract`, the request of another baler that uses this server as a remote strategy. The response has the schema of the same protocol.",
                "security": [{"token": []}],
                "requestBody": {
                    "required": true,
                    "content": {"application/json": {
                        "schema": {"anyOf": [client_request, strategy_request]},
                        "example": example,
                    }},
                },
                "responses": with_errors(json!({
                    "description": "The answer.",
                    "content": {"application/json": {"schema": {"anyOf": [client_response, strategy_response]}}},
                }), error),
            }}),
        );
    }
    paths
}

/// Returns the summary of an endpoint, and an example of a client's request to it.
fn summary_and_example(question: Operation) -> (&'static str, Value) {
    match question {
        Operation::Compact => (
            "Makes a conversation fit its budget",
            json!({"conversation": example_conversation(), "budget": 80}),
        ),
        Operation::ShouldCompact => (
            "Decides whether to compact now",
            json!({"conversation": example_conversation(), "context-window": 8000}),
        ),
        Operation::Introspect => (
            "Describes a strategy, or lists the server's strategies",
            json!({"strategy": "native:digest"}),
        ),
    }
}

/// Adds the schema of the response to a client, and returns the reference to it.
fn client_response(schemas: &mut Schemas, question: Operation) -> Value {
    match question {
        Operation::Compact => schemas.add(
            "CompactResponse",
            schemars::schema_for!(CompactResponse<'_>).to_value(),
        ),
        Operation::ShouldCompact => schemas.add(
            "ShouldCompactResponse",
            schemars::schema_for!(ShouldCompactResponse).to_value(),
        ),
        Operation::Introspect => schemas.add("StrategyInfo", json!({"type": "object"})),
    }
}

/// Adds the schemas of the request of another host and of the response to it, and returns the
/// references to them.
fn strategy_schemas(schemas: &mut Schemas, question: Operation) -> (Value, Value) {
    let (request, response) = match question {
        Operation::Compact => ("StrategyRequest", "StrategyReport"),
        Operation::ShouldCompact => ("StrategyRequest", "StrategyDecision"),
        Operation::Introspect => ("IntrospectRequest", "IntrospectResponse"),
    };
    (
        schemas.add_text(request, &question.request_schema()),
        schemas.add_text(response, &question.answer_schema()),
    )
}

/// Describes the endpoints that tell about the server itself.
fn status_paths() -> Map<String, Value> {
    let health = get_operation(
        "Reports that the server is running; requires no token",
        "The server is running.",
        "application/json",
        json!({"type": "object", "required": ["status"], "properties": {"status": {"const": "ok"}}}),
    );
    let mut metrics = get_operation(
        "Returns metrics in Prometheus' text format",
        "The metrics.",
        "text/plain",
        json!({"type": "string"}),
    );
    metrics["get"]["security"] = json!([{"token": []}]);
    let openapi = get_operation(
        "Returns this document; requires no token",
        "This document.",
        "application/json",
        json!({"type": "object", "required": ["openapi", "paths"]}),
    );
    Map::from_iter([
        ("/healthz".to_owned(), health),
        ("/metrics".to_owned(), metrics),
        ("/openapi.json".to_owned(), openapi),
    ])
}

fn get_operation(summary: &str, description: &str, media_type: &str, schema: Value) -> Value {
    json!({"get": {"summary": summary, "responses": {"200": {
        "description": description, "content": {media_type: {"schema": schema}},
    }}}})
}

/// Returns a conversation for the examples.
fn example_conversation() -> Value {
    json!({
        "model": "gpt-4o",
        "messages": [
            {"role": "user", "content": "Lisbon to Oslo on Friday, never with a night stop."},
            {"role": "assistant", "content": "There are three flights. The first one leaves at 06:10 and has a stop in Paris; the second one leaves at 11:25 and has a stop in Frankfurt; the third one leaves at 19:40 and would have a night stop in Copenhagen. Which one is it to be? The second one has the shortest stop of them all."},
            {"role": "user", "content": "The second one, please."},
        ],
    })
}

/// Returns the responses of an endpoint: the successful one, and all errors.
fn with_errors(success: Value, error: &Value) -> Value {
    let mut responses = Map::from_iter([("200".to_owned(), success)]);
    for (status, description) in [
        (
            "400",
            "The body is invalid, or the request does not have exactly one `Host` header.",
        ),
        ("401", "The token is missing or wrong."),
        ("408", "The body arrived too slowly."),
        (
            "413",
            "The body is too large, or work on it would need too much memory.",
        ),
        (
            "415",
            "The content type of the body is not JSON, or the body has a content encoding.",
        ),
        (
            "421",
            "Without a token: the `Host` header does not name this machine.",
        ),
        (
            "422",
            "The conversation cannot be used, or a strategy cannot describe itself.",
        ),
        ("500", "The server failed."),
        (
            "503",
            "The server is overloaded or lacks a resource; see Retry-After.",
        ),
        ("504", "The request took too long."),
    ] {
        responses.insert(
            status.to_owned(),
            json!({"description": description, "content": {"application/json": {"schema": error}}}),
        );
    }
    responses.into()
}

/// The schemas of the document. Definitions within a schema become schemas of their own, named
/// `OUTER.INNER`.
#[derive(Default)]
struct Schemas(Map<String, Value>);

impl Schemas {
    /// Adds a schema of the host, given as JSON text, under this name, and returns the reference to it.
    fn add_text(&mut self, name: &str, schema: &str) -> Value {
        // The host writes valid JSON.
        self.add(name, serde_json::from_str(schema).unwrap_or_default())
    }

    /// Adds a schema under this name, and returns the reference to it.
    fn add(&mut self, name: &str, mut schema: Value) -> Value {
        let reference = json!({"$ref": format!("#/components/schemas/{name}")});
        if self.0.contains_key(name) {
            return reference;
        }
        redirect_references(&mut schema, name);
        if let Some(members) = schema.as_object_mut() {
            members.remove("$schema");
            // By default the title is the name of a Rust type.
            members.remove("title");
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

/// Redirects references within the schema `name` to the schemas of the document.
fn redirect_references(schema: &mut Value, name: &str) {
    match schema {
        Value::Object(members) => {
            for (key, value) in members {
                match value {
                    Value::String(target) if key == "$ref" => {
                        if let Some(inner) = target.strip_prefix("#/$defs/") {
                            *target = format!("#/components/schemas/{name}.{inner}");
                        }
                    }
                    value => redirect_references(value, name),
                }
            }
        }
        Value::Array(items) => items
            .iter_mut()
            .for_each(|item| redirect_references(item, name)),
        _ => {}
    }
}
