//! Names that came up: files, symbols, ids, numbers. What is used again is mostly one of these.

use std::borrow::Cow;
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use crate::known::Known;
use crate::part::{self, Part};
use crate::scan;
use crate::shares;
use crate::text;
use crate::work::Work;

/// The most bytes of the text of one part that is looked through, and of a label.
const READ: usize = 512 << 10;
const LABEL: usize = 60;

/// The label of what an earlier summary says without one.
const EARLIER: &str = "earlier";

/// The most names of a conversation: so many, and one more for each so many bytes that were looked through.
/// A name of four letters takes fifty times its bytes, and what limits a conversation is its bytes.
/// Ordinary text has fewer; beyond that, only names that are known already are counted.
const NAMES: usize = 100_000;
const BYTES_PER_NAME: usize = 128;

/// Labels from which on an earlier digest's own are no longer told apart.
const LABELS: usize = 10_000;

/// Bytes that a name costs beside its own.
const AROUND: usize = 4;

/// All names of a conversation, and where they stood.
#[derive(Debug, Default)]
pub(crate) struct Names {
    known: Known,
    names: Vec<Name>,
    labels: Vec<String>,
    known_labels: BTreeMap<String, usize>,
    /// The last unit that was read, plus one.
    units: usize,
    /// Bytes that were looked through.
    bytes: usize,
}

/// What is known of one name.
#[derive(Debug)]
struct Name {
    /// The same that `known` holds.
    text: Arc<str>,
    times: u32,
    is_used: bool,
    /// It stood in data, or somebody used it.
    is_value: bool,
    /// The last unit in which it stood, and those before, oldest first. Most names stand in one.
    last: u32,
    earlier: Vec<u32>,
    /// Where it stood first: an index of `labels`.
    label: usize,
    /// The fewest names that a part had in which it stood: one of a thousand in a listing is
    /// less likely to be used than one of three.
    beside: u32,
}

impl Name {
    /// Units in which it stood.
    fn units(&self) -> impl Iterator<Item = usize> {
        let units = self.earlier.iter().chain(std::iter::once(&self.last));
        units.map(|unit| *unit as usize)
    }
}

/// Where a text stands.
#[derive(Debug, Clone, Copy)]
struct Place {
    unit: u32,
    label: usize,
    is_used: bool,
    is_value: bool,
    /// How many names stand there.
    beside: u32,
}

impl Names {
    /// Reads a unit, until `stop` says so. Units come in their order, each once.
    pub(crate) fn read(&mut self, unit: usize, parts: &[Part<'_>], stop: &dyn Fn() -> bool) {
        self.units = self.units.max(unit + 1);
        let unit = u32::try_from(unit).unwrap_or(u32::MAX);
        let mut labels: BTreeMap<&str, usize> = BTreeMap::new();
        let mut last_label = None;
        for part in parts {
            if stop() {
                return;
            }
            let (text, label, is_used) = match part {
                Part::User(text) => (text, self.label("the user"), true),
                Part::Program(text) => (text, self.label("a program"), false),
                Part::Assistant { text, .. } => (text, self.label("the assistant"), true),
                Part::Summary(text) => {
                    self.read_summary(unit, text, stop);
                    continue;
                }
                Part::Call {
                    id,
                    name,
                    arguments,
                } => {
                    let label = self.label(&crate::actions::label(name, arguments));
                    labels.insert(id, label);
                    last_label = Some(label);
                    (arguments, label, true)
                }
                Part::Output {
                    call_id,
                    name,
                    text,
                    ..
                } => {
                    let label = match labels.get(&**call_id).copied().or(last_label) {
                        Some(label) => label,
                        None => self.label(name),
                    };
                    (text, label, false)
                }
            };
            let place = Place {
                unit,
                label,
                is_used,
                is_value: is_used || text.trim_start().starts_with(['{', '[']),
                beside: 1,
            };
            let text = match part {
                Part::Output { text, .. } => part::unwrapped(text),
                _ => Cow::Borrowed(&**text),
            };
            let text = head(&text);
            self.bytes = self.bytes.saturating_add(text.len());
            let found: Vec<&str> = scan::names(text).collect();
            let place = Place {
                beside: u32::try_from(found.len()).unwrap_or(u32::MAX),
                ..place
            };
            for name in &found {
                self.add(name, place);
            }
        }
    }

    /// An earlier digest has a list of names; what else stands there is read as any text.
    fn read_summary(&mut self, unit: u32, text: &str, stop: &dyn Fn() -> bool) {
        for (section, entry) in crate::section::entries(text) {
            if stop() {
                return;
            }
            let (label, names) = match entry.rsplit_once(": ") {
                Some((label, names)) if section == crate::section::Section::Names => {
                    let is_one_of_few = self.labels.len() < LABELS;
                    (
                        self.label(if is_one_of_few { label } else { EARLIER }),
                        names,
                    )
                }
                _ => (self.label(EARLIER), &*entry),
            };
            let place = Place {
                unit,
                label,
                is_used: true,
                is_value: true,
                beside: 1,
            };
            self.bytes = self.bytes.saturating_add(names.len());
            for name in scan::names(names) {
                self.add(name, place);
            }
        }
    }

    fn label(&mut self, label: &str) -> usize {
        let label = text::line(label, LABEL);
        let next = self.labels.len();
        *self.known_labels.entry(label).or_insert_with_key(|label| {
            self.labels.push(label.clone());
            next
        })
    }

    fn add(&mut self, text: &str, place: Place) {
        if let Some(index) = self.known.get(text) {
            let name = &mut self.names[index];
            name.times += 1;
            name.beside = name.beside.min(place.beside);
            name.is_used |= place.is_used;
            name.is_value |= place.is_value;
            if name.last != place.unit {
                name.earlier.push(name.last);
                name.last = place.unit;
            }
            return;
        }
        if self.names.len() >= NAMES + self.bytes / BYTES_PER_NAME {
            return;
        }
        let text: Arc<str> = text.into();
        self.known.insert(Arc::clone(&text), self.names.len());
        self.names.push(Name {
            text,
            times: 1,
            is_used: place.is_used,
            is_value: place.is_value,
            last: place.unit,
            earlier: Vec::new(),
            label: place.label,
            beside: place.beside,
        });
    }

    /// With the worth that names have in such work.
    pub(crate) const fn weighed(&self, work: Work) -> Weighed<'_> {
        Weighed { names: self, work }
    }
}

/// Names, and what they are worth in a kind of work.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Weighed<'a> {
    names: &'a Names,
    pub(crate) work: Work,
}

impl<'a> Weighed<'a> {
    /// The names that stand in no unit that is `kept` and not in `said`, those first that are
    /// most likely to be used again for what they cost.
    pub(crate) fn lost(&self, kept: &[bool], said: &str) -> Vec<Lost<'a>> {
        let said: BTreeSet<&str> = scan::names(said).collect();
        let mut lost: Vec<(f64, usize, &Name)> = self
            .names
            .names
            .iter()
            .enumerate()
            .filter(|(_, name)| {
                !name
                    .units()
                    .any(|unit| kept.get(unit).copied().unwrap_or(false))
                    && !said.contains(&*name.text)
                    && (name.is_value || !is_small_number(&name.text))
            })
            .map(|(index, name)| {
                let worth = self.worth_of(name);
                (worth / (name.text.len() + AROUND) as f64, index, name)
            })
            .collect();
        // Worths are finite. Where they are the same, the order of coming decides.
        lost.sort_by(|one, other| other.0.total_cmp(&one.0).then(one.1.cmp(&other.1)));
        lost.into_iter()
            .map(|(_, index, name)| Lost {
                index,
                name: &name.text,
                label: name.label,
            })
            .collect()
    }

    /// The index of a name, if it was read.
    pub(crate) fn index(&self, name: &str) -> Option<usize> {
        self.names.known.get(name)
    }

    /// How likely the name of an index is to be used again.
    pub(crate) fn worth(&self, index: usize) -> f64 {
        self.worth_of(&self.names.names[index])
    }

    fn worth_of(&self, name: &Name) -> f64 {
        let units = self.names.units;
        let age = (units - name.last as usize) as f64 / units.max(1) as f64;
        let times = f64::from(name.times) / f64::from(name.beside.max(1));
        let weights = self.work.name_weights();
        let mut likely = times.sqrt() * (-age / shares::FADING).exp();
        if name.is_used {
            likely *= weights.used;
        }
        if name.text.contains(['/', '.']) {
            likely *= weights.file;
        }
        if name.text.bytes().all(|byte| byte.is_ascii_digit()) {
            likely *= weights.number;
        }
        likely
    }

    /// What names were found with, in the order of the conversation: lines of `label: names`.
    pub(crate) fn lines(&self, chosen: &[Lost<'_>]) -> Vec<String> {
        let mut chosen: Vec<&Lost<'_>> = chosen.iter().collect();
        chosen.sort_by_key(|lost| (lost.label, lost.index));
        chosen
            .chunk_by(|one, next| one.label == next.label)
            .map(|group| {
                let names: Vec<&str> = group.iter().map(|lost| lost.name).collect();
                let label = group
                    .first()
                    .map_or("", |lost| &self.names.labels[lost.label]);
                format!("{label}: {}", names.join(", "))
            })
            .collect()
    }
}

/// A name that would be gone.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Lost<'a> {
    index: usize,
    pub(crate) name: &'a str,
    label: usize,
}

/// Line numbers, sizes and the like. Outside of data they are many, and used again only where
/// somebody used them.
fn is_small_number(name: &str) -> bool {
    name.len() < 6 && name.bytes().all(|byte| byte.is_ascii_digit())
}

fn head(text: &str) -> &str {
    &text[..text.floor_char_boundary(READ)]
}

#[cfg(test)]
mod tests {
    use super::*;

    fn output(text: String) -> Part<'static> {
        Part::Output {
            call_id: "".into(),
            name: "".into(),
            failed: false,
            text: text.into(),
        }
    }

    /// A text of so many names that no other has, in less than [`READ`] bytes.
    fn listing(number: usize) -> String {
        const MANY: usize = 60_000;
        let names: Vec<String> = (number * MANY..(number + 1) * MANY)
            .map(|name| format!("n{name:06}"))
            .collect();
        names.join(" ")
    }

    #[test]
    fn a_conversation_has_so_many_names_and_those_are_counted_on() {
        let mut names = Names::default();
        for unit in 0..3 {
            names.read(unit, &[output(listing(unit))], &|| false);
        }
        let most = NAMES + names.bytes / BYTES_PER_NAME;
        assert!(most < 3 * 60_000, "{most}");
        assert_eq!(names.names.len(), most);
        assert_eq!(names.labels.len(), 1);
        let all = names.weighed(Work::Coding);
        assert_eq!(all.index("n000000"), Some(0));
        assert_eq!(all.index("n179999"), None);
        names.read(3, &[output("n000000".to_owned())], &|| false);
        let first = &names.names[0];
        assert_eq!(first.times, 2);
        assert_eq!(first.units().collect::<Vec<_>>(), [0, 3]);
    }

    #[test]
    fn a_summary_has_names_within_the_same_bounds_and_so_many_labels() {
        let lines: Vec<String> = (0..LABELS + 10)
            .map(|number| format!("- read a{number}: b{number:06}"))
            .collect();
        let summary = format!(
            "{}\n{}",
            crate::section::Section::Names.heading(),
            lines.join("\n")
        );
        let mut names = Names::default();
        names.read(0, &[Part::Summary(summary.into())], &|| false);
        // Those that are too many share one.
        assert_eq!(names.labels.len(), LABELS + 1);
        assert_eq!(names.names.len(), LABELS + 10);
        for unit in 1..4 {
            let lines = listing(unit).replace(' ', "\n");
            names.read(unit, &[Part::Summary(lines.into())], &|| false);
        }
        assert_eq!(names.names.len(), NAMES + names.bytes / BYTES_PER_NAME);
    }
}
