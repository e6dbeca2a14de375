//! Reader tests: `--reader-files` and `--reader`.

use std::path::PathBuf;
use std::time::Duration;

use anyhow::Context as _;
use baler_eval::corpus::Recording;
use baler_eval::{Options, ReaderFolder, ReaderOptions, ReaderScore};
use baler_host::model::{Model, Question};
use baler_host::{Host, Strategy};
use baler_models::Price;
use baler_models::clients::Client;
use clap::Args;

use crate::exit::Failure;
use crate::model;
use crate::output::{self, Messages};

/// The folder of a model's test, if none is named.
const FOLDER: &str = "reader-test";

/// Tokens for the answers to one sheet, thinking included.
const ANSWERS: u32 = 8_000;

/// How long a model may take for one sheet.
const TIME: Duration = Duration::from_secs(300);

/// Options for reader tests.
#[derive(Debug, Args)]
#[command(next_help_heading = "Reader tests")]
pub(super) struct ReaderArguments {
    /// Write what each strategy and baseline leaves at the first budget (10% if none is given), with questions about
    /// what the agent did next, to this folder outside of the corpus: METHOD/NNN.md. A reader who sees the files of one
    /// method alone answers in METHOD/NNN.txt. The same command then scores all answers that are there
    #[arg(long, value_name = "DIR", conflicts_with_all = ["recorded", "json", "markdown", "charts", "resume"])]
    reader_files: Option<PathBuf>,

    /// Let this model answer the questions: openai:NAME, anthropic:NAME, gemini:NAME, or URL#NAME as for `baler compact
    /// --model`. It is sent texts of the conversations. Sheets with answers are not asked again [default folder:
    /// ./reader-test]
    #[arg(long, value_name = "MODEL", conflicts_with_all = ["recorded", "json", "markdown", "charts", "resume"])]
    reader: Option<String>,

    /// Where the key of the reader is: env:NAME, file:PATH or none [default: the provider's usual variable]
    #[arg(long, value_name = "WHERE", requires = "reader")]
    reader_key: Option<String>,

    /// Price of a million tokens of input and of output of the reader, such as 3/15
    #[arg(long, value_name = "IN/OUT", requires = "reader")]
    reader_price: Option<Price>,

    /// Ask no more once the reader has cost this much, in the currency of --reader-price
    #[arg(long, value_name = "AMOUNT", requires = "reader_price", value_parser = model::amount)]
    reader_cost: Option<f64>,

    /// The most conversations to ask about
    #[arg(long, value_name = "N", default_value_t = ReaderOptions::default().conversations, value_parser = count)]
    reader_conversations: usize,

    /// The number of questions about each conversation
    #[arg(long, value_name = "N", default_value_t = ReaderOptions::default().questions, value_parser = count)]
    reader_questions: usize,
}

fn count(text: &str) -> Result<usize, String> {
    const MOST: usize = 1_000;
    text.parse()
        .ok()
        .filter(|count| (1..=MOST).contains(count))
        .ok_or_else(|| format!("expected a number from 1 to {MOST}"))
}

impl ReaderArguments {
    /// The folder of the test, if there is to be one.
    pub(super) fn folder(&self) -> Option<PathBuf> {
        let of_model = self.reader.is_some().then(|| PathBuf::from(FOLDER));
        self.reader_files.clone().or(of_model)
    }

    /// Writes the test, asks the model if one is named, and prints the scores.
    pub(super) async fn run(
        &self,
        folder: &std::path::Path,
        host: &Host,
        strategies: &[Strategy],
        records: &[Recording],
        options: &Options,
    ) -> Result<(), Failure> {
        let reader = self
            .reader
            .as_deref()
            .map(|name| self.client(name))
            .transpose()?;
        let asked = ReaderOptions {
            conversations: self.reader_conversations,
            questions: self.reader_questions,
        };
        let test = ReaderFolder::write(folder, host, strategies, records, options, asked).await?;
        if let Some(reader) = &reader {
            self.ask(reader, &test).await?;
        }
        let scores = test.scores()?;
        output::words_in_full(&table(&scores))?;
        let open = test.open_sheets()?.len();
        if open > 0 {
            let text = format!(
                "{open} sheets in `{}` have no answers yet: write METHOD/NNN.txt beside METHOD/NNN.md, and run this again",
                folder.display()
            );
            Messages { quiet: false }.warn(&text);
        }
        Ok(())
    }

    fn client(&self, name: &str) -> Result<Client, Failure> {
        let builder = model::builder(
            ("--reader", name),
            ("--reader-key", self.reader_key.as_deref()),
        )?;
        builder
            .price(self.reader_price)
            .build()
            .map_err(|error| Failure::wrong_use(anyhow::Error::new(error)))
    }

    /// Asks about all sheets without answers, until the cost is reached.
    async fn ask(&self, reader: &Client, test: &ReaderFolder) -> anyhow::Result<()> {
        let mut spent = 0.0;
        for sheet in test.open_sheets()? {
            if self.reader_cost.is_some_and(|most| spent >= most) {
                let text = format!("the reader has cost {spent:.4}; the rest is not asked");
                Messages { quiet: false }.warn(&text);
                break;
            }
            let tokens = reader.info().max_output_tokens.min(ANSWERS);
            let question = Question::new(&*sheet.text, tokens);
            let answer = reader
                .ask(&question, TIME, &|| true)
                .await
                .context("the reader did not answer; run this again to go on")?;
            if let Some(price) = self.reader_price {
                // A provider that counts nothing does not make questions free.
                let tokens =
                    |count: Option<u32>, text: &str| count.map_or(text.len() as u64 / 3, u64::from);
                let asked = tokens(answer.input_tokens, &sheet.text);
                spent += price.cost(asked, tokens(answer.output_tokens, &answer.text));
            }
            // The next run asks again.
            if answer.text.trim().is_empty() {
                continue;
            }
            sheet
                .answer(&answer.text)
                .context("the answers cannot be written")?;
        }
        Ok(())
    }
}

/// Writes scores as a table.
fn table(scores: &[ReaderScore]) -> String {
    let mut text = String::from(
        "| | right | of answered | wrong | unknown | not answered | right by conversation |\n|---|---|---|---|---|---|---|\n",
    );
    for score in scores {
        let share = score
            .share()
            .map_or_else(|| "–".to_owned(), |share| format!("{share:.2}"));
        let sheets: Vec<String> = score
            .by_sheet
            .iter()
            .map(|right| right.map_or_else(|| "–".to_owned(), |right| right.to_string()))
            .collect();
        text.push_str(&format!(
            "| {} | {} | {share} | {} | {} | {} | {} |\n",
            score.method,
            score.right,
            score.wrong,
            score.unknown,
            score.open,
            sheets.join(" ")
        ));
    }
    text
}
