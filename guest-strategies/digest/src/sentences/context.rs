//! The context of a sentence: the headings and introductions of lists above it, and the tags around it.
//!
//! They may reverse its meaning: `Delete only the backup` is not the user's rule below `## DO NOT`.

use std::collections::BTreeMap;

use super::LIST;
use super::ending::{ENDS, is_unspaced_end};
use crate::rules;

/// Most bytes of the name of a tag. It is repeated before each rule within.
const NAME: usize = 64;

/// Separates an introduction from what follows.
const BETWEEN: &str = " - ";

/// Words by which a sentence refers to what is below it.
const POINTING: [&str; 20] = [
    "following",
    "these",
    "below",
    "folgende",
    "diese",
    "suivant",
    "ceci",
    "siguiente",
    "estas",
    "estos",
    "seguinte",
    "seguenti",
    "следующ",
    "التالي",
    "ما يلي",
    "以下",
    "次の",
    "下列",
    "다음",
    "아래",
];

/// Tags that do not change the meaning of what they contain.
const NEUTRAL: [&str; 15] = [
    "rules",
    "rule",
    "instructions",
    "instruction",
    "task",
    "user_query",
    "userrequest",
    "user_message",
    "prompt",
    "request",
    "guidelines",
    "constraints",
    "requirements",
    "important",
    "user",
];

/// Whether a rule includes the list directly below it: it has no end sign, or refers to the list.
/// `Never push. - Mend the pier` are two rules.
pub(super) fn introduces(sentence: &str, is_heading: bool) -> bool {
    let bare = sentence.trim_end_matches(['*', '_', ' ']);
    let is_ended = bare.ends_with(|c: char| ENDS.contains(&c) || is_unspaced_end(c));
    if is_heading || !is_ended {
        return true;
    }
    let lower = sentence.to_lowercase();
    POINTING.iter().any(|word| lower.contains(word))
}

/// Returns the name in a line that is only a tag, and whether the tag closes.
pub(super) fn tag(bare: &str) -> Option<(&str, bool)> {
    let inside = bare.strip_prefix('<')?.strip_suffix('>')?;
    if inside.contains(['<', '>']) {
        return None;
    }
    let (name, closes) = match inside.strip_prefix('/') {
        Some(name) => (name, true),
        None => (inside, false),
    };
    let name = name.split(char::is_whitespace).next().unwrap_or_default();
    (name.len() <= NAME && name.starts_with(char::is_alphabetic)).then_some((name, closes))
}

/// What is above the current line.
pub(super) struct Context {
    /// The open tag; of several the outermost.
    tag: Option<String>,
    /// Number of further lines that close a tag, by its name.
    closing: BTreeMap<String, usize>,
    /// Whether the text was cut off, so that the rest may have closed any tag.
    is_cut: bool,
    intros: Vec<Intro>,
}

/// The introduction of a list or a paragraph.
struct Intro {
    /// Indentation of the list items or the paragraph, in columns.
    indent: usize,
    text: String,
}

impl Context {
    pub(super) fn of(text: &str) -> Self {
        let mut closing = BTreeMap::new();
        for (name, closes) in text.lines().filter_map(|line| tag(line.trim())) {
            if closes {
                *closing.entry(name.to_owned()).or_insert(0) += 1;
            }
        }
        Self {
            tag: None,
            closing,
            is_cut: text.ends_with('…'),
            intros: Vec::new(),
        }
    }

    /// Reads a line that is only a tag.
    pub(super) fn pass(&mut self, (name, closes): (&str, bool)) {
        if closes {
            if let Some(left) = self.closing.get_mut(name) {
                *left = left.saturating_sub(1);
            }
            if self.tag.as_deref() == Some(name) {
                self.tag = None;
            }
            return;
        }
        let is_closed = self.is_cut || self.closing.get(name).is_some_and(|left| *left > 0);
        let is_neutral = NEUTRAL.iter().any(|known| known.eq_ignore_ascii_case(name));
        if is_closed && !is_neutral && self.tag.is_none() {
            self.tag = Some(name.to_owned());
        }
    }

    /// Forgets all introductions.
    pub(super) fn leave_lists(&mut self) {
        self.intros.clear();
    }

    /// Begins an item or a paragraph at column `indent`, below the introduction `text` unless it is empty.
    pub(super) fn enter(&mut self, indent: usize, text: String) {
        let is_new = !text.is_empty();
        self.intros
            .retain(|known| known.indent < indent || known.indent == indent && !is_new);
        if is_new {
            self.intros.push(Intro { indent, text });
            self.leave_outermost();
        }
    }

    /// Forgets the outermost introductions if all together have more than [`LIST`] bytes; the innermost is
    /// kept, however long. They are repeated before each rule below: with one on each line, the result would
    /// grow with the square of the text.
    fn leave_outermost(&mut self) {
        let mut bytes = 0;
        let stay = self.intros.iter().rev().take_while(|intro| {
            bytes += intro.text.len() + BETWEEN.len();
            bytes <= LIST
        });
        let stay = stay.count().max(1);
        self.intros.drain(..self.intros.len().saturating_sub(stay));
    }

    /// Returns what has to precede a rule here.
    pub(super) fn above(&self) -> String {
        let mut above = String::new();
        if let Some(tag) = &self.tag {
            above.push('<');
            above.push_str(tag);
            above.push_str("> ");
        }
        for intro in &self.intros {
            above.push_str(&intro.text);
            above.push_str(BETWEEN);
        }
        above
    }
}

/// Emits a sentence; a rule after what is above it.
pub(super) fn emit_below(above: &str, sentence: &str, emit: &mut dyn FnMut(&str)) {
    if above.is_empty() || rules::strength(sentence).is_none() {
        emit(sentence);
    } else {
        emit(&format!("{above}{sentence}"));
    }
}

#[cfg(test)]
mod tests {
    use super::{Context, LIST};
    use crate::sentences::each_in_context;

    fn sentences(text: &str) -> Vec<String> {
        let mut found = Vec::new();
        each_in_context(text, &mut |sentence| found.push(sentence.to_owned()));
        found
    }

    #[test]
    fn an_item_follows_its_heading() {
        assert_eq!(
            sentences(
                "## DO NOT\n\n2. Sink\n3. Delete only the backup\n\n## Style\n- use tabs\n- Never shout\n\nDone.\n\n- Always ask"
            ),
            [
                "## DO NOT 2. Sink",
                "## DO NOT 3. Delete only the backup",
                "## Style",
                "use tabs",
                "## Style - Never shout",
                "Done.",
                "Done. - Always ask"
            ]
        );
        assert_eq!(
            sentences("Never\n-----\n* only whistle\n\nNever moor here\n\nat night"),
            ["Never * only whistle", "Never moor here", "at night"]
        );
    }

    #[test]
    fn an_item_follows_the_sentence_above_its_list() {
        assert_eq!(
            sentences("Look here. You must do none of the following.\n\n- Sink\n- use only oars"),
            [
                "Look here.",
                "You must do none of the following. - Sink",
                "You must do none of the following. - use only oars"
            ]
        );
        // Below a rule that is whole, each is one.
        assert_eq!(
            sentences("Never push.\n- Mend the pier\n- Always sign"),
            ["Never push.", "Mend the pier", "Never push. - Always sign"]
        );
        assert_eq!(
            sentences("Voici la liste noire :\n- toujours ramer\n- couler"),
            [
                "Voici la liste noire :",
                "Voici la liste noire : - toujours ramer",
                "couler"
            ]
        );
    }

    #[test]
    fn a_paragraph_follows_its_heading_or_a_colon() {
        assert_eq!(
            sentences(
                "Never do this:\n\nAlways push to main\nwithout tests. Row.\n\nAlways sign.\n\n## Obsolete, ignore\n\nAlways whistle. Moor.\n\nNever shout."
            ),
            [
                "Never do this:",
                "Never do this: - Always push to main without tests.",
                "Row.",
                "Always sign.",
                "## Obsolete, ignore",
                "## Obsolete, ignore - Always whistle.",
                "Moor.",
                "Never shout."
            ]
        );
        // An item keeps what stands below it as far to the right, too.
        assert_eq!(
            sentences("- Never do this:\n\n  Always push.\n\nAlways sign."),
            [
                "Never do this:",
                "Never do this: - Always push.",
                "Always sign."
            ]
        );
    }

    #[test]
    fn an_item_of_a_nested_list_follows_all_introductions() {
        assert_eq!(
            sentences(
                "Bad habits:\n- At sea\n  - always whistle\n- In port\n  - moor\n  - Never:\n    - sign\n\nGood."
            ),
            [
                "Bad habits:",
                "At sea",
                "Bad habits: - At sea - always whistle",
                "In port",
                "moor",
                "Bad habits: - In port - Never: - sign",
                "Good."
            ]
        );
    }

    #[test]
    fn only_the_innermost_of_many_introductions_are_repeated() {
        let mut context = Context::of("");
        for step in 0..10_000 {
            context.enter(step, format!("step {step}:"));
            assert!(context.above().len() <= LIST);
            assert!(context.intros.len() <= LIST / "step 0: - ".len());
            assert!(context.above().ends_with(&format!("step {step}: - ")));
        }
        // Of the last ones none is left out.
        assert!(context.above().contains("step 9980: - step 9981: - "));
        // One that is longer stands alone.
        context.enter(10_000, "long ".repeat(LIST));
        assert_eq!(context.intros.len(), 1);
        // Paragraphs below an item.
        let stairs: String = (1..60)
            .map(|step| format!("{}Step {step}:\n\n", " ".repeat(step)))
            .collect();
        let below = " ".repeat(60);
        let found = sentences(&format!("- start\n\n{stairs}{below}Never push."));
        let rule = found.last().expect("there is a rule");
        assert!(rule.ends_with("Step 59: - Never push."), "{rule}");
        assert!(rule.len() <= LIST + "Never push.".len(), "{rule}");
    }

    #[test]
    fn a_line_that_is_only_a_tag_is_separate() {
        assert_eq!(
            sentences("<rules>\nNever push.\nAlways sign.\n</rules>"),
            ["Never push.", "Always sign."]
        );
        assert_eq!(
            sentences(
                "<forbidden>\nAlways row. Sink.\n\n- only oars\n</forbidden>\n<br>\nNever push."
            ),
            [
                "<forbidden> Always row.",
                "Sink.",
                "<forbidden> Sink. - only oars",
                "Never push."
            ]
        );
    }

    #[test]
    fn a_tag_with_a_name_that_is_too_long_is_ignored() {
        let tagged = |length: usize| {
            let name = "n".repeat(length);
            sentences(&format!("<{name}>\n\nAlways row.\n\n</{name}>"))
        };
        let most = "n".repeat(64);
        assert_eq!(tagged(64), [format!("<{most}> Always row.")]);
        assert_eq!(
            tagged(65),
            [
                format!("<{most}n>"),
                "Always row.".to_owned(),
                format!("</{most}n>")
            ]
        );
    }

    #[test]
    fn code_and_quotations_are_left_out() {
        let quoted = "Never push.\n```sh\nalways push\n```\n~~~\nalways\n~~~\n> You must push.\n>\n> Always.\nSign only once.";
        let mut found = Vec::new();
        let is_all = each_in_context(quoted, &mut |sentence| found.push(sentence.to_owned()));
        assert_eq!(found, ["Never push.", "Sign only once."]);
        assert!(!is_all);
        // What a rule speaks of stays with it.
        assert_eq!(
            sentences("Never write this:\n> Ahoy!\n> Mate.\nSign."),
            ["Never write this: > Ahoy! > Mate.", "Sign."]
        );
    }
}
