//! Spellings of JSON that mean the same, for tests: encoders differ, and an agent's library may
//! spell what baler wrote in its own way.

use serde_json::Value;

/// How an encoder spells JSON.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Spelling {
    /// Markup as escapes, as encoders of Go, .NET, Gson and Rails write it.
    Markup,
    /// `\/`, and nothing but ASCII, as PHP writes it.
    Slashes,
    /// All characters as escapes, with small hexadecimal digits.
    Small,
    /// The same with capitals.
    Capitals,
    /// Members in the other order, with white space between all tokens.
    Loose,
}

impl Spelling {
    /// All of them.
    pub const ALL: [Self; 5] = [
        Self::Markup,
        Self::Slashes,
        Self::Small,
        Self::Capitals,
        Self::Loose,
    ];

    /// JSON in this spelling.
    ///
    /// # Panics
    /// It is no JSON.
    #[must_use]
    #[expect(clippy::expect_used, reason = "only tests call it")]
    pub fn of(self, json: &str) -> String {
        let mut written = String::new();
        let value = serde_json::from_str(json).expect("JSON");
        self.write(&value, &mut written);
        written
    }

    fn write(self, value: &Value, written: &mut String) {
        let (space, comma) = match self {
            Self::Loose => (" \t", " ,\t"),
            _ => ("", ","),
        };
        match value {
            Value::String(text) => self.text(text, written),
            Value::Array(values) => {
                written.push('[');
                for (index, value) in values.iter().enumerate() {
                    written.push_str(if index > 0 { comma } else { space });
                    self.write(value, written);
                }
                written.push_str(space);
                written.push(']');
            }
            Value::Object(members) => {
                let mut members: Vec<_> = members.iter().collect();
                if self == Self::Loose {
                    members.reverse();
                }
                written.push('{');
                for (index, (key, value)) in members.into_iter().enumerate() {
                    written.push_str(if index > 0 { comma } else { space });
                    self.text(key, written);
                    written.push_str(space);
                    written.push(':');
                    written.push_str(space);
                    self.write(value, written);
                }
                written.push_str(space);
                written.push('}');
            }
            Value::Null | Value::Bool(_) | Value::Number(_) => {
                written.push_str(&value.to_string());
            }
        }
    }

    fn text(self, text: &str, written: &mut String) {
        written.push('"');
        for c in text.chars() {
            let is_escaped = match self {
                Self::Markup => matches!(c, '<' | '>' | '&' | '\'' | '\u{2028}' | '\u{2029}'),
                Self::Slashes => !c.is_ascii(),
                Self::Small | Self::Capitals => true,
                Self::Loose => false,
            };
            if is_escaped {
                for unit in c.encode_utf16(&mut [0; 2]) {
                    written.push_str(&match self {
                        Self::Capitals => format!("\\u{unit:04X}"),
                        _ => format!("\\u{unit:04x}"),
                    });
                }
            } else if c == '/' && self == Self::Slashes {
                written.push_str("\\/");
            } else {
                let quoted = Value::from(c.to_string()).to_string();
                written.push_str(&quoted[1..quoted.len() - 1]);
            }
        }
        written.push('"');
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_spelling_means_the_same() {
        let json = r#"{"a/b":["<\"\\\n>",1.5,null,true,{}],"é🦀":"日本 \u0000","c":[]}"#;
        let value: Value = serde_json::from_str(json).expect("JSON");
        for spelling in Spelling::ALL {
            let spelled = spelling.of(json);
            assert_ne!(spelled, json, "{spelling:?}");
            let read: Value = serde_json::from_str(&spelled).expect("JSON");
            assert_eq!(read, value, "{spelled}");
        }
    }
}
