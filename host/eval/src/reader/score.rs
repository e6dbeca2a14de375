//! Scores what readers answered.

use serde::{Deserialize, Serialize};

use crate::paths;

/// What readers answered about the texts of one method. Its first three numbers make up all questions that
/// were answered.
///
/// ```
/// let score = baler_eval::ReaderScore { right: 3, wrong: 1, ..Default::default() };
/// assert_eq!(score.share(), Some(0.75));
/// ```
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct ReaderScore {
    /// The method: a strategy or a baseline.
    pub method: String,
    /// Right answers.
    pub right: usize,
    /// Wrong answers.
    pub wrong: usize,
    /// Answers that say UNKNOWN, and questions that an answered sheet leaves out.
    pub unknown: usize,
    /// Questions of sheets without answers.
    pub open: usize,
    /// Right answers by sheet, in the order of the sheets; `None` without answers.
    pub by_sheet: Vec<Option<usize>>,
}

impl ReaderScore {
    /// Returns the share of right answers; `None` if nothing was answered.
    #[must_use]
    pub fn share(&self) -> Option<f64> {
        let answered = self.right + self.wrong + self.unknown;
        (answered > 0).then(|| self.right as f64 / answered as f64)
    }
}

/// The right answer of a question.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct RightAnswer {
    /// The name as the agent used it.
    pub(super) name: String,
    /// The end of it that is enough.
    pub(super) end: String,
}

/// How an answer was.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Grade {
    Right,
    Wrong,
    Unknown,
}

impl RightAnswer {
    pub(super) fn grade(&self, answer: Option<&str>) -> Grade {
        let quotes = |c: char| c.is_whitespace() || matches!(c, '`' | '"' | '\'' | '*');
        let answer = answer
            .unwrap_or_default()
            .trim_start_matches(quotes)
            .trim_end_matches(|c| quotes(c) || c == '.');
        if answer.is_empty() || answer.eq_ignore_ascii_case("unknown") {
            return Grade::Unknown;
        }
        let is_enough = paths::ends_with(&self.name, answer) && paths::ends_with(answer, &self.end);
        match answer == self.name || is_enough || paths::ends_with(answer, &self.name) {
            true => Grade::Right,
            false => Grade::Wrong,
        }
    }
}

/// Returns the answers of a sheet by their numbers, from 1. Other lines are ignored; of several answers with
/// one number the last counts.
pub(super) fn answers(text: &str, questions: usize) -> Vec<Option<&str>> {
    let mut found = vec![None; questions];
    for line in text.lines() {
        let line = line.trim_start_matches(|c: char| c.is_whitespace() || matches!(c, '*' | '-'));
        let Some((number, answer)) = line.split_once([':', '.', ')']) else {
            continue;
        };
        let number = number
            .trim_matches(|c: char| c.is_whitespace() || c == '*')
            .parse::<usize>();
        if let Some(place) = number.ok().and_then(|number| number.checked_sub(1))
            && let Some(found) = found.get_mut(place)
        {
            *found = Some(answer.trim());
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_answer_is_right_as_a_whole_or_by_its_distinguishing_end() {
        let right = RightAnswer {
            name: "src/quay/lock.rs".to_owned(),
            end: "quay/lock.rs".to_owned(),
        };
        for answer in [
            "src/quay/lock.rs",
            " `quay/lock.rs`. ",
            "/srv/src/quay/lock.rs",
        ] {
            assert_eq!(right.grade(Some(answer)), Grade::Right, "{answer}");
        }
        for answer in ["lock.rs", "key/lock.rs", "ay/lock.rs"] {
            assert_eq!(right.grade(Some(answer)), Grade::Wrong, "{answer}");
        }
        for answer in [None, Some(""), Some("unknown"), Some("UNKNOWN.")] {
            assert_eq!(right.grade(answer), Grade::Unknown, "{answer:?}");
        }
    }

    #[test]
    fn answers_are_found_by_their_numbers() {
        let text = "Here they are:\n1: oven.rs\n- 3. `dough.rs`\n**4:** x\n9: y\n3: salt.rs\n";
        assert_eq!(
            answers(text, 4),
            [Some("oven.rs"), None, Some("salt.rs"), Some("** x")]
        );
    }
}
