//! Names that came up: files, symbols, ids, numbers. What an agent uses again is mostly one of these.

use std::borrow::Cow;
use std::collections::{BTreeMap, BTreeSet};

use crate::name_index::NameIndex;
use crate::part::{self, Part};
use crate::scan;
use crate::section;
use crate::shares;
use crate::text;
use crate::weights;
use crate::work::Work;

/// Most bytes of the text of one part that are read, and of a label.
const READ: usize = 512 << 10;
const LABEL: usize = 240;

/// Most bytes of a label in a list.
pub(crate) const SHOWN: usize = 60;

/// Label of names that an earlier summary contains without a label.
const EARLIER: &str = "earlier";

/// Most names of a conversation: [`NAMES`], and one more for each [`BYTES_PER_NAME`] bytes that were read. A
/// name of four letters takes fifty times its bytes in memory, and a conversation is limited by its bytes.
/// Ordinary text has fewer names. Beyond the limit, only names that are already known are counted.
const NAMES: usize = 100_000;
const BYTES_PER_NAME: usize = 128;

/// Most new names that one text adds, the first ones. A name among more than these is hardly used again, and each one
/// costs time whenever names are weighed.
const OF_TEXT: usize = 30_000;

/// Number of labels from which on those of an earlier digest share one.
const LABELS: usize = 10_000;

/// Bytes that a name takes in a list in addition to its own.
const AROUND: usize = 4;

/// All names of a conversation, and where they were.
#[derive(Debug, Default)]
pub(crate) struct Names {
    known: NameIndex,
    names: Vec<Name>,
    labels: Vec<String>,
    known_labels: BTreeMap<String, usize>,
    /// The label of the command that the model wrote last, which a program may answer.
    proposed: Option<usize>,
    /// The last unit that was read, plus one.
    units: usize,
    /// Bytes that were read.
    bytes: usize,
}

/// What is known of one name.
#[derive(Debug)]
struct Name {
    text: Box<str>,
    times: u32,
    is_used: bool,
    /// Whether it was in data, or the model or the user used it.
    is_value: bool,
    /// The last unit that contains it. Those before, oldest first, are in `earlier`. Most names are in one.
    last: u32,
    earlier: Vec<u32>,
    /// Where it was first: an index of `labels`.
    label: usize,
    /// Number of names in the part with fewest names that contains it: one of a thousand in a listing is less
    /// likely to be used than one of three.
    fewest_names: u32,
}

impl Name {
    /// Iterates the units that contain it.
    fn units(&self) -> impl Iterator<Item = usize> {
        let units = self.earlier.iter().chain(std::iter::once(&self.last));
        units.map(|unit| *unit as usize)
    }
}

/// Where a name was found.
#[derive(Debug, Clone, Copy)]
struct Place {
    unit: u32,
    label: usize,
    is_used: bool,
    is_value: bool,
    /// Number of names in the part.
    names_in_part: u32,
}

impl Names {
    /// Reads a unit. Units have to be read in their order, each once.
    pub(crate) fn read(&mut self, unit: usize, parts: &[Part<'_>]) {
        self.units = self.units.max(unit + 1);
        let unit = u32::try_from(unit).unwrap_or(u32::MAX);
        let mut labels: BTreeMap<&str, usize> = BTreeMap::new();
        let mut last_label = None;
        for part in parts {
            let (text, label, is_used) = match part {
                Part::User(text) => (text, self.label("the user"), true),
                Part::Program(text) => {
                    let label = self.proposed.take();
                    let label = label.unwrap_or_else(|| self.label("a program"));
                    (text, label, false)
                }
                Part::Assistant { text, .. } => {
                    let command = crate::shell_blocks::command(text);
                    self.proposed = command
                        .map(|command| self.label(&crate::actions::label_of_command(command)));
                    (text, self.label("the assistant"), true)
                }
                Part::Summary(text) => {
                    self.read_summary(unit, text);
                    continue;
                }
                // What was only thought of was not used.
                Part::Thinking(_) => continue,
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
                is_value: is_used || begins_like_json(text),
                names_in_part: 1,
            };
            let text = match part {
                Part::Output { text, .. } => part::unwrapped(text),
                _ => Cow::Borrowed(&**text),
            };
            let text = head(&text);
            self.bytes = self.bytes.saturating_add(text.len());
            let found: Vec<&str> = scan::names(text).collect();
            let place = Place {
                names_in_part: u32::try_from(found.len()).unwrap_or(u32::MAX),
                ..place
            };
            let most = self.most().min(self.names.len() + OF_TEXT);
            for name in &found {
                self.add(name, place, most);
            }
        }
    }

    /// Reads an earlier digest: names in its list of names keep their labels. The rest is read as any text.
    fn read_summary(&mut self, unit: u32, text: &str) {
        for (section, entry) in crate::section::entries(text) {
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
                is_value: false,
                names_in_part: 1,
            };
            self.bytes = self.bytes.saturating_add(names.len());
            let most = self.most();
            for name in scan::names(names) {
                self.add(name, place, most);
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

    /// Returns the most names that there can be after what was read.
    const fn most(&self) -> usize {
        NAMES + self.bytes / BYTES_PER_NAME
    }

    /// Adds a name, unless it is not known and there are `most` names.
    fn add(&mut self, text: &str, place: Place, most: usize) {
        if let Some(index) = self.index(text) {
            let name = &mut self.names[index];
            name.times += 1;
            name.fewest_names = name.fewest_names.min(place.names_in_part);
            name.is_used |= place.is_used;
            name.is_value |= place.is_value;
            if name.last != place.unit {
                name.earlier.push(name.last);
                name.last = place.unit;
            }
            return;
        }
        if self.names.len() >= most {
            return;
        }
        let names = &self.names;
        let name_of = |index: usize| &*names[index].text;
        self.known.insert(text, names.len(), name_of);
        self.names.push(Name {
            text: text.into(),
            times: 1,
            is_used: place.is_used,
            is_value: place.is_value,
            last: place.unit,
            earlier: Vec::new(),
            label: place.label,
            fewest_names: place.names_in_part,
        });
    }

    /// Returns the index of a name, if it was read.
    fn index(&self, name: &str) -> Option<usize> {
        self.known.get(name, |index| &self.names[index].text)
    }

    /// Returns the names with their weights in a kind of work.
    pub(crate) const fn weighed(&self, work: Work) -> WeightedNames<'_> {
        WeightedNames { names: self, work }
    }
}

/// Names with their weights in a kind of work.
#[derive(Debug, Clone, Copy)]
pub(crate) struct WeightedNames<'a> {
    names: &'a Names,
    pub(crate) work: Work,
}

/// Whether a name is a file with the number of a line, as searches list those around a hit: `src/tide.rs-113`.
fn is_line_of_file(name: &str) -> bool {
    let Some((file, line)) = name.rsplit_once('-') else {
        return false;
    };
    let Some((_, end)) = file.rsplit_once('.') else {
        return false;
    };
    !line.is_empty()
        && line.bytes().all(|byte| byte.is_ascii_digit())
        && (1..=4).contains(&end.len())
        && end.bytes().all(|byte| byte.is_ascii_alphanumeric())
        && end.starts_with(|c: char| c.is_ascii_alphabetic())
}

/// Whether a name is a hash of a whole content, as addresses of packages and lock files have.
fn is_long_hash(name: &str) -> bool {
    name.len() > HASH && name.bytes().all(|byte| byte.is_ascii_hexdigit())
}

/// Characters of the name of a commit, the longest hash that agents use.
const HASH: usize = 40;

impl<'a> WeightedNames<'a> {
    /// Returns the names that are neither in a `kept` unit nor in the text `said`, those first that are most
    /// likely to be used again for their length.
    pub(crate) fn lost(&self, kept: &[bool], said: &str) -> Vec<LostName<'a>> {
        let said: BTreeSet<&str> = scan::names(said).collect();
        let mut lost: Vec<(f64, LostName<'a>)> = self
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
                    && !is_duration(&name.text)
                    && !is_line_of_file(&name.text)
            })
            .map(|(index, name)| {
                let weight = self.weight_of(name);
                let lost = LostName {
                    index,
                    name: &name.text,
                    label: name.label,
                    weight,
                };
                (weight / (name.text.len() + AROUND) as f64, lost)
            })
            .collect();
        // Weights are finite. Equal ones keep the order of the conversation.
        lost.sort_unstable_by(|(one, lost), (other, next)| {
            let by_weight = other.total_cmp(one);
            by_weight.then(lost.index.cmp(&next.index))
        });
        lost.into_iter().map(|(_, lost)| lost).collect()
    }

    /// Returns the index of a name, if it was read.
    pub(crate) fn index(&self, name: &str) -> Option<usize> {
        self.names.index(name)
    }

    /// Returns the weight of the name with this index: how likely it is to be used again.
    pub(crate) fn weight(&self, index: usize) -> f64 {
        self.weight_of(&self.names.names[index])
    }

    fn weight_of(&self, name: &Name) -> f64 {
        let is_printed = self.work == Work::Tools && !name.is_used;
        if is_printed && is_long_hash(&name.text) {
            return 0.0;
        }
        let units = self.names.units;
        let age = (units - name.last as usize) as f64 / units.max(1) as f64;
        let times = f64::from(name.times) / f64::from(name.fewest_names.max(1));
        let weights = self.work.name_weights();
        let mut likely = times.powf(weights::times()) * (-age / shares::FADING).exp();
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

    /// Returns the chosen names by their labels, in the order of the conversation.
    pub(crate) fn groups(&self, chosen: &[LostName<'a>]) -> Vec<(usize, Vec<&'a str>)> {
        let mut chosen: Vec<&LostName<'a>> = chosen.iter().collect();
        chosen.sort_by_key(|lost| (lost.label, lost.index));
        chosen
            .chunk_by(|one, next| one.label == next.label)
            .filter_map(|group| {
                let names = group.iter().map(|lost| lost.name).collect();
                Some((group.first()?.label, names))
            })
            .collect()
    }

    /// Returns a line of a list of names.
    pub(crate) fn line(&self, label: usize, names: &[&str]) -> String {
        let label = shown(self.label(label));
        let names = names.join(", ");
        // A file may have any name, also one in which somebody speaks.
        let is_code = label.starts_with('`') && label.ends_with('`');
        match !is_code && section::names_a_speaker(&label) {
            true => format!("`{label}`: {names}"),
            false => format!("{label}: {names}"),
        }
    }

    pub(crate) fn label(&self, label: usize) -> &'a str {
        &self.names.labels[label]
    }

    /// Returns the number of names.
    pub(crate) fn count(&self) -> usize {
        self.names.names.len()
    }

    /// Returns the index of a label, if a name has it.
    pub(crate) fn label_index(&self, label: &str) -> Option<usize> {
        self.names.known_labels.get(label).copied()
    }
}

/// Returns a label as a list shows it: of a long one the beginning, or of a path the end.
fn shown(label: &str) -> Cow<'_, str> {
    if label.len() <= SHOWN {
        return Cow::Borrowed(label);
    }
    if label.contains([' ', '`', '(']) {
        return Cow::Owned(text::line(label, SHOWN));
    }
    let start = label.ceil_char_boundary(label.len() - SHOWN);
    Cow::Owned(format!("…{}", &label[start..]))
}

/// A name that would be lost with the removed units.
#[derive(Debug, Clone, Copy)]
pub(crate) struct LostName<'a> {
    pub(crate) index: usize,
    pub(crate) name: &'a str,
    /// Where it was first: an index of labels.
    pub(crate) label: usize,
    /// How likely it is to be used again.
    pub(crate) weight: f64,
}

/// Whether a name is a line number, a size or the like. Outside of data there are many, and they are used
/// again only if somebody used them before.
pub(crate) fn is_small_number(name: &str) -> bool {
    name.len() < 6 && name.bytes().all(|byte| byte.is_ascii_digit())
}

/// Whether a name is a duration or a size with its unit, or a line of `sed`: `832s`, `250kb`, `200p`.
fn is_duration(name: &str) -> bool {
    const UNITS: [&str; 11] = ["s", "ms", "us", "ns", "m", "h", "kb", "mb", "gb", "px", "p"];
    let unit = name.trim_start_matches(|c: char| c.is_ascii_digit() || c == '.');
    unit.len() < name.len() && UNITS.iter().any(|known| unit.eq_ignore_ascii_case(known))
}

/// Whether a text begins as an object or a list of JSON. Logs begin with `[` as well.
fn begins_like_json(text: &str) -> bool {
    let text = text.trim_start();
    let list = text.strip_prefix('[').map(str::trim_start);
    text.starts_with('{') || list.is_some_and(|first| first.starts_with(['{', '[', '"']))
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

    #[test]
    fn no_label_of_names_speaks_for_anybody() {
        for (label, expected) in [
            ("the user", "the user: BX-71"),
            ("docs/user.md", "docs/user.md: BX-71"),
            ("`grep User: log`", "`grep User: log`: BX-71"),
            ("The user said: moor.md", "`The user said: moor.md`: BX-71"),
            ("Hum\u{200b}an: moor.md", "`Hum\u{200b}an: moor.md`: BX-71"),
        ] {
            let mut names = Names::default();
            let index = names.label(label);
            let line = names.weighed(Work::Tools).line(index, &["BX-71"]);
            assert_eq!(line, expected);
            // It stays as it is when the digest is read again.
            let list = format!("{}\n- {line}", section::Section::Names.heading());
            let mut again = Names::default();
            again.read(0, &[Part::Summary(list.into())]);
            assert_eq!(again.weighed(Work::Tools).line(0, &["BX-71"]), expected);
        }
    }

    /// Returns a text of 60,000 names that no other listing has, in less than [`READ`] bytes.
    fn listing(number: usize) -> String {
        listing_of(number, 60_000)
    }

    fn listing_of(number: usize, many: usize) -> String {
        let names: Vec<String> = (number * many..(number + 1) * many)
            .map(|name| format!("n{name:06}"))
            .collect();
        names.join(" ")
    }

    #[test]
    fn lines_of_files_are_told_from_names() {
        for name in ["src/tide.rs-113", "tide.rs-7"] {
            assert!(is_line_of_file(name), "{name}");
        }
        for name in [
            "src/tide.rs",
            "data/report-2024",
            "v1.2-3",
            "tide.rs-",
            "a.longer-7",
            "BX-71",
        ] {
            assert!(!is_line_of_file(name), "{name}");
        }
    }

    #[test]
    fn names_are_limited_and_known_ones_counted_further() {
        let mut names = Names::default();
        for unit in 0..18 {
            let text = listing_of(unit, OF_TEXT);
            names.read(unit, &[output(text)]);
        }
        let most = names.most();
        assert!(most < 18 * OF_TEXT, "{most}");
        assert_eq!(names.names.len(), most);
        assert_eq!(names.labels.len(), 1);
        let all = names.weighed(Work::Tools);
        assert_eq!(all.index("n000000"), Some(0));
        assert_eq!(all.index("n179999"), None);
        names.read(18, &[output("n000000".to_owned())]);
        let first = &names.names[0];
        assert_eq!(first.times, 2);
        assert_eq!(first.units().collect::<Vec<_>>(), [0, 18]);
    }

    #[test]
    fn of_one_text_the_first_names_are_counted_and_all_that_are_known() {
        let mut names = Names::default();
        names.read(0, &[output("n059999".to_owned())]);
        names.read(1, &[output(listing(0))]);
        assert_eq!(names.names.len(), 1 + OF_TEXT);
        assert_eq!(names.names[0].times, 2);
        let all = names.weighed(Work::Tools);
        assert!(all.index("n000000").is_some());
        assert_eq!(all.index("n059998"), None);
        // Whatever one text had, the next one has its own.
        names.read(2, &[output("n059998".to_owned())]);
        assert!(names.weighed(Work::Tools).index("n059998").is_some());
    }

    #[test]
    fn names_and_labels_of_a_summary_are_limited() {
        let lines: Vec<String> = (0..LABELS + 10)
            .map(|number| format!("- read a{number}: b{number:06}"))
            .collect();
        let summary = format!(
            "{}\n{}",
            crate::section::Section::Names.heading(),
            lines.join("\n")
        );
        let mut names = Names::default();
        names.read(0, &[Part::Summary(summary.into())]);
        // Those that are too many share one.
        assert_eq!(names.labels.len(), LABELS + 1);
        assert_eq!(names.names.len(), LABELS + 10);
        for unit in 1..4 {
            let lines = listing(unit).replace(' ', "\n");
            names.read(unit, &[Part::Summary(lines.into())]);
        }
        assert_eq!(names.names.len(), names.most());
    }
}
