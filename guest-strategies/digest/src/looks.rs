//! Joins files that were only read, one after the other, to one line: `read src/lock.rs, src/tide.rs ×2`.

use super::actions::{Action, TIMES};
use super::facts::EARLIER;

/// What such a line begins with, and what separates its files.
const READ: &str = "read ";
const BETWEEN: &str = ", ";

/// What separates a file from what was done with it, in other lines.
const FROM_VERBS: &str = ": ";

/// Most files of a line: a reader, and a list of names, takes in no more.
const FILES: usize = 8;

/// Returns the file that an entry says was read, and how often, as it stands in a joined line; `None` of other entries.
fn file_read(entry: &str) -> Option<String> {
    let (file, times) = entry.rsplit_once(": read")?;
    let is_plain = !file.is_empty()
        && ![BETWEEN, FROM_VERBS, TIMES]
            .iter()
            .any(|sign| file.contains(sign));
    let is_number = times.is_empty()
        || times
            .strip_prefix(TIMES)
            .is_some_and(|times| times.parse::<u32>().is_ok());
    (is_plain && is_number).then(|| format!("{file}{times}"))
}

/// Returns entries about what was done, in their order, with files that were read one after the other joined.
pub(super) fn joined(entries: &[&str]) -> Vec<String> {
    let mut joined: Vec<String> = Vec::with_capacity(entries.len());
    let mut files: Vec<String> = Vec::new();
    let mut first = "";
    let close = |joined: &mut Vec<String>, files: &mut Vec<String>, first: &str| {
        match files.len() {
            0 => {}
            1 => joined.push(first.to_owned()),
            _ => joined.push(format!("{READ}{}", files.join(BETWEEN))),
        }
        files.clear();
    };
    // More would be cut when the line is read back.
    let is_full = |files: &[String], file: &str| {
        let bytes: usize = files.iter().map(|file| file.len() + BETWEEN.len()).sum();
        files.len() == FILES || READ.len() + bytes + file.len() > EARLIER
    };
    for entry in entries {
        let file = file_read(entry);
        if file.as_ref().is_none_or(|file| is_full(&files, file)) {
            close(&mut joined, &mut files, first);
        }
        match file {
            Some(file) => {
                if files.is_empty() {
                    first = entry;
                }
                files.push(file);
            }
            None => joined.push((*entry).to_owned()),
        }
    }
    close(&mut joined, &mut files, first);
    joined
}

/// Returns the actions of a line that [`joined`] wrote; none of other lines.
pub(super) fn of_line(line: &str) -> Vec<Action> {
    let files = line.strip_prefix(READ);
    let Some(files) = files.filter(|files| !files.contains(FROM_VERBS)) else {
        return Vec::new();
    };
    let actions = files.split(BETWEEN).map(|file| {
        let (file, times) = file.rsplit_once(TIMES).unwrap_or((file, "1"));
        Action::of_line(&format!("{file}: read{TIMES}{times}"))
    });
    actions.collect::<Option<Vec<Action>>>().unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn files_that_were_read_in_a_row_stand_in_one_line_and_are_read_back() {
        let entries = [
            "a.rs: read",
            "b.rs: read ×2",
            "b.rs: edited",
            "c.rs: read",
            "ran `make`",
            "d.rs: read (fill_lock)",
            "notes: tide: read",
        ];
        let lines = joined(&entries);
        assert_eq!(
            lines,
            [
                "read a.rs, b.rs ×2",
                "b.rs: edited",
                "c.rs: read",
                "ran `make`",
                "d.rs: read (fill_lock)",
                "notes: tide: read"
            ]
        );
        let read: Vec<String> = of_line(&lines[0]).iter().map(Action::line).collect();
        assert_eq!(read, ["a.rs: read", "b.rs: read ×2"]);
        assert!(of_line(&lines[1]).is_empty());
        assert!(of_line("read me: edited").is_empty());
    }

    #[test]
    fn a_line_of_long_paths_is_read_back_as_a_whole() {
        let entries: Vec<String> = (0..8)
            .map(|number| format!("{}{number}.rs: read", "quay/".repeat(60)))
            .collect();
        let entries: Vec<&str> = entries.iter().map(String::as_str).collect();
        let lines = joined(&entries);
        assert!(lines.iter().all(|line| line.len() <= EARLIER));
        assert_eq!(
            lines.iter().map(|line| of_line(line).len()).sum::<usize>(),
            8
        );
        assert_eq!(lines.len(), 3);
    }

    #[test]
    fn a_line_has_few_files() {
        let entries: Vec<String> = (0..20)
            .map(|number| format!("quay{number}.rs: read"))
            .collect();
        let entries: Vec<&str> = entries.iter().map(String::as_str).collect();
        let lines = joined(&entries);
        assert_eq!(lines.len(), 3);
        assert_eq!(
            lines.iter().map(|line| of_line(line).len()).sum::<usize>(),
            20
        );
    }
}
