//! Writes Python objects as JSON.
//!
//! Dictionaries, lists, tuples, texts, numbers, booleans and `None` are written as they are, and objects of the
//! providers' clients as these clients write them. Errors name the place, such as `messages[3].content`.

use std::fmt::Write as _;

use pyo3::exceptions::PyKeyboardInterrupt;
use pyo3::intern;
use pyo3::prelude::*;
use pyo3::types::{PyBool, PyDict, PyFloat, PyInt, PyList, PyMapping, PyString, PyTuple};

use crate::errors;

/// Levels of lists and objects; the reader has the same limit.
const MAX_DEPTH: usize = 120;

/// Returns a Python object as JSON text. `place` names the object in errors.
#[pyfunction]
pub(crate) fn to_json(value: &Bound<'_, PyAny>, place: &str) -> PyResult<String> {
    let mut writer = Writer {
        out: Vec::new(),
        root: place,
        place: Vec::new(),
    };
    writer.value(value)?;
    String::from_utf8(writer.out).map_err(|error| errors::conversation(error.to_string()))
}

/// A step from a value to one inside.
enum Step<'py> {
    Key(Bound<'py, PyString>),
    Index(usize),
}

struct Writer<'a, 'py> {
    out: Vec<u8>,
    root: &'a str,
    place: Vec<Step<'py>>,
}

impl<'py> Writer<'_, 'py> {
    fn value(&mut self, value: &Bound<'py, PyAny>) -> PyResult<()> {
        if let Ok(text) = value.cast::<PyString>() {
            return self.text(text);
        }
        if let Ok(dict) = value.cast::<PyDict>() {
            return self.dict(dict);
        }
        if let Ok(list) = value.cast::<PyList>() {
            return self.list(list.iter());
        }
        if value.is_none() {
            self.out.extend(b"null");
            return Ok(());
        }
        if let Ok(truth) = value.cast::<PyBool>() {
            let word: &[u8] = if truth.is_true() { b"true" } else { b"false" };
            self.out.extend(word);
            return Ok(());
        }
        if let Ok(number) = value.cast::<PyInt>() {
            return self.integer(number);
        }
        if let Ok(number) = value.cast::<PyFloat>() {
            return self.float(number.value());
        }
        if let Ok(tuple) = value.cast::<PyTuple>() {
            return self.list(tuple.iter());
        }
        self.object(value)
    }

    fn text(&mut self, text: &Bound<'py, PyString>) -> PyResult<()> {
        match text.to_str() {
            Ok(text) => serde_json::to_writer(&mut self.out, text)
                .map_err(|error| self.wrong(&error.to_string())),
            Err(error) => {
                let wrong = self.wrong(
                    "the text has a lone surrogate, which is half of a character and cannot be written as UTF-8; \
                     remove it, for example with `text.encode(\"utf-8\", \"replace\").decode()`",
                );
                Err(caused_by(text.py(), wrong, error))
            }
        }
    }

    fn dict(&mut self, dict: &Bound<'py, PyDict>) -> PyResult<()> {
        self.begin(b'{')?;
        let mut is_first = true;
        // A copy: writing a value may run code that changes the dictionary.
        for item in dict.items() {
            let (key, value) = item.extract::<(Bound<'py, PyAny>, Bound<'py, PyAny>)>()?;
            self.member(&mut is_first, key, &value)?;
        }
        self.out.push(b'}');
        Ok(())
    }

    fn member(
        &mut self,
        is_first: &mut bool,
        key: Bound<'py, PyAny>,
        value: &Bound<'py, PyAny>,
    ) -> PyResult<()> {
        let key = key.cast_into::<PyString>().map_err(|error| {
            let found = kind(&error.into_inner());
            self.wrong(&format!(
                "expected keys of type str, found one of type {found}"
            ))
        })?;
        if !std::mem::take(is_first) {
            self.out.push(b',');
        }
        self.text(&key)?;
        self.out.push(b':');
        self.place.push(Step::Key(key));
        self.value(value)?;
        self.place.pop();
        Ok(())
    }

    fn list(&mut self, items: impl Iterator<Item = Bound<'py, PyAny>>) -> PyResult<()> {
        self.begin(b'[')?;
        for (index, item) in items.enumerate() {
            if index > 0 {
                self.out.push(b',');
            }
            self.place.push(Step::Index(index));
            self.value(&item)?;
            self.place.pop();
        }
        self.out.push(b']');
        Ok(())
    }

    fn begin(&mut self, bracket: u8) -> PyResult<()> {
        if self.place.len() > MAX_DEPTH {
            return Err(self.wrong(&format!(
                "lists and objects are nested more than {MAX_DEPTH} deep, or contain themselves"
            )));
        }
        self.out.push(bracket);
        Ok(())
    }

    fn integer(&mut self, number: &Bound<'py, PyInt>) -> PyResult<()> {
        if let Ok(small) = number.extract::<i64>() {
            let mut digits = String::new();
            let _ = write!(digits, "{small}");
            self.out.extend(digits.as_bytes());
            return Ok(());
        }
        // Not `str`, which a subclass may change. Python itself refuses more than 4,300 digits.
        let int = number.py().get_type::<PyInt>();
        let digits = int.call_method1("__repr__", (number,)).map_err(|error| {
            let wrong = self.wrong("the integer has too many digits to be written");
            caused_by(number.py(), wrong, error)
        })?;
        self.out.extend(digits.extract::<String>()?.as_bytes());
        Ok(())
    }

    fn float(&mut self, number: f64) -> PyResult<()> {
        if !number.is_finite() {
            return Err(self.wrong(&format!(
                "{number} cannot be written as JSON; give a finite number or None"
            )));
        }
        serde_json::to_writer(&mut self.out, &number)
            .map_err(|error| self.wrong(&error.to_string()))
    }

    /// Writes an object of a provider's client (all are pydantic models), or another mapping.
    fn object(&mut self, value: &Bound<'py, PyAny>) -> PyResult<()> {
        let py = value.py();
        if !value.is_instance_of::<pyo3::types::PyType>()
            && let Some(dump) = value.getattr_opt(intern!(py, "model_dump"))?
        {
            let dumped = self.dumped(value, &dump)?;
            return self.value(&dumped);
        }
        if let Ok(mapping) = value.cast::<PyMapping>() {
            let items = mapping.items().map_err(|error| self.failed(value, error))?;
            self.begin(b'{')?;
            let mut is_first = true;
            for item in items.iter() {
                let (key, value) = item.extract::<(Bound<'py, PyAny>, Bound<'py, PyAny>)>()?;
                self.member(&mut is_first, key, &value)?;
            }
            self.out.push(b'}');
            return Ok(());
        }
        let found = kind(value);
        let hint = match &*found {
            "generator" | "map" | "filter" | "list_iterator" => {
                "; make a list of it with `list(…)`"
            }
            "coroutine" => "; it lacks an `await`",
            "bytes" | "bytearray" => "; give text, or base64 as the provider takes it",
            _ => "",
        };
        Err(self.wrong(&format!(
            "expected a dict, list, str, number, bool, None or a message of a provider's client, found {found}{hint}"
        )))
    }

    fn dumped(
        &self,
        value: &Bound<'py, PyAny>,
        dump: &Bound<'py, PyAny>,
    ) -> PyResult<Bound<'py, PyAny>> {
        let options = PyDict::new(value.py());
        options.set_item("mode", "json")?;
        options.set_item("by_alias", true)?;
        // As the clients do: a field that was not set is not sent.
        options.set_item("exclude_unset", true)?;
        if module(value).starts_with("google.genai") {
            options.set_item("exclude_none", true)?;
        }
        options.set_item("warnings", false)?;
        let dumped = dump
            .call((), Some(&options))
            .map_err(|error| self.failed(value, error))?;
        // Anything else could be dumped again, without end.
        match dumped.cast::<PyDict>().is_ok() || dumped.cast::<PyList>().is_ok() {
            true => Ok(dumped),
            false => Err(self.wrong(&format!(
                "expected `model_dump` of {} to return a dict, found {}",
                kind(value),
                kind(&dumped)
            ))),
        }
    }

    fn failed(&self, value: &Bound<'py, PyAny>, error: PyErr) -> PyErr {
        // Ctrl-C is nothing that is wrong with the object.
        if error.is_instance_of::<PyKeyboardInterrupt>(value.py()) {
            return error;
        }
        let wrong = self.wrong(&format!(
            "the object of type {} cannot be read",
            kind(value)
        ));
        caused_by(value.py(), wrong, error)
    }

    /// Returns the exception for a value at the present place.
    fn wrong(&self, what: &str) -> PyErr {
        let mut place = self.root.to_owned();
        for step in &self.place {
            match step {
                Step::Index(index) => {
                    let _ = write!(place, "[{index}]");
                }
                Step::Key(key) => {
                    if !place.is_empty() {
                        place.push('.');
                    }
                    place.push_str(&shown(key));
                }
            }
        }
        match place.is_empty() {
            true => errors::conversation(what.to_owned()),
            false => errors::conversation(format!("`{place}`: {what}")),
        }
    }
}

/// Returns a key as it may be shown: it can be anything, of any length.
fn shown(key: &Bound<'_, PyString>) -> String {
    let key = key.to_string_lossy();
    let is_plain = |c: &char| c.is_alphanumeric() || "_-.$ ".contains(*c);
    key.chars()
        .map(|c| if is_plain(&c) { c } else { '?' })
        .take(60)
        .collect()
}

fn kind(value: &Bound<'_, PyAny>) -> String {
    let name = value.get_type().name();
    name.map_or_else(|_| "an object".to_owned(), |name| name.to_string())
}

fn module(value: &Bound<'_, PyAny>) -> String {
    let module = value.get_type().module();
    module.map_or_else(|_| String::new(), |module| module.to_string())
}

fn caused_by(py: Python<'_>, error: PyErr, cause: PyErr) -> PyErr {
    error.set_cause(py, Some(cause));
    error
}
