//! The folder of a reader test: writes texts and questions, and reads answers.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use anyhow::{Context as _, bail, ensure};
use baler_host::{Host, Strategy};
use serde::{Deserialize, Serialize};

use super::ReaderOptions;
use super::questions::{self, Question};
use super::score::{Grade, ReaderScore, RightAnswer, answers};
use crate::baselines::Baseline;
use crate::bounded_file;
use crate::cases::{self, Case};
use crate::corpus::Recording;
use crate::options::Options;
use crate::transcript;

/// The file with the right answers.
const KEY: &str = "key.json";

/// A folder with the texts and questions of a reader test.
#[derive(Debug)]
pub struct ReaderFolder {
    folder: PathBuf,
    key: Key,
}

/// The right answers, and what they belong to.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
struct Key {
    /// What was asked: budgets, pins and conversations.
    test: String,
    methods: Vec<String>,
    sheets: Vec<Sheet>,
}

/// The questions about one conversation, which are the same for all methods.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
struct Sheet {
    set: String,
    id: String,
    cut: usize,
    room: usize,
    answers: Vec<RightAnswer>,
}

/// A sheet that has no answers yet.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct OpenSheet {
    /// The text that a method left, and the questions, for a reader.
    pub text: String,
    /// Where the answers belong.
    answers: PathBuf,
}

impl OpenSheet {
    /// Writes the reader's answers.
    ///
    /// # Errors
    /// The file cannot be written.
    pub fn answer(&self, answers: &str) -> io::Result<()> {
        fs::write(&self.answers, answers)
    }
}

impl ReaderFolder {
    /// Writes texts and questions about these conversations, with the first budget of `options`, for each
    /// strategy and baseline. A folder that holds the same test already is kept, with its answers.
    ///
    /// # Errors
    /// The folder holds another test, it cannot be written, no conversation has enough questions, or the host
    /// failed.
    pub async fn write(
        folder: &Path,
        host: &Host,
        strategies: &[Strategy],
        records: &[Recording],
        options: &Options,
        asked: ReaderOptions,
    ) -> anyhow::Result<Self> {
        let budget = options.budgets.first().copied().unwrap_or(0.1);
        let mut ordered: Vec<(String, &Recording)> = records
            .iter()
            .map(|record| (record.content_hash(), record))
            .collect();
        ordered.sort_unstable_by(|one, other| one.0.cmp(&other.0));
        let mut sheets = Vec::new();
        let mut texts: Vec<Vec<String>> = Vec::new();
        for (_, record) in ordered {
            if sheets.len() == asked.conversations {
                break;
            }
            let Some((case, questions)) = asked_about(host, record, asked.questions) else {
                continue;
            };
            let Some((_, room)) = case.rooms(options).into_iter().next() else {
                continue;
            };
            texts.push(left_by_all(host, strategies, &case, room, options, &questions).await?);
            sheets.push(Sheet {
                set: record.set.clone(),
                id: record.id.clone(),
                cut: case.cut,
                room,
                answers: questions.into_iter().map(|asked| asked.answer).collect(),
            });
        }
        ensure!(
            !sheets.is_empty(),
            "none of {} conversations has {} names to ask for after its cut; ask for fewer",
            records.len(),
            asked.questions
        );
        let methods = strategies
            .iter()
            .map(Strategy::name)
            .chain(Baseline::ALL.map(Baseline::name));
        let methods: Vec<String> = methods.map(str::to_owned).collect();
        let key = Key {
            test: format!("{budget} of the history, pins {:?}", options.pins),
            methods,
            sheets,
        };
        let this = Self {
            folder: folder.to_owned(),
            key,
        };
        this.save(&texts)?;
        Ok(this)
    }

    /// Writes all files that are not there yet.
    fn save(&self, texts: &[Vec<String>]) -> anyhow::Result<()> {
        let file = self.folder.join(KEY);
        let key = serde_json::to_string_pretty(&self.key)?;
        match bounded_file::read(&file) {
            Ok(known) => ensure!(
                known == key.as_bytes(),
                "`{}` belongs to another reader test: other conversations, budgets, strategies or questions; name another folder",
                file.display()
            ),
            Err(error) if error.kind() == io::ErrorKind::NotFound => {}
            Err(error) => bail!("cannot read `{}`: {error}", file.display()),
        }
        for (number, texts) in texts.iter().enumerate() {
            for (method, text) in self.key.methods.iter().zip(texts) {
                let file = self.file(method, number, "md");
                let known = fs::read_to_string(&file).ok();
                if known.as_ref().is_some_and(|known| known != text) {
                    // Answers about another text say nothing about this one.
                    match fs::remove_file(self.file(method, number, "txt")) {
                        Err(error) if error.kind() != io::ErrorKind::NotFound => {
                            return Err(error.into());
                        }
                        _ => {}
                    }
                }
                let parent = file.parent().unwrap_or(&self.folder);
                fs::create_dir_all(parent)
                    .and_then(|()| fs::write(&file, text))
                    .with_context(|| format!("cannot write `{}`", file.display()))?;
            }
        }
        fs::write(&file, key).with_context(|| format!("cannot write `{}`", file.display()))
    }

    fn file(&self, method: &str, sheet: usize, ending: &str) -> PathBuf {
        let folder = method.replace([':', '/'], "-");
        self.folder
            .join(folder)
            .join(format!("{sheet:03}.{ending}"))
    }

    /// Returns the sheets that have no answers yet.
    ///
    /// # Errors
    /// A text cannot be read.
    pub fn open_sheets(&self) -> anyhow::Result<Vec<OpenSheet>> {
        let mut open = Vec::new();
        for number in 0..self.key.sheets.len() {
            for method in &self.key.methods {
                let answers = self.file(method, number, "txt");
                if !answers.exists() {
                    let text = self.file(method, number, "md");
                    let text = fs::read_to_string(&text)
                        .with_context(|| format!("cannot read `{}`", text.display()))?;
                    open.push(OpenSheet { text, answers });
                }
            }
        }
        Ok(open)
    }

    /// Scores the answers that are there, by method.
    ///
    /// # Errors
    /// Answers cannot be read or are not UTF-8.
    pub fn scores(&self) -> anyhow::Result<Vec<ReaderScore>> {
        let methods = self.key.methods.iter();
        methods.map(|method| self.score(method)).collect()
    }

    fn score(&self, method: &str) -> anyhow::Result<ReaderScore> {
        let mut score = ReaderScore {
            method: method.to_owned(),
            ..ReaderScore::default()
        };
        for (number, sheet) in self.key.sheets.iter().enumerate() {
            let file = self.file(method, number, "txt");
            let text = match bounded_file::read(&file) {
                Ok(bytes) => String::from_utf8(bytes)
                    .with_context(|| format!("`{}` is not UTF-8", file.display()))?,
                Err(error) if error.kind() == io::ErrorKind::NotFound => {
                    score.open += sheet.answers.len();
                    score.by_sheet.push(None);
                    continue;
                }
                Err(error) => bail!("cannot read `{}`: {error}", file.display()),
            };
            let before = score.right;
            let given = answers(&text, sheet.answers.len());
            for (right, given) in sheet.answers.iter().zip(given) {
                match right.grade(given) {
                    Grade::Right => score.right += 1,
                    Grade::Wrong => score.wrong += 1,
                    Grade::Unknown => score.unknown += 1,
                }
            }
            score.by_sheet.push(Some(score.right - before));
        }
        Ok(score)
    }
}

/// Returns the cut of a conversation with the most possible questions, and questions about it. `None` if it
/// has too few.
fn asked_about(host: &Host, record: &Recording, number: usize) -> Option<(Case, Vec<Question>)> {
    let cases = cases::cases(host, record, false).ok()?;
    // The middle cut: enough history, and enough after it.
    let middle = cases.len() / 2;
    let case = cases.into_iter().nth(middle)?;
    let questions = questions::of(&case, number)?;
    Some((case, questions))
}

/// Returns the sheet of each strategy and baseline.
async fn left_by_all(
    host: &Host,
    strategies: &[Strategy],
    case: &Case,
    room: usize,
    options: &Options,
    questions: &[Question],
) -> anyhow::Result<Vec<String>> {
    let mut sheets = Vec::new();
    for strategy in strategies {
        let compaction = case.compacted(host, strategy, room, &options.pins).await?;
        let units = cases::read(compaction.conversation());
        sheets.push(sheet(&transcript::of(units.iter().flatten()), questions));
    }
    for baseline in Baseline::ALL {
        sheets.push(sheet(
            &transcript::of(&baseline.keep(case, room)),
            questions,
        ));
    }
    Ok(sheets)
}

/// Writes a sheet for a reader.
fn sheet(left: &str, questions: &[Question]) -> String {
    let asked: Vec<String> = questions
        .iter()
        .enumerate()
        .map(|(number, question)| format!("{}. {}\n", number + 1, question.excerpt))
        .collect();
    format!(
        "# What is left of an agent's history\n\n{left}\n\n\
         # What the agent did next\n\n\
         Each excerpt of what the agent said and did next has one name masked as {asked_for}: a path, a symbol, an id or a number. Other names are masked \
         as […]. Say from the text above alone which name {asked_for} is. Answer with one line for each number, as \
         `1: name`, or `1: UNKNOWN` if the text above does not say it. Add nothing else.\n\n{questions}",
        asked_for = questions::ASKED,
        questions = asked.join("\n"),
    )
}
