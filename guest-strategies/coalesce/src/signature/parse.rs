//! Parses signatures.

use super::{Basic, Signature, Type};

/// The deepest nesting of types. Real signatures are flatter, and deeper ones could exhaust the stack.
const DEPTH: usize = 32;

/// Returns the signature; `None` if the text is not exactly one signature.
pub(super) fn signature(text: &str) -> Option<Signature> {
    let mut rest = Rest(text);
    let mut params = Vec::new();
    let has_params = rest.eat("(");
    if has_params {
        params = rest.fields(")", DEPTH)?;
    }
    let has_arrow = rest.eat("->");
    if has_params && !has_arrow {
        return None;
    }
    let returns = rest.a_type(DEPTH)?;
    rest.is_empty().then_some(Signature { params, returns })
}

/// The text that is still to be read.
struct Rest<'a>(&'a str);

impl<'a> Rest<'a> {
    fn eat(&mut self, word: &str) -> bool {
        match self.0.trim_start().strip_prefix(word) {
            Some(rest) => {
                self.0 = rest;
                true
            }
            None => false,
        }
    }

    fn is_empty(&self) -> bool {
        self.0.trim_start().is_empty()
    }

    fn name(&mut self) -> Option<&'a str> {
        let text = self.0.trim_start();
        let starts = |first: char| first.is_ascii_alphabetic() || first == '_';
        let goes_on = |next: char| next.is_ascii_alphanumeric() || matches!(next, '-' | '_');
        if !text.starts_with(starts) {
            return None;
        }
        let end = text.find(|next| !goes_on(next)).unwrap_or(text.len());
        let (name, rest) = text.split_at(end);
        self.0 = rest;
        Some(name)
    }

    /// Reads names with types up to the closing bracket.
    fn fields(&mut self, close: &str, depth: usize) -> Option<Vec<(String, Type)>> {
        let mut fields = Vec::new();
        if self.eat(close) {
            return Some(fields);
        }
        loop {
            let name = self.name()?.to_owned();
            fields.push((name, self.a_type(depth)?));
            if self.eat(close) {
                return Some(fields);
            }
            if !self.eat(",") {
                return None;
            }
        }
    }

    fn a_type(&mut self, depth: usize) -> Option<Type> {
        let depth = depth.checked_sub(1)?;
        if self.eat("[") {
            let of = self.a_type(depth)?;
            return self.eat("]").then(|| Type::List(Box::new(of)));
        }
        if self.eat("{") {
            return self.fields("}", depth).map(Type::Map);
        }
        if !self.eat(":") {
            return None;
        }
        let name = self.name()?;
        let basic = Basic::ALL.into_iter().find(|basic| basic.name() == name)?;
        if let Some(rest) = self.0.strip_prefix('?') {
            self.0 = rest;
            return Some(Type::Optional(basic));
        }
        Some(Type::Basic(basic))
    }
}
