//! Stack traces: which of their lines are about libraries.

/// Parts of paths of files that belong to libraries, or to the language itself.
const LIBRARIES: [&str; 12] = [
    "/site-packages/",
    "/dist-packages/",
    "/lib/python3",
    "<frozen ",
    "node_modules/",
    "node:internal/",
    "/.cargo/registry/",
    "/rustc/",
    "/pkg/mod/",
    "/usr/local/go/src/",
    "/vendor/bundle/",
    "/gems/",
];

/// What the lines of frames begin with: of Python, of JavaScript, Rust and Java, and of Ruby.
const FRAMES: [&str; 3] = ["File \"", "at ", "from /"];

/// Finds the lines of traces that are about libraries, line by line.
#[derive(Debug, Default)]
pub(super) struct Traces {
    /// After a frame of Python: its indentation, and whether its code may follow although that is not indented.
    frame: Option<(usize, bool)>,
}

impl Traces {
    /// Whether the next line is a frame of a library, or its code. What went wrong is told elsewhere.
    pub(super) fn is_of_library(&mut self, line: &str) -> bool {
        let frame = line.trim_start();
        let indent = line.len() - frame.len();
        if FRAMES.iter().any(|start| frame.starts_with(start)) {
            let is_of_library = is_of_library(frame);
            let has_code = is_of_library && frame.starts_with(FRAMES[0]);
            self.frame = has_code.then_some((indent, true));
            return is_of_library;
        }
        let Some((at, is_next)) = self.frame else {
            return false;
        };
        let marks = !frame.trim_end().is_empty()
            && frame
                .trim_end()
                .bytes()
                .all(|byte| matches!(byte, b'^' | b'~'));
        let is_code = indent > at || is_next || marks;
        self.frame = is_code.then_some((at, false));
        is_code
    }
}

/// Whether a frame, or the path of a file, is one of a library.
pub(super) fn is_of_library(frame: &str) -> bool {
    LIBRARIES.iter().any(|library| frame.contains(library))
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
tide.Ebb: none"#;
        let mut traces = Traces::default();
        let of_library: Vec<bool> = trace
            .lines()
            .map(|line| traces.is_of_library(line))
            .collect();
        let expected = [
            false, true, true, true, false, false, false, true, false, false, true, true, true,
            false,
        ];
        assert_eq!(of_library, expected);
    }
}
