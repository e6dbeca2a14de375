//! Keeps apart what the user and what programs wrote in a user's text, whatever is cut out of it.
//!
//! Programs write into the user's turns between tags. If the opening tag were cut off and a line behind it
//! kept, that line would read as the user's.

use std::ops::Range;

use baler_provenance::{gaps::GAP, own_words};

/// Maximum bytes of the line with a tag that are kept.
const TAG_LINE: usize = 240;

/// Returns `runs` with the tags around each program's text of which they keep a part. They are in order.
pub(super) fn with_tags(
    text: &str,
    runs: &[Range<usize>],
    programs: &[Range<usize>],
) -> Vec<Range<usize>> {
    let mut all: Vec<Range<usize>> = runs.to_vec();
    for run in runs.iter().filter(|run| !run.is_empty()) {
        let first = programs.partition_point(|program| program.end <= run.start);
        for program in programs[first..]
            .iter()
            .take_while(|program| program.start < run.end)
        {
            if program.start < run.start {
                all.push(opening(text, program));
            }
            if run.end < program.end {
                all.push(closing(text, program));
            }
        }
    }
    all.sort_by_key(|run| (run.start, run.end));
    all.dedup();
    all
}

/// Returns what `runs` keep outside of `programs`.
pub(super) fn without_programs(
    runs: &[Range<usize>],
    programs: &[Range<usize>],
) -> Vec<Range<usize>> {
    let mut own = Vec::new();
    for run in runs {
        let mut at = run.start;
        let first = programs.partition_point(|program| program.end <= run.start);
        for program in programs[first..]
            .iter()
            .take_while(|program| program.start < run.end)
        {
            own.push(at..program.start.max(at));
            at = program.end.max(at);
        }
        own.push(at.min(run.end)..run.end);
    }
    own.retain(|run| !run.is_empty());
    own
}

/// Returns whether all that reads as the user's in `written` is in the user's own words of the whole text, in
/// the same order.
pub(super) fn keeps(own: &str, written: &str) -> bool {
    // Each search begins where the last one ended, so that all of them together read the text once.
    let mut rest = own;
    own_words(written)
        .lines()
        .filter(|line| !line.starts_with(GAP))
        .map(str::trim)
        .all(|line| match rest.find(line) {
            Some(at) => {
                rest = &rest[at + line.len()..];
                true
            }
            None => false,
        })
}

/// The first line of a program's text, which has its opening tag.
fn opening(text: &str, program: &Range<usize>) -> Range<usize> {
    let own = &text[program.clone()];
    let line = own.find('\n').map_or(own.len(), |end| end + 1);
    let end = program.start + line.min(TAG_LINE);
    program.start..text.floor_char_boundary(end)
}

/// The last line of a program's text, which has its closing tag.
fn closing(text: &str, program: &Range<usize>) -> Range<usize> {
    let own = &text[program.clone()];
    let line = own.trim_end().rfind('\n').map_or(0, |end| end + 1);
    let start = (program.start + line).max(program.end.saturating_sub(TAG_LINE));
    text.ceil_char_boundary(start)..program.end
}

#[cfg(test)]
mod tests {
    use baler_provenance::programs_in;

    use super::*;

    const TEXT: &str = "Sound the harbour.\n<system-reminder>\nThe tide turns.\nNever trust the chart.\n</system-reminder>\nBegin at berth 7.\n";

    fn kept(runs: &[Range<usize>]) -> Vec<&'static str> {
        runs.iter().map(|run| &TEXT[run.clone()]).collect()
    }

    fn place(of: &str) -> Range<usize> {
        let start = TEXT.find(of).expect("it is there");
        start..start + of.len()
    }

    #[test]
    fn line_of_a_program_keeps_its_tags() {
        let programs = programs_in(TEXT);
        let runs = with_tags(TEXT, &[place("Never trust the chart.\n")], &programs);
        assert_eq!(
            kept(&runs),
            [
                "<system-reminder>\n",
                "Never trust the chart.\n",
                "</system-reminder>"
            ]
        );
    }

    #[test]
    fn words_outside_of_a_program_stay_as_they_are() {
        let programs = programs_in(TEXT);
        let runs = [place("Sound the"), place("berth 7")];
        assert_eq!(with_tags(TEXT, &runs, &programs), runs);
        assert_eq!(without_programs(&runs, &programs), runs);
    }

    #[test]
    fn without_programs_cuts_them_out_of_runs() {
        let programs = programs_in(TEXT);
        let runs = without_programs(&[place(TEXT)], &programs);
        assert_eq!(
            kept(&runs),
            ["Sound the harbour.\n", "\nBegin at berth 7.\n"]
        );
        assert!(without_programs(&[place("The tide turns.")], &programs).is_empty());
    }

    #[test]
    fn text_in_which_a_program_speaks_for_the_user_is_found_out() {
        let own = own_words(TEXT);
        assert!(keeps(&own, TEXT));
        assert!(keeps(
            &own,
            "Sound the\n[… 3 lines, 90 bytes left out …]\nBegin at berth 7."
        ));
        assert!(!keeps(&own, "Sound the harbour.\nNever trust the chart.\n"));
    }
}
