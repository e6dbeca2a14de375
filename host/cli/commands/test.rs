use std::fmt::Write as _;
use std::path::{Path, PathBuf};

use anyhow::Context as _;
use baler_conformance::{Check, Finding, Kept, Report, Severity, Size};
use baler_host::receipt::ComponentInfo;
use clap::Args;

use crate::arguments::SandboxArguments;
use crate::exit::{Exit, Failure};
use crate::figures::{self, cleaned, number};
use crate::output::{self, BAD, BOLD, CHANGED, FAINT, GOOD, Messages, styled};
use crate::progress::Steps;
use crate::receipt::permissions;
use crate::remote::RemoteArguments;
use crate::report::quoted;
use crate::settings::{self, HostSettings, Keeping};
use crate::sources;
use crate::whole_file::WholeFile;

/// Test whether a strategy keeps to the contract, and say what to fix
///
/// For authors. Asks the strategy everything that a host may ask, about a built-in corpus of conversations: generated ones
/// of every wire format and odd ones, with pinned, live and unseen units, under all kinds of budgets, each question twice.
/// Says what a host would refuse, in which conversation, and what to change. Also measures fuel, time and memory by the
/// size of a conversation, and what the strategy keeps of sessions in which facts happen that must stay known.
///
/// A model is simulated: none is asked.
#[derive(Debug, Args)]
#[command(after_help = AFTER)]
pub(crate) struct TestCommand {
    /// The strategy: a .wasm file, or a name
    #[arg(value_name = "STRATEGY")]
    strategy: String,

    /// The config with which to test it: JSON, or @FILE for a file that holds it
    #[arg(long, value_name = "JSON|@FILE")]
    config: Option<String>,

    /// Write the conversations of the findings to this folder, which is created if it does not exist
    #[arg(long, value_name = "DIR")]
    examples: Option<PathBuf>,

    /// Print the result as JSON
    #[arg(long)]
    json: bool,

    #[command(flatten)]
    remote: RemoteArguments,

    #[command(flatten)]
    sandbox: SandboxArguments,
}

const AFTER: &str = "\
Examples:
  baler test keep-newest.wasm
  baler test keep-newest.wasm --examples failing/

Exit codes: 0 passed, perhaps with warnings; 1 baler failed; 2 invalid usage, or the strategy
cannot be loaded; 3 a host would refuse something";

impl TestCommand {
    pub(crate) async fn exec(self) -> Result<Exit, Failure> {
        let config = self.config.as_deref().map(settings::config).transpose()?;
        let messages = Messages { quiet: self.json };
        let project = self.sandbox.project(messages)?;
        let source = sources::find(
            &self.strategy,
            &self.remote,
            project.as_ref(),
            &self.sandbox,
        )?;
        let host = self.sandbox.host(
            HostSettings {
                project,
                archive: Keeping::Rehearsed,
                ..HostSettings::default()
            },
            messages,
        )?;
        let mut strategy = source.load(&host, &self.sandbox).await?;
        if let Some(config) = &config {
            strategy = sources::configured(&host, &strategy, &source, config).await?;
        }
        let steps = Steps::new(messages);
        let report =
            baler_conformance::test(&host, &strategy, &|what, of| steps.next(what, of)).await;
        steps.done();
        let report = report?;
        if let Some(folder) = &self.examples {
            write_examples(folder, &report)?;
        }
        if self.json {
            let json = serde_json::to_string_pretty(&report).map_err(anyhow::Error::from)?;
            output::listing(&(json + "\n"))?;
        } else {
            let named = quoted(&self.strategy);
            let named = match &self.config {
                Some(config) => format!("{named} --config {}", quoted(config)),
                None => named,
            };
            output::words(&as_text(&report, &named, self.examples.as_deref()))?;
        }
        Ok(match report.passed() {
            true => Exit::Done,
            false => Exit::Unchanged,
        })
    }
}

/// Writes the conversations of all findings, each once.
fn write_examples(folder: &Path, report: &Report) -> Result<(), Failure> {
    let findings = report.checks.iter().flat_map(|check| &check.findings);
    for example in findings.flat_map(|finding| &finding.examples) {
        std::fs::create_dir_all(folder)
            .with_context(|| format!("cannot create the folder `{}`", folder.display()))?;
        let file = folder.join(&example.name).with_extension("json");
        WholeFile::create(&file)?.finish(&example.document)?;
    }
    Ok(())
}

fn as_text(report: &Report, named: &str, examples: Option<&Path>) -> String {
    let mut text = styled(BOLD, &cleaned(&report.strategy)) + "\n";
    if let Some(component) = &report.component {
        text.push_str(&about(component));
    }
    text.push('\n');
    for check in &report.checks {
        push_check(&mut text, check, named, examples);
    }
    push_sizes(&mut text, &report.sizes, report.growth);
    push_kept(&mut text, &report.kept, &report.strategy);
    let findings = report.checks.iter().flat_map(|check| &check.findings);
    let warnings = findings
        .filter(|finding| finding.severity == Severity::Warning)
        .count();
    let failed = report.checks.iter().filter(|check| !check.passed()).count();
    let result = match (failed, warnings) {
        (0, 0) => styled(GOOD.bold(), "passed"),
        (0, _) => format!(
            "{}, with {}",
            styled(GOOD.bold(), "passed"),
            figures::count(warnings, "warning")
        ),
        (_, _) => format!(
            "{}: {}",
            styled(BAD.bold(), "failed"),
            figures::count(failed, "check")
        ),
    };
    let _ = writeln!(text, "\n{result}");
    let has_examples = report
        .checks
        .iter()
        .flat_map(|check| &check.findings)
        .any(|finding| !finding.examples.is_empty());
    if examples.is_none() && has_examples {
        let _ = writeln!(
            text,
            "{}",
            styled(
                FAINT,
                "`--examples DIR` writes the conversations of the findings"
            )
        );
    }
    text
}

/// What a component is, in a line.
fn about(component: &ComponentInfo) -> String {
    format!(
        "  {}, {}, may: {}\n",
        figures::bytes(component.bytes as u64),
        component.contract,
        permissions(component)
    )
}

fn push_check(text: &mut String, check: &Check, named: &str, examples: Option<&Path>) {
    let verdict = match (check.passed(), check.findings.is_empty()) {
        (true, true) => styled(GOOD, "ok  "),
        (true, false) => styled(CHANGED, "warn"),
        (false, _) => styled(BAD.bold(), "FAIL"),
    };
    // Writing to a string cannot fail.
    let _ = writeln!(
        text,
        "{verdict}  {:<14}  {}",
        check.name,
        cleaned(&check.done)
    );
    for finding in &check.findings {
        push_finding(text, finding, named, examples);
    }
}

fn push_finding(text: &mut String, finding: &Finding, named: &str, examples: Option<&Path>) {
    let times = match finding.times {
        1 => String::new(),
        times => format!("{} times, first: ", number(times)),
    };
    let _ = writeln!(text, "      - {times}{}", cleaned(&finding.problem));
    let _ = writeln!(text, "        → {}", cleaned(&finding.remedy));
    for example in &finding.examples {
        let _ = write!(
            text,
            "        {} {}: {}",
            styled(FAINT, "in"),
            example.name,
            example.situation
        );
        if examples.is_some() && example.options.is_none() {
            text.push_str("\n           (no options of `baler compact` ask this)");
        }
        if let (Some(folder), Some(options)) = (examples, example.options) {
            let file = folder.join(&example.name).with_extension("json");
            let _ = write!(
                text,
                "\n           baler compact {} --strategy {} {options} --words --dry-run",
                quoted(&file.to_string_lossy()),
                cleaned(named)
            );
        }
        text.push('\n');
    }
}

fn push_sizes(text: &mut String, sizes: &[Size], growth: Option<f64>) {
    if sizes.is_empty() {
        return;
    }
    let _ = writeln!(
        text,
        "\n{}",
        styled(FAINT, "What it costs, for 30 % of a conversation to stay:")
    );
    let _ = writeln!(
        text,
        "  {:>7} {:>10} {:>10} {:>14} {:>10}",
        "units", "tokens", "time", "fuel", "memory"
    );
    for size in sizes {
        let ended = match &size.fault {
            Some(_) => format!("  {}", size.ended),
            None => String::new(),
        };
        let _ = writeln!(
            text,
            "  {:>7} {:>10} {:>10} {:>14} {:>10}{ended}",
            number(size.units),
            number(size.tokens),
            figures::time(std::time::Duration::from_micros(size.time_us)),
            size.fuel.map_or_else(|| "-".to_owned(), number),
            figures::bytes(size.memory),
        );
    }
    if let Some(largest) = sizes.last().filter(|size| size.fault.is_none())
        && let Some(fuel) = largest.fuel
    {
        let _ = writeln!(
            text,
            "  {} units use {} % of the fuel that a call has by default",
            number(largest.units),
            fuel * 100 / baler_host::Limits::default().fuel
        );
    }
    if let Some(growth) = growth {
        let _ = writeln!(
            text,
            "  fuel grows with the power of {growth:.2} of the number of units"
        );
    }
}

fn push_kept(text: &mut String, kept: &[Kept], own: &str) {
    if kept.is_empty() {
        return;
    }
    let _ = writeln!(
        text,
        "\n{}",
        styled(
            FAINT,
            "What it keeps of sessions in which facts happen that must stay known (beside others of the same size):"
        )
    );
    let _ = writeln!(
        text,
        "  {:>6}  {:<16} {:>6} {:>6}  gave up",
        "budget", "", "facts", "size"
    );
    for row in kept {
        let name = match row.name == own {
            true => styled(BOLD, &format!("{:<16}", cleaned(&row.name))),
            false => format!("{:<16}", cleaned(&row.name)),
        };
        let _ = writeln!(
            text,
            "  {:>4} %  {name} {}",
            row.budget_percent,
            kept_figures(row)
        );
    }
}

/// The figures of a row, in columns: facts, size, and how often it gave up.
pub(super) fn kept_figures(row: &Kept) -> String {
    let percent = |share: f64| format!("{:.0} %", share * 100.0);
    format!(
        "{:>6} {:>6}  {} of {}",
        percent(row.facts),
        percent(row.size),
        row.gave_up,
        row.results
    )
}
