//! A text with `[redacted]` in place of what must not be shown.

use std::ops::Range;

use baler_strategy::Run;
use baler_strategy::excerpt::SHORTEST_RUN;

use crate::config::Config;
use crate::find::places;
use crate::number;

/// What is written in place of a secret or an address.
pub(crate) const REDACTED: &str = "[redacted]";

/// A text and the places in it that must not be shown: at least one.
#[derive(Debug)]
pub(crate) struct Hidden<'a> {
    text: &'a str,
    places: Vec<Range<usize>>,
}

impl<'a> Hidden<'a> {
    /// Returns `None` if all of the text may be shown.
    pub(crate) fn of(text: &'a str, config: &Config) -> Option<Self> {
        let places = places(text, config);
        (!places.is_empty()).then_some(Self { text, places })
    }

    /// Returns the text that may be shown.
    pub(crate) fn text(&self) -> String {
        let mut written = String::with_capacity(self.text.len());
        for kept in self.kept() {
            if kept.start > 0 {
                written.push_str(REDACTED);
            }
            written.push_str(&self.text[kept]);
        }
        written
    }

    /// Returns what stays of the text, in order: what is before the first place, between two, and behind the last; also
    /// where that is empty.
    fn kept(&self) -> impl Iterator<Item = Range<usize>> {
        let starts = self.places.iter().map(|place| place.end);
        let ends = self.places.iter().map(|place| place.start);
        std::iter::once(0)
            .chain(starts)
            .zip(ends.chain([self.text.len()]))
            .map(|(start, end)| start..end)
    }

    /// Returns the runs of the text that are in these runs of the shown text.
    pub(crate) fn runs_of(&self, shown: &[Run]) -> Vec<Run> {
        let mut runs = Vec::with_capacity(shown.len());
        let mut at = 0;
        for kept in self.kept() {
            if kept.start > 0 {
                at += REDACTED.len();
            }
            for run in shown {
                let start = (run.start as usize).max(at);
                let end = (run.end as usize).min(at + kept.len());
                if start + SHORTEST_RUN <= end {
                    let moved = |place: usize| number(kept.start + place - at);
                    runs.push(Run {
                        start: moved(start),
                        end: moved(end),
                    });
                }
            }
            at += kept.len();
        }
        runs
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn runs_are_moved_to_where_they_are_in_the_whole_text() {
        let config = Config {
            words: vec!["Gezeitenkraftwerk".to_owned()],
            ..Config::default()
        };
        let text = "Gezeitenkraftwerk: opened in the spring of the year, Gezeitenkraftwerk is closed again by now";
        let hidden = Hidden::of(text, &config).expect("has a word");
        let shown = hidden.text();
        assert_eq!(shown, text.replace("Gezeitenkraftwerk", REDACTED));
        let all = Run {
            start: 0,
            end: number(shown.len()),
        };
        let of = |run: Run| &text[run.start as usize..run.end as usize];
        let moved: Vec<&str> = hidden.runs_of(&[all]).into_iter().map(of).collect();
        assert_eq!(
            moved,
            [
                ": opened in the spring of the year, ",
                " is closed again by now"
            ]
        );
        let start = number(shown.find("in the").expect("is there"));
        let some = Run {
            start,
            end: start + 30,
        };
        let moved: Vec<&str> = hidden.runs_of(&[some]).into_iter().map(of).collect();
        assert_eq!(moved, ["in the spring of the year, "]);
        // Nothing of a run that is in the word.
        assert!(hidden.runs_of(&[Run { start: 0, end: 16 }]).is_empty());
    }
}
