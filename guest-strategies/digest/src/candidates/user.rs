//! What the user asked and ruled.

use std::borrow::Cow;
use std::collections::BTreeSet;

use super::{Candidate, Collector, first_of_message};
use crate::facts::Fact;
use crate::gist::Longer;
use crate::rules::{Strength, changes_goal};
use crate::section::Section;
use crate::work::Work;
use crate::{shares, text, weights};

/// Most bytes of a text of the user that is mentioned where it was made.
const MENTION: usize = 50;

pub(super) struct User<'a> {
    /// The index of the last text that is kept.
    last_kept: Option<usize>,
    /// How the texts begin that were mentioned.
    mentions: BTreeSet<String>,
    /// Requests with their place, and that of the first sentence that is quoted from the same message.
    requests: Vec<(usize, usize, &'a str)>,
}

impl<'a> User<'a> {
    pub(super) fn of(facts: &[(usize, &'a Fact)]) -> Self {
        let is_kept =
            |(_, fact): &(usize, &Fact)| matches!(fact, Fact::Heard(_) | Fact::Mentioned(_));
        Self {
            last_kept: facts.iter().rposition(is_kept),
            mentions: BTreeSet::new(),
            requests: Vec::new(),
        }
    }

    /// Reads the fact with this index, which is one of the user's.
    pub(super) fn read(
        &mut self,
        facts: &[(usize, &'a Fact)],
        index: usize,
        collector: &mut Collector<'a>,
    ) {
        let (place, fact) = facts[index];
        match fact {
            Fact::Rule(strength, rule) => {
                let worth = match strength {
                    Strength::Rule => weights::RULE,
                    Strength::Remark if collector.work == Work::Service => {
                        weights::REMARK_IN_SERVICE
                    }
                    Strength::Wish | Strength::Remark => weights::WISH,
                };
                collector.add(strength.section(), place, rule.into(), worth);
            }
            Fact::Request(request) if !asks_nothing(request) => {
                let from = first_of_message(facts, index, &is_of_user);
                self.requests.push((place, from, request));
            }
            Fact::Heard(line) | Fact::Mentioned(line)
                if collector.work != Work::Chat && !asks_nothing(line) =>
            {
                let worth = match self.last_kept == Some(index) {
                    true => weights::LAST_HEARD,
                    false => weights::HEARD,
                };
                let short = text::line(line, MENTION);
                // Texts of one template begin alike.
                let line = match self.mentions.insert(short.clone()) {
                    true => short,
                    false => line.clone(),
                };
                collector.add(Section::Kept, place, line.into(), worth);
            }
            _ => {}
        }
    }

    pub(super) fn finish(self, collector: &mut Collector<'a>) {
        let first = self.requests.first().map(|(place, ..)| *place);
        let first = first.filter(|_| collector.work != Work::Chat);
        let mut beginnings: BTreeSet<String> = BTreeSet::new();
        for (place, from, request) in self.requests {
            // The request is already a block.
            let short = text::shorten_to_sentence(request, shares::SHORT_ENTRY);
            let worth = match Some(place) == first {
                true => weights::TASK_ITSELF,
                false => {
                    let says = (request.len() as f64 / weights::SAYING).min(1.0);
                    let own = match is_command(request) {
                        true => weights::COMMANDED,
                        false => weights::REQUEST,
                    };
                    own * collector.aged(place, weights::OLD_REQUEST) * says
                }
            };
            // Requests of one template differ only after their beginning.
            let is_first = beginnings.insert(short.clone().into_owned());
            let short = if is_first {
                short
            } else {
                Cow::Borrowed(request)
            };
            let longer = match short {
                Cow::Borrowed(_) => None,
                Cow::Owned(_) => Some(Longer::whole(request.into())),
            };
            collector.candidates.all.push(Candidate {
                section: Section::Requests,
                place,
                text: short,
                worth: if changes_goal(request) {
                    worth * 2.0
                } else {
                    worth
                },
                longer,
                from,
            });
        }
    }
}

const fn is_of_user(fact: &Fact) -> bool {
    matches!(fact, Fact::Rule(..))
}

/// Whether a request is one line with a command of the program in which it was written: `/run make`.
fn is_command(request: &str) -> bool {
    let name = request
        .strip_prefix('/')
        .and_then(|rest| rest.split(' ').next());
    let is_name =
        |name: &str| !name.is_empty() && name.chars().all(|c| c.is_ascii_lowercase() || c == '-');
    name.is_some_and(is_name) && !request.contains('\n')
}

/// Whether a request is only signs, or a command of the program in which it was written: `/model`.
pub(crate) fn asks_nothing(request: &str) -> bool {
    let is_command = |name: &str| name.chars().all(|c| c.is_alphanumeric() || c == '-');
    !request.chars().any(char::is_alphanumeric) || request.strip_prefix('/').is_some_and(is_command)
}
