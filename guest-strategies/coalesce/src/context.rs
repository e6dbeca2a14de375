//! The context of the call that the embedding program provides. `context.schema.json` is its JSON Schema.

mod fields;

use baler_strategy::Failure;

use crate::value::Value;
use fields::{At, Fields};

/// The fields of the call's context that this strategy reads. Others are for other strategies.
#[derive(Debug, Clone, Default)]
pub(crate) struct Context {
    /// the tools of the program; the request's own where there are none
    pub tools: Option<Vec<ToolOfProgram>>,
    /// what the program was given
    pub data: Vec<(String, Value)>,
    /// what the program has defined
    pub memory: Memory,
    /// how many turns are left
    pub turns_left: Option<i128>,
    /// what the final answer has to look like
    pub signature: Option<String>,
    /// what the fields of the final answer mean
    pub field_descriptions: Vec<(String, String)>,
    /// the completed turns; the steps of the conversation where there are none
    pub turns: Option<Vec<TurnOfProgram>>,
}

/// A tool of the program.
#[derive(Debug, Clone)]
pub(crate) struct ToolOfProgram {
    pub name: String,
    pub signature: Option<String>,
    pub description: Option<String>,
}

/// The definitions of all turns.
#[derive(Debug, Clone, Default)]
pub(crate) struct Memory {
    pub values: Vec<(String, Value)>,
    pub functions: Vec<Function>,
}

/// A function that the program has defined.
#[derive(Debug, Clone)]
pub(crate) struct Function {
    pub name: String,
    pub params: Vec<String>,
    pub rest: Option<String>,
    pub doc: Option<String>,
    pub returns: Option<String>,
}

/// A completed turn.
#[derive(Debug, Clone)]
pub(crate) struct TurnOfProgram {
    pub number: Option<i128>,
    pub program: Option<String>,
    pub result: Option<Value>,
    pub prints: Vec<String>,
    pub tool_calls: Vec<CallOfProgram>,
    pub success: Option<bool>,
    pub error: Option<Value>,
}

/// A tool call in a turn. Other fields are ignored.
#[derive(Debug, Clone)]
pub(crate) struct CallOfProgram {
    pub name: String,
    pub arguments: Option<Value>,
    pub result: Option<Value>,
}

impl Context {
    /// Reads the context. An empty text gives a context without fields.
    pub(crate) fn parse(text: &str) -> Result<Self, Failure> {
        if text.trim().is_empty() {
            return Ok(Self::default());
        }
        serde_json::from_str(text)
            .map_err(|error| error.to_string())
            .and_then(Self::read)
            .map_err(|error| Failure::Other(format!("the context of this call: {error}")))
    }

    fn read(value: Value) -> Result<Self, String> {
        let path = String::new();
        let mut fields = Fields::of(At { value, path })?;
        let turns = each(fields.list("turns")?, TurnOfProgram::read)?;
        let numbers = turns.iter().flatten().filter_map(|turn| turn.number);
        if !numbers.is_sorted() {
            return Err("`turns` must come in the order of their numbers".to_owned());
        }
        Ok(Self {
            tools: each(fields.list("tools")?, ToolOfProgram::read)?,
            data: fields.entries("data")?,
            memory: fields
                .object("memory")?
                .map_or_else(|| Ok(Memory::default()), Memory::read)?,
            turns_left: fields.integer("turns-left")?,
            signature: fields.text("signature")?,
            field_descriptions: fields.text_entries("field-descriptions")?,
            turns,
        })
    }
}

fn each<T>(
    list: Option<Vec<At>>,
    read: fn(At) -> Result<T, String>,
) -> Result<Option<Vec<T>>, String> {
    let Some(list) = list else {
        return Ok(None);
    };
    let mut all = Vec::with_capacity(list.len());
    for at in list {
        all.push(read(at)?);
    }
    Ok(Some(all))
}

impl ToolOfProgram {
    fn read(at: At) -> Result<Self, String> {
        let mut fields = Fields::of(at)?;
        let tool = Self {
            signature: fields.text("signature")?,
            description: fields.text("description")?,
            name: fields.name()?,
        };
        fields.end()?;
        Ok(tool)
    }
}

impl Memory {
    fn read(mut fields: Fields) -> Result<Self, String> {
        let memory = Self {
            values: fields.entries("values")?,
            functions: each(fields.list("functions")?, Function::read)?.unwrap_or_default(),
        };
        fields.end()?;
        Ok(memory)
    }
}

impl Function {
    fn read(at: At) -> Result<Self, String> {
        let mut fields = Fields::of(at)?;
        let function = Self {
            params: fields.texts("params")?,
            rest: fields.text("rest")?,
            doc: fields.text("doc")?,
            returns: fields.text("returns")?,
            name: fields.name()?,
        };
        fields.end()?;
        Ok(function)
    }
}

impl TurnOfProgram {
    fn read(at: At) -> Result<Self, String> {
        let mut fields = Fields::of(at)?;
        let turn = Self {
            number: fields.integer("number")?,
            program: fields.text("program")?,
            result: fields.value("result"),
            prints: fields.texts("prints")?,
            tool_calls: each(fields.list("tool-calls")?, CallOfProgram::read)?.unwrap_or_default(),
            success: fields.flag("success")?,
            error: fields.value("error"),
        };
        fields.end()?;
        Ok(turn)
    }

    /// Returns whether the turn failed: by `success`, or else by whether it has an error.
    pub(crate) fn has_failed(&self) -> bool {
        !self.success.unwrap_or(self.error.is_none())
    }
}

impl CallOfProgram {
    fn read(at: At) -> Result<Self, String> {
        let mut fields = Fields::of(at)?;
        Ok(Self {
            arguments: fields.value("arguments"),
            result: fields.value("result"),
            name: fields.name()?,
        })
    }
}
