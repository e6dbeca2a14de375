//! What the model is asked.

#[cfg(test)]
mod tests;

use baler_digest::{ABOUT_EARLIER, EARLIER_LABEL, PROGRAM_LABEL, REWRITTEN, indented, quoted};
use baler_strategy::{ModelRequest, Situation, Trigger};

/// A model that may write so many tokens needs no limit in words.
const AMPLE: u32 = 4_000;

/// How instruction and transcript are put to the model.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Form {
    /// The instruction is the system prompt, the transcript is the user message.
    Bare,
    /// The instruction is the system prompt, the user message is the transcript between
    /// `<conversation>` and `</conversation>`.
    Tagged,
    /// Everything is in the user message: the instruction, then the transcript between tags.
    OneMessage,
    /// The instruction is the system prompt, the user message is the transcript and this line.
    Closing(&'static str),
}

/// What the model is asked, whatever the transcript.
#[derive(Debug, Clone, Copy)]
pub struct Question<'a> {
    /// What to write. It is sent as it is; where earlier compactions, or programs as the user, wrote
    /// something that the model reads, it is told what their labels mean behind it.
    pub instruction: &'a str,
    /// What the user asked to keep in mind.
    pub wishes: Option<&'a str>,
    /// What earlier summaries say, for the new one to carry on.
    pub so_far: Option<&'a str>,
    /// How it is put.
    pub form: Form,
    /// The answer is cut off past this many tokens, and is then no summary.
    pub max_output_tokens: u32,
    /// The most tokens that the summary may have.
    pub max_tokens: u32,
}

/// What a person or program that asked for the compaction wants kept in mind.
pub fn wishes(situation: &Situation) -> Option<&str> {
    match &situation.trigger {
        Trigger::Manual(Some(wishes)) => Some(wishes.trim()).filter(|wishes| !wishes.is_empty()),
        _ => None,
    }
}

impl Question<'_> {
    /// The request with this transcript.
    pub(crate) fn request(&self, transcript: &str, max_output_tokens: u32) -> ModelRequest {
        let mut instructions = self.instruction.to_owned();
        // Whoever wrote the instruction need not know of them. To tell it once too often does no harm.
        let mut labels = [EARLIER_LABEL, PROGRAM_LABEL, REWRITTEN].into_iter();
        if self.so_far.is_some() || labels.any(|label| transcript.contains(label)) {
            instructions = format!("{instructions}\n\n{ABOUT_EARLIER}");
        }
        if let Some(wishes) = self.wishes.map(indented) {
            let wishes = quoted(&wishes);
            instructions =
                format!("{instructions}\n\nThe user asks for this in particular: {wishes}");
        }
        // What is told to keep to less is rarely cut off, and what is cut off is no summary.
        let room = self.max_tokens.min(max_output_tokens);
        if room < AMPLE {
            let limit = limit(room);
            instructions = format!("{instructions}\n\n{limit}");
        }
        let mut prompt = String::new();
        if self.form == Form::OneMessage {
            prompt = std::mem::take(&mut instructions) + "\n\n";
        }
        if let Some(so_far) = self.so_far.map(indented) {
            let so_far = quoted(&so_far);
            prompt += "This summary tells what came before. The new one replaces it, so carry \
                       over all of it that still matters.\n";
            prompt = format!(
                "{prompt}<summary_so_far>\n{EARLIER_LABEL}: {so_far}\n</summary_so_far>\n\n"
            );
        }
        prompt += &match self.form {
            Form::Bare => transcript.to_owned(),
            Form::Tagged | Form::OneMessage => {
                format!("<conversation>\n{transcript}\n</conversation>")
            }
            Form::Closing(line) => format!("{transcript}\n\n{line}"),
        };
        ModelRequest {
            instructions,
            prompt,
            max_output_tokens,
        }
    }
}

/// A limit in words, which models keep better than one in tokens: mostly three words are four
/// tokens, and some room stays free.
pub(crate) fn limit(tokens: u32) -> String {
    let words = (u64::from(tokens) * 3 / 5).max(1);
    format!("Write at most {words} words.")
}
