//! Signatures in the form `(name :type, …) -> :type`, or only the type.

mod parse;
mod schema;

use std::fmt::Write;

use crate::value::Value;

/// The parameters and the return type of a tool, or the form of an answer.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Signature {
    pub params: Vec<(String, Type)>,
    pub returns: Type,
}

/// A type.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Type {
    Basic(Basic),
    Optional(Basic),
    List(Box<Type>),
    Map(Vec<(String, Type)>),
}

/// A type with a name.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Basic {
    String,
    Int,
    Float,
    Bool,
    Keyword,
    Any,
    Map,
}

/// Whether types are written with colons.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Colons {
    With,
    Without,
}

impl Signature {
    /// Reads a signature; `None` if the text is not one.
    pub(crate) fn parse(text: &str) -> Option<Self> {
        parse::signature(text)
    }

    /// Returns the signature of a tool from the JSON Schema of its arguments. The return type is unknown.
    pub(crate) fn of_schema(schema: &Value) -> Self {
        Self {
            params: schema::fields(schema),
            returns: Type::Basic(Basic::Any),
        }
    }

    /// Returns the signature without parameters and of any type, which replaces an absent or invalid one.
    pub(crate) fn unknown() -> Self {
        Self {
            params: Vec::new(),
            returns: Type::Basic(Basic::Any),
        }
    }

    /// Returns the parameters with their types, without colons.
    pub(crate) fn params(&self) -> String {
        fields(&self.params, Colons::Without)
    }
}

impl Basic {
    const ALL: [Self; 7] = [
        Self::String,
        Self::Int,
        Self::Float,
        Self::Bool,
        Self::Keyword,
        Self::Any,
        Self::Map,
    ];

    fn name(self) -> &'static str {
        match self {
            Self::String => "string",
            Self::Int => "int",
            Self::Float => "float",
            Self::Bool => "bool",
            Self::Keyword => "keyword",
            Self::Any => "any",
            Self::Map => "map",
        }
    }

    fn example(self) -> &'static str {
        match self {
            Self::String => "\"result\"",
            Self::Int => "42",
            Self::Float => "3.14",
            Self::Bool => "true",
            Self::Keyword => ":ok",
            Self::Any => "...",
            Self::Map => "{}",
        }
    }
}

impl Type {
    /// Returns the type as text.
    pub(crate) fn text(&self, colons: Colons) -> String {
        let colon = match colons {
            Colons::With => ":",
            Colons::Without => "",
        };
        match self {
            Self::Basic(basic) => format!("{colon}{}", basic.name()),
            Self::Optional(basic) => format!("{colon}{}?", basic.name()),
            Self::List(of) => format!("[{}]", of.text(colons)),
            Self::Map(of) => format!("{{{}}}", fields(of, colons)),
        }
    }

    /// Returns an example of the type, as a program would write it.
    pub(crate) fn example(&self) -> String {
        match self {
            Self::Basic(basic) | Self::Optional(basic) => basic.example().to_owned(),
            Self::List(_) => "[]".to_owned(),
            Self::Map(of) => {
                let of: Vec<String> = of
                    .iter()
                    .map(|(name, of)| format!(":{name} {}", of.example()))
                    .collect();
                format!("{{{}}}", of.join(", "))
            }
        }
    }

    /// Returns the names of the fields of a map; none for other types.
    pub(crate) fn field_names(&self) -> impl Iterator<Item = &str> {
        let of = match self {
            Self::Map(of) => &of[..],
            _ => &[],
        };
        of.iter().map(|(name, _)| name.as_str())
    }
}

fn fields(of: &[(String, Type)], colons: Colons) -> String {
    let mut text = String::new();
    for (index, (name, of)) in of.iter().enumerate() {
        let comma = if index == 0 { "" } else { ", " };
        let _ = write!(text, "{comma}{name} {}", of.text(colons));
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn signature(text: &str) -> Signature {
        Signature::parse(text).unwrap_or_else(|| panic!("`{text}` is one"))
    }

    /// PT-S8
    #[test]
    fn params_and_types_are_written_without_colons() {
        let signature = signature(
            "(q :string, tags [:keyword?], by {id :int, more {deep [:any]}}) -> {total :float?}",
        );
        assert_eq!(
            signature.params(),
            "q string, tags [keyword?], by {id int, more {deep [any]}}"
        );
        assert_eq!(signature.returns.text(Colons::Without), "{total float?}");
        assert_eq!(signature.returns.text(Colons::With), "{total :float?}");
    }

    /// PT-S8
    #[test]
    fn a_signature_may_have_no_params() {
        for text in ["() -> :map", "-> :map", ":map", "  ->  :map "] {
            let signature = signature(text);
            assert_eq!(signature.params(), "", "{text}");
            assert_eq!(signature.returns.text(Colons::Without), "map", "{text}");
        }
    }

    /// PT-S8
    #[test]
    fn what_is_broken_says_nothing() {
        for text in [
            "",
            "string",
            ":text",
            "(q :string)",
            "(q) -> :int",
            "(1q :int) -> :int",
            "(q :int,) -> :int",
            "(q :int -> :int",
            "[:int",
            "[:int]?",
            "{a :int} b",
            "-> ",
        ] {
            assert_eq!(Signature::parse(text), None, "{text}");
        }
        assert_eq!(
            Signature::parse(&format!("{}:int{}", "[".repeat(9999), "]".repeat(9999))),
            None,
            "nor does it exhaust the stack"
        );
    }

    /// PT-S16
    #[test]
    fn examples() {
        for (text, example) in [
            (":int", "42"),
            (":float", "3.14"),
            (":string", "\"result\""),
            (":bool", "true"),
            (":keyword", ":ok"),
            (":any", "..."),
            (":map", "{}"),
            ("[:int]", "[]"),
            (":int?", "42"),
            (
                "{total :float, by {name :string?}}",
                "{:total 3.14, :by {:name \"result\"}}",
            ),
        ] {
            assert_eq!(signature(text).returns.example(), example);
        }
    }

    #[test]
    fn a_json_schema_gives_the_params_in_its_order() {
        let schema = serde_json::from_str(
            r#"{"type":"object","required":["path","edits"],"properties":{
                "path":{"type":"string"},
                "limit":{"type":"integer"},
                "ratio":{"type":["number","null"]},
                "edits":{"type":"array","items":{"type":"object","properties":{"on":{"type":"boolean"}},"required":["on"]}},
                "more":{"type":"object"},
                "two words":{"type":"string"},
                "either":{"anyOf":[{"type":"string"},{"type":"integer"}]}}}"#,
        )
        .expect("it is JSON");
        assert_eq!(
            Signature::of_schema(&schema).params(),
            "path string, limit int?, ratio float?, edits [{on bool}], more map?, either any?"
        );
        assert_eq!(Signature::of_schema(&Value::Nil), Signature::unknown());
    }
}
