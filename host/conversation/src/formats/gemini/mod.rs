//! Gemini `generateContent`.
//!
//! Data model and rules: docs/wire-formats.md, section "Gemini". A message is a content here.
//! Names may be in camel case or in snake case; the API accepts both.

pub(crate) mod read;
pub(crate) mod rules;
pub(crate) mod write;

use serde_json::value::RawValue;

use serde_json::{Value, json};

use self::rules::Step;
use super::body::{Body, List};
use super::{Facts, ProviderLimits, WireFormat};
use crate::json::{self, Members, Place};
use crate::model::envelope::{Envelope, ToolDefinition};
use crate::model::message::{Message, Role};

pub(super) struct Gemini;

const FACTS: &Facts = &Facts {
    list: List::Contents,
    content_key: "parts",
    names_model: false,
    alternates: true,
    ..Facts::of(read::message, rules::CHECKS, ProviderLimits::GEMINI)
};

impl WireFormat for Gemini {
    fn facts(&self) -> &'static Facts {
        FACTS
    }

    /// A step, with the steps that begin with its last responses.
    fn unit_length(&self, messages: &[Message]) -> usize {
        let mut length = 1;
        while let Some(step) = Step::first_of(&messages[length - 1..]) {
            length += step.calls.len() - 1 + step.answers.len();
            if step.answers.is_empty() || !messages[length - 1].has_calls() {
                break;
            }
        }
        length
    }

    fn envelope(&self, body: &Body<'_>) -> Envelope {
        let instruction = body
            .member("systemInstruction")
            .or_else(|| body.member("system_instruction"));
        let tools = body.member("tools");
        Envelope {
            texts: instruction.map_or_else(Vec::new, |raw| texts(body, raw)),
            tools: declarations(body, tools),
            tool_list: tools.map(|raw| body.place(raw)),
            wants_signatures: wants_signatures(body),
            declares_no_tools: declares_no_tools(body),
            ..Envelope::default()
        }
    }

    fn instructions(&self, text: &str) -> Option<String> {
        Some(format!(
            r#""systemInstruction":{{"parts":[{{"text":{text}}}]}}"#
        ))
    }

    fn tool_definition(&self, name: &str, description: &str, parameters: &Value) -> Value {
        json!({"functionDeclarations": [
            {"name": name, "description": description, "parameters": parameters}
        ]})
    }

    fn text_part(&self, text: &str) -> String {
        format!(r#"{{"text":{text}}}"#)
    }

    fn text_message(&self, _: Role, text: &str) -> String {
        format!(
            r#"{{"role":"user","parts":[{}]}}"#,
            self.text_part(&json::encode(text))
        )
    }

    fn output_content(&self, old: &str, text: &str, _: &[&str]) -> String {
        if json::is_text(old) {
            text.to_owned()
        } else {
            // A call that failed is not to look like one that did not.
            let members = json::members(old);
            let failed = members.is_some_and(|members| members.present("error").is_some());
            let key = if failed { "error" } else { "output" };
            format!(r#"{{"{key}":{text}}}"#)
        }
    }
}

/// Whether a body says that there are no tools. A bare list of contents does not, nor does one whose tools may
/// be in the cache.
fn declares_no_tools(body: &Body<'_>) -> bool {
    let cached = ["cachedContent", "cached_content"];
    body.list != List::Bare
        && cached.iter().all(|key| body.member(key).is_none())
        && body
            .member("tools")
            .is_none_or(|tools| json::is_empty_list(tools.get()))
}

/// Whether a request is for Gemini 3 or later, which refuse calls without their signatures; older models
/// may sign, and take calls either way. The API has the model in its URL; a body names it where a client
/// put it there, and has a level of thinking for these models alone.
fn wants_signatures(body: &Body<'_>) -> bool {
    let config = body
        .member("generationConfig")
        .or_else(|| body.member("generation_config"));
    let level = config
        .and_then(|raw| inside(raw, "thinkingConfig", "thinking_config"))
        .and_then(|raw| inside(raw, "thinkingLevel", "thinking_level"));
    level.is_some() || generation(&body.text("model")).is_some_and(|number| number >= 3)
}

/// The number after `gemini-` in the name of a model.
fn generation(model: &str) -> Option<u32> {
    let (_, name) = model.split_once("gemini-")?;
    let digits = name.split(|c: char| !c.is_ascii_digit()).next()?;
    digits.parse().ok()
}

/// A member of an object, in either spelling.
fn inside<'a>(object: &'a RawValue, camel: &str, snake: &str) -> Option<&'a RawValue> {
    json::members(object.get())?.first(&[camel, snake])
}

/// The texts of a system instruction: a content, or its parts alone, or a text.
fn texts(body: &Body<'_>, raw: &RawValue) -> Vec<Place> {
    if json::is_text(raw.get()) {
        return vec![body.place(raw)];
    }
    let content = json::members(raw.get());
    let parts = content
        .and_then(|content| content.present("parts"))
        .unwrap_or(raw);
    let one_or_many: Vec<Members<'_>> = if json::is_list(parts.get()) {
        json::all_objects(Some(parts))
    } else {
        json::members(parts.get()).into_iter().collect()
    };
    one_or_many
        .iter()
        .filter_map(|part| part.text_value("text"))
        .map(|text| body.place(text))
        .collect()
}

/// The functions of all tools.
fn declarations(body: &Body<'_>, tools: Option<&RawValue>) -> Vec<ToolDefinition> {
    const PARAMETERS: [&str; 3] = [
        "parameters",
        "parametersJsonSchema",
        "parameters_json_schema",
    ];
    json::all_objects(tools)
        .iter()
        .map(|tool| tool.first(&["functionDeclarations", "function_declarations"]))
        .flat_map(json::all_objects)
        .map(|function| {
            let schema = function.first(&PARAMETERS);
            ToolDefinition::of(&function, schema.map(|raw| body.place(raw)))
        })
        .collect()
}
