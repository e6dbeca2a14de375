use std::path::{Path, PathBuf};

use anyhow::{Context as _, anyhow};
use baler_host::{
    Archive, Compaction, Conversation, HostError, Strategy,
    project::Project,
    receipt::{Outcome, Unchanged},
};
use clap::Args;
use serde_json::json;

use super::undo;
use crate::archive::ArchivePlace;
use crate::arguments::{ConversationArguments, GoalArguments, SandboxArguments};
use crate::exit::{self, Exit, Failure};
use crate::files::Seen;
use crate::model::{self, ModelArguments};
use crate::output::{self, Messages};
use crate::progress;
use crate::receipt::{self, Circumstances};
use crate::remote::RemoteArguments;
use crate::settings::{self, HostSettings, Keeping};
use crate::whole_file::{self, WholeFile};
use crate::{files, input, project, sources, unit_listing};

/// Make a conversation fit its budget
///
/// Writes the new conversation to standard output, and what was done and why to standard error. Kept messages
/// are byte-identical. If a strategy breaks a rule or a limit, the next one of the chain runs; every chain
/// ends with `native:digest` and `native:truncate`, and with --model `native:summarize` runs before these
/// two. If a strategy declares a failure, the conversation stays unchanged, unless --required is given.
///
/// A run does not know of earlier runs, so a strategy that failed in them is tried again. Only programs that
/// keep running (`baler serve`, the library) put a strategy in quarantine, which means that they do not run it
/// for a minute: for one conversation after three faults there within 10 minutes; for all conversations after
/// faults in three of them, or after three faults that no conversation can have caused.
#[derive(Debug, Args)]
#[command(after_help = EXIT_CODES, after_long_help = format!("{EXAMPLES}\n\n{}", exit::OF_COMPACT))]
pub(crate) struct CompactCommand {
    #[command(flatten)]
    conversation: ConversationArguments,

    /// The strategy that decides what to keep: a name (`baler strategies` lists them), a .wasm file, or the
    /// URL of a server (--remote-token sets its token). If given several times, each strategy is the fallback
    /// of the one before; their names must differ [default: tiered; with --model: tiered-model]
    #[arg(
        short,
        long = "strategy",
        value_name = "NAME|FILE.wasm|URL",
        help_heading = "Strategy"
    )]
    strategies: Vec<String>,

    /// Config of the first strategy: JSON, or @FILE for a file that holds it. baler checks it against the
    /// strategy's schema, which `baler introspect` shows
    #[arg(long, value_name = "JSON|@FILE", help_heading = "Strategy")]
    config: Option<String>,

    #[command(flatten)]
    remote: RemoteArguments,

    #[command(flatten)]
    goal: GoalArguments,

    /// Where removed content is archived first, so that `baler expand` and `baler undo` can retrieve it: a
    /// folder; a URL such as s3://bucket/prefix (credentials come from the environment, such as
    /// AWS_ACCESS_KEY_ID); or `off`, with which removed content is lost. If removed content cannot be
    /// archived, nothing is compacted [default: $BALER_ARCHIVE, else the folder `archive` in the state
    /// folder]
    #[arg(long, value_name = "DIR|URL|off", help_heading = "Output")]
    archive: Option<String>,

    /// Write the conversation to this file, whole or not at all, instead of to standard output. It may be the
    /// file that was read, unless that is a session log. If another program changed that file in the
    /// meantime, the file stays as it is and the run fails
    #[arg(short, long, value_name = "FILE", help_heading = "Output")]
    output: Option<PathBuf>,

    /// Write the receipt to this file, as JSON, whole or not at all. The receipt and the file of --output are
    /// put in place, the receipt first, when everything is written; if anything cannot be written, both files
    /// stay as they were. A receipt that `baler undo` can use is never replaced by one that it cannot use (of
    /// a run that changed nothing, or with `--archive off`); --json then says `receipt-kept`
    #[arg(long, value_name = "FILE", help_heading = "Output")]
    receipt: Option<PathBuf>,

    /// Print one JSON object to standard output: the conversation (unless it goes to a file), the receipt,
    /// and the outcome of every unit. Standard error then gets errors only
    #[arg(long, help_heading = "Output")]
    json: bool,

    /// Print only errors to standard error
    #[arg(short, long, help_heading = "Output")]
    quiet: bool,

    /// Show what would be done: no conversation is written, nothing is archived, and the files of --output
    /// and --receipt stay as they are. A model is still asked
    #[arg(short = 'n', long, help_heading = "Output")]
    dry_run: bool,

    /// Show the strategies' free-text messages (reasons and logs), and put them into the receipt. They are
    /// untrusted and may quote the conversation
    #[arg(long, help_heading = "Output")]
    words: bool,

    /// Ask each strategy twice, and use its plan only if both plans, logs and uses of fuel are the same. Answers for
    /// which a model was asked are not compared
    #[arg(long, help_heading = "Strategy")]
    verify: bool,

    #[command(flatten)]
    model: ModelArguments,

    #[command(flatten)]
    sandbox: SandboxArguments,
}

const EXIT_CODES: &str = "Exit codes: 0 compacted or repaired, 1 baler failed, 2 invalid usage, 3 unchanged (use the conversation as it is), 4 compacted by a fallback, 5 invalid input";

const EXAMPLES: &str = "\
Examples:
  Compact to half of the size, by the strategy `tiered`:
    baler compact request.json > smaller.json
  Compact to 8000 tokens in a pipe, and archive removed content in a bucket:
    agent-dump | baler compact --budget 8000 --archive s3://bales/agent | send
  Repair broken rules of the wire format first:
    baler compact request.json --repair --receipt receipt.json > smaller.json
  Restore the original conversation:
    baler undo receipt.json > request.json
  Show what an untrusted strategy would do, with a shorter time limit:
    baler compact request.json --strategy ./untrusted.wasm --timeout 500ms --dry-run
  Have a model summarise, and say what to keep:
    baler compact request.json --model openai:gpt-5-mini --instructions 'keep the API design'
  Use a second strategy if the first one fails, and replace the file:
    baler compact request.json -s mask-tool-outputs -s sliding-window \\
      --config '{\"keep\": 5}' --output request.json";

/// The files that a run writes, created before any work is done.
#[derive(Debug, Default)]
struct Files {
    output: Option<WholeFile>,
    receipt: Option<WholeFile>,
}

impl CompactCommand {
    pub(crate) async fn exec(self) -> Result<Exit, Failure> {
        let messages = Messages {
            quiet: self.quiet || self.json,
        };
        let tokenizer = settings::tokenizer(&self.conversation.tokenizer)?;
        let config = self.config.as_deref().map(settings::config).transpose()?;
        let project = self.sandbox.project(messages)?;
        let named = sources::typed_or_default(&self.strategies, self.model.model.is_some());
        let sources = sources::find_all(&named, &self.remote, project.as_ref(), &self.sandbox)?;
        project::tell(project.as_ref(), &named, messages);
        let grant = self.model.grant()?;
        let request = self
            .goal
            .request()?
            .with_free_text_in_receipt(self.words)
            .with_verify(self.verify)
            .with_policy(project::plan_policy(project.as_ref()));
        let (document, seen) = input::read_and_look(self.conversation.file.as_deref(), "compact")?;

        let files = self.files(seen, project.as_ref())?;
        let place = ArchivePlace::of(self.archive.as_deref())?;
        let archive = match &place {
            ArchivePlace::Off => Keeping::Nowhere,
            // A dry run archives in memory, so that its plan, which holds references, is the same as
            // that of a real run.
            ArchivePlace::State if self.dry_run => Keeping::Rehearsed,
            _ if self.dry_run => Keeping::In(Archive::in_memory()),
            place => place.keeping()?,
        };
        let settings = HostSettings {
            format: self.conversation.format.0,
            tokenizer,
            archive,
            model: grant.clone(),
            project: project.clone(),
            ..HostSettings::default()
        };
        let host = self.sandbox.host(settings, messages)?;
        let chain = sources::load(&host, &sources, config.as_deref(), &self.sandbox).await?;
        model::warn_if_unasked(&chain, grant.as_ref(), messages);
        model::warn_if_unread(&sources, &chain, &self.goal, messages);
        let chain = model::granted(chain, &sources, grant.as_ref())?;
        let conversation = input::conversation(&host, document, &self.conversation, messages)?;
        self.goal.check_pins(&conversation)?;

        let what = match &self.model.model {
            Some(model) => format!("compacting; {model} may be asked"),
            None => "compacting".to_owned(),
        };
        let work = host.compact(&conversation, &chain, &request);
        let compaction = progress::waiting(messages, &what, work)
            .await
            .map_err(failure)?;
        let place = place.shown(self.sandbox.state.as_deref());
        let place = place.filter(|_| host.archive().is_some());
        self.print_summary(&conversation, &compaction, &chain, place, messages)?;
        self.write_results(files, &conversation, &compaction, messages)?;
        Ok(exit_of(&compaction))
    }

    /// Returns the file that the conversation is written to; `None` for standard output.
    fn output(&self) -> Option<&Path> {
        self.output
            .as_deref()
            .filter(|file| *file != Path::new("-"))
    }

    /// Creates the files. An output that replaces the input does so only if the input is still what was
    /// `seen`.
    fn files(&self, seen: Option<Seen>, project: Option<&Project>) -> Result<Files, Failure> {
        if self.receipt.as_deref() == Some(Path::new("-")) {
            return Err(Failure::wrong_use(anyhow!(
                "`--receipt` takes a file; for a receipt on standard output, use `--json`"
            )));
        }
        self.check_targets(project)?;
        if self.dry_run {
            return Ok(Files::default());
        }
        let output = match self.output() {
            None => None,
            Some(path) => {
                let is_input = files::is_input(path, self.conversation.file.as_deref());
                let output = WholeFile::create(path)?;
                if is_input && seen.is_some() && output.is_special() {
                    return Err(writes_into_input(&format!("`{}`", path.display())));
                }
                Some(output.replacing(seen.filter(|_| is_input)))
            }
        };
        Ok(Files {
            output,
            receipt: self.receipt.as_deref().map(WholeFile::create).transpose()?,
        })
    }

    /// Fails if content would be lost: if an output would replace a file that the run reads or keeps, or if
    /// two outputs name the same file.
    fn check_targets(&self, project: Option<&Project>) -> Result<(), Failure> {
        let prints = self.json || self.is_to_stdout();
        if prints && files::is_output_the_input(self.conversation.file.as_deref()) {
            return Err(writes_into_input("standard output"));
        }
        // `--output` may replace the previous request, but standard output must not be appended to it.
        let mut read = self.in_use();
        read.extend(self.conversation.previous.clone());
        if prints && let Some(file) = read.iter().find(|file| files::is_standard_output(file)) {
            files::check_output_is_apart(Some(file))?;
        }
        let receipt = self.receipt.as_deref();
        for (option, target) in [("--output", self.output()), ("--receipt", receipt)] {
            let Some(target) = target else {
                continue;
            };
            if prints && files::mixes_with_standard_output(target) {
                return Err(Failure::wrong_use(anyhow!(
                    "`{option}` names the file or pipe that standard output goes to, where something else is written: `{}`; name another file",
                    target.display()
                )));
            }
            let mut in_use = self.in_use();
            if option == "--receipt" {
                in_use.extend(self.output().map(Path::to_owned));
                // `--output` may replace these two, the receipt may not.
                in_use.extend(self.conversation.previous.clone());
                let is_input = files::is_input(target, self.conversation.file.as_deref());
                in_use.extend(is_input.then(|| target.to_owned()));
            }
            files::check_not_in_use(option, target, &in_use)?;
            project::check_not_listed(option, target, project)?;
        }
        Ok(())
    }

    /// Returns the files that the run reads besides conversations, or keeps.
    fn in_use(&self) -> Vec<PathBuf> {
        self.strategies
            .iter()
            .map(Path::new)
            .chain(self.config.as_deref().and_then(settings::named_file))
            .chain(self.goal.context_file())
            .map(Path::to_owned)
            .chain(self.model.key_file())
            .chain(self.remote.token_files())
            .chain(settings::key_file(self.sandbox.state.as_deref()))
            .collect()
    }

    /// Returns whether the conversation goes to standard output.
    fn is_to_stdout(&self) -> bool {
        self.output().is_none() && !self.dry_run
    }

    /// Prints what was done, or the errors of the conversation.
    fn print_summary(
        &self,
        conversation: &Conversation,
        compaction: &Compaction,
        chain: &[Strategy],
        archive: Option<String>,
        messages: Messages,
    ) -> anyhow::Result<()> {
        let receipt = compaction.receipt();
        if receipt.outcome == Outcome::Unchanged(Unchanged::InvalidInput) {
            input::print_violations(conversation, &self.conversation);
            return Ok(());
        }
        let circumstances = Circumstances {
            chain,
            archive: archive.as_deref(),
            is_dry_run: self.dry_run,
        };
        let mut text = String::new();
        if compaction.is_compacted() {
            text = unit_listing::text(&unit_listing::entries(conversation, compaction));
            text.push('\n');
        }
        text.push_str(&receipt::text(receipt, &circumstances));
        if self.dry_run {
            return messages.say_as_result(&text);
        }
        messages.say(&text);
        Ok(())
    }

    /// Writes the conversation and the receipt. All content is written before the first file is replaced: to
    /// temporary files, then to pipes, then to standard output. So if any of it cannot be written, no file is
    /// replaced. Temporary files of a failed run are removed.
    fn write_results(
        &self,
        mut files: Files,
        conversation: &Conversation,
        compaction: &Compaction,
        messages: Messages,
    ) -> anyhow::Result<()> {
        let cannot_undo = compaction.receipt().undo.is_none();
        let kept = self.kept_receipt(&files, cannot_undo);
        if let Some(kept) = kept {
            files.receipt = None;
            messages.warn(&format!(
                "`{}` stays as it is: it is the receipt that undoes an earlier compaction, and {}",
                kept.display(),
                match compaction.receipt().outcome {
                    Outcome::Unchanged(_) => "this run changed nothing that could be undone",
                    _ => "this run cannot be undone, because nothing was archived",
                }
            ));
        }
        let receipt =
            serde_json::to_value(compaction.receipt()).context("the receipt cannot be written")?;
        let document = compaction.document();
        let receipt_text = format!("{receipt:#}\n");
        // The receipt first: the output may replace the only copy of the input.
        let mut files: Vec<(WholeFile, &str)> = [
            files.receipt.map(|file| (file, receipt_text.as_str())),
            files.output.map(|file| (file, document)),
        ]
        .into_iter()
        .flatten()
        .collect();
        files.sort_by_key(|(file, _)| file.is_special());
        let staged = files
            .into_iter()
            .map(|(file, content)| file.stage(content))
            .collect::<Result<Vec<_>, _>>()?;
        let last = kept.map_or("", |_| ",\"receipt-kept\":true");
        self.print(&receipt, last, conversation, compaction)?;
        whole_file::commit_all(staged)
    }

    /// Returns the file of --receipt if it must not be replaced: it undoes a compaction, and the new receipt
    /// would not, because the run changed or archived nothing. Otherwise an agent that compacts one file
    /// again and again, with one file for receipts, could not undo its compactions.
    fn kept_receipt(&self, files: &Files, cannot_undo: bool) -> Option<&Path> {
        let is_replaced = files
            .receipt
            .as_ref()
            .is_some_and(|file| !file.is_special());
        let receipt = self.receipt.as_deref()?;
        (is_replaced && cannot_undo && undo::can_undo(receipt)).then_some(receipt)
    }

    /// Prints to standard output. `last` is the last member of the object that --json prints.
    fn print(
        &self,
        receipt: &serde_json::Value,
        last: &str,
        conversation: &Conversation,
        compaction: &Compaction,
    ) -> anyhow::Result<()> {
        let document = compaction.document();
        let to_stdout = self.is_to_stdout();
        if self.json {
            let units = json!(unit_listing::entries(conversation, compaction));
            let rest = format!("\"receipt\":{receipt},\"units\":{units}{last}}}\n");
            if to_stdout {
                // The document is copied and never parsed, so that it stays byte-identical.
                let document = document.trim_start_matches('\u{feff}').trim();
                output::document(&["{\"conversation\":", document, ",", &rest])
            } else {
                output::document(&["{", &rest])
            }
        } else if to_stdout {
            output::document(&[document])
        } else {
            Ok(())
        }
    }
}

/// Returns the failure for an output that is an open descriptor of the input file: the written text would
/// follow the conversation, or overwrite a part of it.
fn writes_into_input(what: &str) -> Failure {
    Failure::wrong_use(anyhow!(
        "{what} goes to the file that the conversation is read from, and neither of the two could be read afterwards; name that file by `--output` to replace it, or another one"
    ))
}

/// Returns the failure of a compaction, with its remedy.
fn failure(error: HostError) -> Failure {
    match error {
        HostError::Archive(error) => anyhow!(
            "{error}; so nothing was compacted: check the archive, or name another one by --archive (with `off`, removed content is lost)"
        )
        .into(),
        error => error.into(),
    }
}

fn exit_of(compaction: &Compaction) -> Exit {
    match compaction.receipt().outcome {
        Outcome::Unchanged(Unchanged::InvalidInput) => Exit::WrongInput,
        // There was nothing to do, as a script hopes that calls it before each request.
        Outcome::Unchanged(Unchanged::WithinBudget) => Exit::Done,
        Outcome::Unchanged(_) => Exit::Unchanged,
        Outcome::Repaired(_) => Exit::Done,
        _ if compaction.receipt().fell_back => Exit::FellBack,
        _ => Exit::Done,
    }
}
