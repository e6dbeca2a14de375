//! Stack traces: which of their lines are about libraries.

use super::errors;
use super::signs::Signs;

/// Parts of paths of files that belong to libraries, or to the language itself. They are looked for in each name.
static LIBRARIES: Signs<11> = Signs::new([
    "/site-packages/",
    "/dist-packages/",
    "/lib/python3.",
    "<frozen ",
    "node_modules/",
    "node:internal/",
    "/.cargo/registry/",
    "/library/std/src/",
    "/library/core/src/",
    "/lib/ruby/",
    "/bundle/ruby/",
]);

/// What the lines of frames begin with: of Python, of JavaScript and Rust, and of Ruby.
const FRAMES: [&str; 3] = ["File \"", "at ", "from /"];

/// Finds the lines of traces that are about libraries, line by line.
#[derive(Debug, Default)]
pub(super) struct Traces {
    next: Next,
}

/// What the next line may be, below a frame of Python.
#[derive(Debug, Default)]
enum Next {
    #[default]
    Other,
    Code,
    /// Signs below the code: `^^^^`.
    Marks,
}

impl Traces {
    /// Whether the next line is a frame of a library, or its code. Neither says what went wrong.
    pub(super) fn is_of_library(&mut self, line: &str) -> bool {
        let line = line.trim();
        if is_frame(line) {
            let is_of_library = is_of_library(line);
            let has_code = is_of_library && line.starts_with(FRAMES[0]);
            self.next = if has_code { Next::Code } else { Next::Other };
            return is_of_library;
        }
        let are_marks =
            || !line.is_empty() && line.bytes().all(|byte| matches!(byte, b'^' | b'~' | b' '));
        match std::mem::take(&mut self.next) {
            Next::Code if !errors::is_error_from_its_start(line) => {
                self.next = Next::Marks;
                true
            }
            Next::Marks => are_marks(),
            _ => false,
        }
    }
}

/// Whether a line is a frame of a library.
pub(super) fn is_frame_of_library(line: &str) -> bool {
    is_frame(line) && is_of_library(line)
}

fn is_frame(line: &str) -> bool {
    FRAMES.iter().any(|start| line.starts_with(start))
}

/// Whether a path, or a line with one, is of a file of a library.
pub(super) fn is_of_library(frame: &str) -> bool {
    LIBRARIES.are_in(frame)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn frames_of_libraries_are_told_from_those_of_the_project() {
        let trace = r#"Traceback (most recent call last):
  File "/venv/lib/python3.12/site-packages/tide/core.py", line 3, in run
    return call(tide)
           ^^^^^^^^^^
  File "/home/mira/quay/berth.py", line 7, in moor
    raise NoBerth("none")
berth.NoBerth: none
    at Module._load (node:internal/modules/loader:1:2)
    at moor (/home/mira/quay/berth.js:7:1)
  indented words at /site-packages/
File "/venv/site-packages/tide.py", line 3, in run
call(tide)
~~~~^^^^^^
File "/venv/site-packages/tide.py", line 3, in run
KeyError: 7"#;
        let mut traces = Traces::default();
        let of_library: Vec<bool> = trace
            .lines()
            .map(|line| traces.is_of_library(line))
            .collect();
        let expected = [
            false, true, true, true, false, false, false, true, false, false, true, true, true,
            true, false,
        ];
        assert_eq!(of_library, expected);
    }
}
