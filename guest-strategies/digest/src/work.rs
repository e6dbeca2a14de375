//! Guesses what kind of work a conversation is about.

use crate::part::{self, Part};
use crate::shares::{self, NameWeights};

/// Smallest share of outputs that are data in a conversation about a service.
const DATA: f64 = 0.5;

/// What a conversation is about, which decides which names are likely to be used again.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Work {
    /// Files, commands, logs. Numbers are mostly lines and sizes.
    Coding,
    /// A service whose tools return data. Numbers are mostly ids and amounts.
    Service,
    /// Talk without tools. What was said matters more than names.
    Chat,
}

impl Work {
    /// Weights of names, found with `baler eval`, see docs/fidelity.md.
    pub(crate) const fn name_weights(self) -> NameWeights {
        match self {
            Self::Coding => shares::CODING_NAMES,
            Self::Service => shares::SERVICE_NAMES,
            Self::Chat => shares::CHAT_NAMES,
        }
    }
}

/// Counts of what indicates the kind of work.
#[derive(Debug, Default)]
pub(crate) struct Signs {
    calls: usize,
    outputs: usize,
    data: usize,
    /// Outputs that are a bare number.
    numbers: usize,
}

impl Signs {
    pub(crate) fn read(&mut self, part: &Part<'_>) {
        match part {
            Part::Call { .. } => self.calls += 1,
            // Some agents write their commands into what they say.
            Part::Assistant { text, .. } => self.calls += usize::from(text.contains("```")),
            Part::Output { text, .. } => {
                self.outputs += 1;
                self.data += usize::from(part::is_data(text));
                // What a calculator returns is of either kind of work.
                self.numbers += usize::from(text.trim().parse::<f64>().is_ok());
            }
            _ => {}
        }
    }

    pub(crate) fn guess(&self) -> Work {
        if self.calls + self.outputs == 0 {
            Work::Chat
        } else if self.data > 0 && self.data as f64 >= (self.outputs - self.numbers) as f64 * DATA {
            Work::Service
        } else {
            Work::Coding
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::names::Names;

    fn guessed(outputs: &[&str]) -> Work {
        let mut signs = Signs::default();
        for text in outputs {
            signs.read(&Part::Output {
                call_id: "".into(),
                name: "".into(),
                failed: false,
                text: (*text).into(),
            });
        }
        signs.guess()
    }

    #[test]
    fn an_agent_that_writes_commands_in_its_text_does_not_chat() {
        let mut signs = Signs::default();
        let text = "Let me look.\n```bash\nls\n```".into();
        signs.read(&Part::Assistant { text, calls: false });
        assert_eq!(signs.guess(), Work::Coding);
    }

    #[test]
    fn in_a_service_unused_ids_weigh_as_much_as_others() {
        let mut names = Names::default();
        let output = Part::Output {
            call_id: "".into(),
            name: "".into(),
            failed: false,
            text: r#"{"order": "4711002", "kind": "window_seat"}"#.into(),
        };
        let said = Part::User("What of my_ticket in src/seats.rs?".into());
        names.read(0, &[said, output]);
        let all = ["4711002", "window_seat", "my_ticket", "src/seats.rs"];
        let worths = |work| {
            all.map(|name| {
                let weighed = names.weighed(work);
                weighed
                    .index(name)
                    .map_or(0.0, |index| weighed.weight(index))
            })
        };
        let [number, seen, used, file] = worths(Work::Coding);
        assert!(0.0 < number && number < seen && seen < used && used < file);
        let [number, seen, used, file] = worths(Work::Service).map(|worth| (worth * 1e6) as i64);
        assert!(
            number == seen && used == file,
            "{number} {seen} {used} {file}"
        );
    }

    #[test]
    fn work_is_guessed_from_tool_outputs() {
        assert_eq!(guessed(&[]), Work::Chat);
        assert_eq!(guessed(&["fn main() {}", "ok"]), Work::Coding);
        assert_eq!(guessed(&[r#"{"order": "W4711"}"#, "ok"]), Work::Service);
        let fares = [r#"{"fare": 40}"#, "40", "80.5", "120"];
        assert_eq!(guessed(&fares), Work::Service);
        // A program's words in a wrapper are no data.
        assert_eq!(guessed(&[r#"{"output": "a\nb"}"#]), Work::Coding);
    }
}
