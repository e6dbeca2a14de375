//! Shortens what the model said to the pieces that say most: its beginning, its end, findings and plans, and what has
//! many names.

mod meant;
mod pieces;
mod worth;

use std::borrow::Cow;
use std::collections::BTreeSet;

use super::facts::announces;
use super::{text, weights};

/// Most bytes of the shorter forms of a text.
const LIMITS: [usize; 4] = [250, 500, 900, 1_800];

/// What a piece is worth to which the user's answer refers, in the unit of `worth.rs`.
const MEANT: f64 = 12.0;

/// Bytes that count for any piece, so that short ones do not win by their length alone.
const AROUND: f64 = 30.0;

/// Most bytes of a text without words.
const CODE_ALONE: usize = 100;

/// Marks where pieces are left out.
const GAP: &str = " …";

/// Between two lines of an entry.
const SEPARATOR: &str = "\n  ";

/// The longer forms of a text, of which the writer has one.
#[derive(Debug, Clone)]
pub(super) struct Longer<'a> {
    /// Forms that are shorter than the whole, the shortest first.
    shorter: Cow<'a, [String]>,
    whole: Cow<'a, str>,
    /// How many of the shorter forms are known.
    used: usize,
    /// How much of the worth of a form the rest of the next one has.
    pub(super) rest: f64,
}

impl<'a> Longer<'a> {
    /// Returns the first form of a text, and the longer ones. `forms` are those of [`forms`].
    pub(super) fn of(forms: &'a [String], whole: Cow<'a, str>) -> (Cow<'a, str>, Option<Self>) {
        let all = Self {
            shorter: Cow::Borrowed(forms),
            whole,
            used: 0,
            rest: weights::REST,
        };
        all.next()
    }

    /// Returns the first form of what the user answered with `answer`, and the longer ones.
    pub(super) fn answered(whole: Cow<'a, str>, answer: &str) -> (Cow<'a, str>, Option<Self>) {
        let all = Self {
            shorter: Cow::Owned(forms_for(&whole, answer)),
            whole,
            used: 0,
            rest: weights::REST_OF_ANSWERED,
        };
        all.next()
    }

    /// Returns the whole as the only longer form.
    pub(super) const fn whole(whole: Cow<'a, str>) -> Self {
        Self {
            shorter: Cow::Borrowed(&[]),
            whole,
            used: 0,
            rest: weights::REST,
        }
    }

    /// Returns the next longer form, and those after it.
    pub(super) fn next(self) -> (Cow<'a, str>, Option<Self>) {
        let form = match &self.shorter {
            Cow::Borrowed(forms) => forms.get(self.used).map(|form| Cow::Borrowed(&**form)),
            Cow::Owned(forms) => forms.get(self.used).map(|form| Cow::Owned(form.clone())),
        };
        match form.filter(|form| form.len() < self.whole.len()) {
            Some(form) => {
                let used = self.used + 1;
                (form, Some(Self { used, ..self }))
            }
            None => (self.whole, None),
        }
    }
}

/// Returns the shorter forms of what the model said, the shortest first. Each has all that those before it have.
pub(super) fn forms(said: &str) -> Vec<String> {
    forms_for(said, "")
}

fn forms_for(said: &str, answer: &str) -> Vec<String> {
    if said.len() <= LIMITS[0] {
        return Vec::new();
    }
    let limits = LIMITS.into_iter().filter(|limit| said.len() > *limit);
    Gist::of(said, answer).up_to(limits)
}

/// Returns at most `limit` bytes of an entry in lines, the first of which is not indented.
pub(super) fn of(said: &str, limit: usize) -> String {
    answered(said, limit, "")
}

fn answered(said: &str, limit: usize, answer: &str) -> String {
    let mut forms = Gist::of(said, answer).up_to(std::iter::once(limit));
    forms.pop().unwrap_or_default()
}

/// Lines from which on a text can be a log, and the largest share of them that says something in words.
const LOG: usize = 12;
const WORDS: f64 = 0.25;

/// Whether most lines of a text are code or the output of a program, although no fence says so.
pub(super) fn is_log(said: &str) -> bool {
    let lines = || said.lines().filter(|line| !line.trim().is_empty());
    let count = lines().count();
    // A list of files is the model's own, too.
    let says = |line: &str| line.starts_with(['-', '*']) || worth::is_prose(line);
    let in_words = || lines().filter(|line| says(line.trim())).count() as f64;
    count >= LOG && !said.contains(super::text::FENCE) && in_words() <= count as f64 * WORDS
}

/// Whether a text has anything but code and the names of files.
pub(super) fn has_words(said: &str) -> bool {
    // Scripts such as Chinese have no spaces between words.
    let says = |piece: &Cow<'_, str>| {
        piece.contains(|c: char| c.is_whitespace() || c.is_alphabetic() && c >= '\u{2e80}')
    };
    pieces::of(said).iter().any(says)
}

/// The pieces of a text, and which of them say most.
struct Gist<'t> {
    said: &'t str,
    pieces: Vec<Cow<'t, str>>,
    /// The indices of the pieces, the best first. Of equal pieces only the first one counts.
    best: Vec<usize>,
}

impl<'t> Gist<'t> {
    /// Reads what the model said. If the user's `answer` to it is known, what that refers to is worth most.
    fn of(said: &'t str, answer: &str) -> Self {
        let pieces = pieces::of(said);
        let meant = match answer.is_empty() {
            true => Vec::new(),
            false => meant::shares(&pieces, answer),
        };
        // `You are right. Let me see:` and headings say nothing yet.
        let says = |piece: &Cow<'_, str>| !piece.starts_with('#') && !announces(piece);
        let first = pieces.iter().position(says).unwrap_or(0);
        let worths: Vec<f64> = pieces
            .iter()
            .enumerate()
            .map(|(index, piece)| {
                let meant = meant.get(index).copied().unwrap_or(0.0);
                let per_byte = meant * MEANT / (piece.len() as f64 + AROUND);
                worth::of(piece, index, first, pieces.len()) + per_byte
            })
            .collect();
        let mut told = BTreeSet::new();
        let mut best: Vec<usize> = (0..pieces.len())
            .filter(|index| told.insert(&*pieces[*index]))
            .collect();
        best.sort_by(|one, other| worths[*other].total_cmp(&worths[*one]));
        Self { said, pieces, best }
    }

    /// Returns forms of at most these numbers of bytes, which rise.
    fn up_to(&self, limits: impl Iterator<Item = usize>) -> Vec<String> {
        let mut chosen = vec![false; self.pieces.len()];
        let mut used = GAP.len();
        let mut forms = Vec::new();
        for limit in limits {
            for index in &self.best {
                let bytes = self.pieces[*index].len() + SEPARATOR.len() + GAP.len();
                if used + bytes <= limit && !chosen[*index] {
                    used += bytes;
                    chosen[*index] = true;
                }
            }
            forms.push(self.written(&chosen, limit));
        }
        forms
    }

    /// Writes the chosen pieces; if there are none, the beginning of the text.
    fn written(&self, chosen: &[bool], limit: usize) -> String {
        let mut written = String::new();
        let mut is_after_gap = false;
        for (piece, is_chosen) in self.pieces.iter().zip(chosen) {
            if !is_chosen {
                is_after_gap = true;
                continue;
            }
            if written.is_empty() && is_after_gap {
                written.push_str(GAP.trim_start());
                written.push(' ');
            } else if !written.is_empty() {
                if is_after_gap {
                    written.push_str(GAP);
                }
                written.push_str(SEPARATOR);
            }
            written.push_str(piece);
            is_after_gap = false;
        }
        if written.is_empty() {
            // Of code alone, the beginning says what it is about.
            let limit = match self.pieces.is_empty() {
                true => limit.min(CODE_ALONE),
                false => limit,
            };
            return text::shorten(self.said, limit).into_owned();
        }
        if is_after_gap {
            written.push_str(GAP);
        }
        written
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_says_most_stays_in_its_order() {
        let filler =
            "We looked at it for a while, and then at it again, as one does.\n  ".repeat(9);
        let said = format!(
            "The sluice is mended.\n\n  {filler}- `src/sluice.rs:57` counts `wheel_turns` twice\n  {filler}\n  Shall I mend `src/lock.rs` too?"
        );
        assert_eq!(
            of(&said, 130),
            "The sluice is mended. …\n  - `src/sluice.rs:57` counts `wheel_turns` twice …\n  Shall I mend `src/lock.rs` too?"
        );
        for limit in [0, 5, 40, 300, 900] {
            assert!(of(&said, limit).len() <= limit.max(3), "{limit}");
        }
    }

    #[test]
    fn long_paragraphs_are_taken_apart() {
        let said = format!(
            "{}The gate jams because `turn` in src/sluice.rs counts twice. {}",
            "It is late and the tide is low. ".repeat(8),
            "The rest is well. ".repeat(8)
        );
        let short = of(&said, 120);
        assert!(short.contains("The gate jams because"), "{short}");
        assert!(short.len() <= 120);
    }

    #[test]
    fn of_what_the_user_answered_the_part_that_is_meant_comes_first() {
        let option = |number: usize| {
            format!(
                "{number}. **Option {number}:**\n   - Ferry: FB{number}71\n   - Pier: {number}\n   - Fare: {number}0 euros\n"
            )
        };
        let said = format!(
            "Here are the ferries to Oslo on Friday:\n\n{}\nWhich of these options do you want me to book?",
            (1..=4).map(option).collect::<String>()
        );
        let short = answered(&said, 130, "Option 3, please.");
        for line in ["Ferry: FB371", "Pier: 3", "Fare: 30 euros"] {
            assert!(short.contains(line), "{line}: {short}");
        }
        assert!(!of(&said, 130).contains("Fare: 30 euros"));
        let both = answered(&said, 190, "1 and 3");
        assert!(both.contains("FB171") && both.contains("FB371"), "{both}");
        assert!(!both.contains("FB271"), "{both}");
        let people = answered(&said, 130, "The one at pier 4, for 2 people.");
        assert!(!people.contains("FB271"), "{people}");
        let said = format!("{said}\n3.5 hours is what each of them takes at most");
        assert!(answered(&said, 130, "Option 3").contains("FB371"));
        // Without a number the words point to it.
        let said = "The oven is mended.\n- Shall I mend the mill as well?\n- The barn has a new door, which is green, as was wanted.\n".to_owned()
            + &"- All of the rest is well.\n".repeat(9);
        let short = answered(&said, 60, "yes, the mill as well");
        assert!(short.contains("Shall I mend the mill"), "{short}");
    }

    #[test]
    fn of_a_log_errors_have_their_beginning_and_frames_of_libraries_are_left_out() {
        let said = format!(
            "Traceback (most recent call last):\n  File \"/venv/site-packages/tide.py\", line 3, in run\n    return tide()\nquay.BerthNotFound: [{}]\nThe above was the cause.",
            "Wanted('berth<7'), ".repeat(40)
        );
        let pieces = pieces::of(&said);
        assert_eq!(pieces.len(), 3, "{pieces:?}");
        assert!(pieces[1].starts_with("quay.BerthNotFound: [Wanted('berth<7')"));
        assert!(
            pieces[1].len() < 200 && pieces[1].ends_with('…'),
            "{}",
            pieces[1]
        );
    }

    #[test]
    fn a_line_that_announces_code_has_its_first_lines() {
        let said = "The name is made up in the sidebar:\n```ts\nconst user = {\n  name: given || \"Guest\",\n  mail: \"-\",\n  more: \"of this, and of that, and of this, and of that\",\n};\n```\nLet me see:\n```\n```\nIt is done.";
        assert_eq!(
            pieces::of(said),
            [
                "The name is made up in the sidebar: `const user = { name: given || \"Guest\", mail: \"-\",`",
                "Let me see:",
                "It is done."
            ]
        );
    }

    #[test]
    fn announced_code_is_short_whatever_is_in_it() {
        let said = format!(
            "The fix was the table of links:\n```ts\n{}```\n::\n```\nlost()\n```\nIt is done.",
            "\nkey: `https://quay.test`,\n".repeat(9)
        );
        let pieces = pieces::of(&said);
        assert_eq!(pieces.len(), 2, "{pieces:?}");
        assert!(
            pieces[0].starts_with("The fix was the table of links: `key: `https"),
            "{pieces:?}"
        );
        assert!(pieces[0].len() < 130, "{pieces:?}");
        assert_eq!(pieces[1], "It is done.");
    }

    #[test]
    fn code_logs_questions_and_guesses_say_less_than_sentences() {
        let finding = "The `sluice_gate` stays open until the tide turns.";
        for other in [
            "urllib3==2.2.2",
            "let sluice_gate = tide_table.next();",
            "File \"/srv/quay/tide_table.py\", line 12, in next_tide",
            "So why does `sluice_gate` of `tide_table` stay open here?",
            "Maybe `sluice_gate` is not the one of `tide_table` at all.",
        ] {
            let filler = "The rest of it is as it was before, and that is well.";
            let said = format!("{filler}\n{other}\n{finding}\nAnd it is dry.");
            let gist = of(&said, filler.len() + finding.len() + 45);
            assert!(gist.contains(finding), "{other}: {gist}");
            assert!(!gist.contains(other), "{other}: {gist}");
        }
    }

    #[test]
    fn what_edits_replace_is_no_piece_whatever_fences_there_are() {
        let edit = "<<<<<<< SEARCH\nlet a = 1;\n=======\nlet a = 2;\n>>>>>>> REPLACE";
        assert_eq!(
            pieces::of(&format!("It is mended:\n{edit}\nNow it is well.")),
            ["It is mended:", "Now it is well."]
        );
        assert_eq!(pieces::of("```\nNow it is well."), ["Now it is well."]);
        assert!(!has_words(&format!("src/a.rs\n```\n{edit}\n```")));
    }

    #[test]
    fn announcements_and_headings_say_less_than_plans() {
        let said = "## What I see\nLet me look at the gates of the lock first, and then at its sluice.\nThe plan is to turn the sluice by hand until then.\nLet me look at it now, and then at the others.";
        assert_eq!(
            of(said, 66),
            "… The plan is to turn the sluice by hand until then. …"
        );
    }
}
