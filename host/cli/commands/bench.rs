use std::fmt::Write as _;
use std::time::{Duration, Instant};

use baler_conformance::{Kept, Size};
use baler_host::Strategy;
use clap::Args;
use serde::Serialize;

use super::test::kept_figures;
use crate::arguments::SandboxArguments;
use crate::exit::{Exit, Failure};
use crate::figures::{self, cleaned, number};
use crate::output::{self, BOLD, FAINT, Messages, styled};
use crate::progress::Steps;
use crate::remote::RemoteArguments;
use crate::settings::{HostSettings, Keeping};
use crate::sources;

/// Measure what strategies cost and keep, beside those that ship with baler
///
/// Time, fuel and memory by the size of a conversation; the time to load the file for the first time, which compiles it;
/// and what is kept of generated sessions in which facts happen that must stay known. `baler eval` measures the same on
/// your own recordings. No model is asked, so strategies that ask one are left out.
#[derive(Debug, Args)]
#[command(after_help = AFTER)]
pub(crate) struct BenchCommand {
    /// Strategies by name or .wasm file; may be none
    #[arg(value_name = "STRATEGY")]
    strategies: Vec<String>,

    /// Leave out the strategies that ship with baler
    #[arg(long)]
    alone: bool,

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
  baler bench keep-newest.wasm
  baler bench before.wasm after.wasm --alone

Exit codes: 0 measured, 1 baler failed, 2 invalid usage, or a strategy cannot be loaded";

/// The figures of one strategy.
#[derive(Debug, Serialize)]
#[serde(rename_all = "kebab-case")]
struct Figures {
    strategy: String,
    /// Of the file; `None` for a native strategy.
    bytes: Option<usize>,
    /// What loading took, in milliseconds: compiling, if the compiled code was not in the cache.
    load_ms: u64,
    sizes: Vec<Size>,
}

/// All that is printed.
#[derive(Debug, Serialize)]
struct Measured {
    strategies: Vec<Figures>,
    /// Baselines are among them.
    kept: Vec<Kept>,
}

impl BenchCommand {
    pub(crate) async fn exec(self) -> Result<Exit, Failure> {
        let messages = Messages { quiet: self.json };
        let project = self.sandbox.project(messages)?;
        let mut named: Vec<&str> = self.strategies.iter().map(String::as_str).collect();
        if !self.alone {
            let shipped = baler_strategies::ALL.iter().map(|bundled| bundled.name);
            let more: Vec<&str> = shipped.filter(|name| !named.contains(name)).collect();
            named.extend(more);
        }
        let sources = sources::find_all(&named, &self.remote, project.as_ref(), &self.sandbox)?;
        let host = self.sandbox.host(
            HostSettings {
                project,
                archive: Keeping::Rehearsed,
                ..HostSettings::default()
            },
            messages,
        )?;
        let (mut figures, mut strategies) = (Vec::new(), Vec::new());
        for (place, source) in sources.iter().enumerate() {
            let start = Instant::now();
            let strategy = source.load(&host, &self.sandbox).await?;
            let load_ms = u64::try_from(start.elapsed().as_millis()).unwrap_or(u64::MAX);
            if strategy.lacks_model() {
                if place < self.strategies.len() {
                    messages.warn(&format!(
                        "`{}` asks a model, and is left out",
                        cleaned(strategy.name())
                    ));
                }
                continue;
            }
            figures.push(Figures {
                strategy: strategy.name().to_owned(),
                bytes: strategy.component().map(|component| component.bytes),
                load_ms,
                sizes: Vec::new(),
            });
            strategies.push(strategy);
        }
        let steps = Steps::new(messages);
        let measured = self.measured(&host, figures, &strategies, &steps).await;
        steps.done();
        let measured = measured?;
        if self.json {
            let json = serde_json::to_string_pretty(&measured).map_err(anyhow::Error::from)?;
            output::listing(&(json + "\n"))?;
        } else {
            output::words(&as_text(&measured, &self.strategies))?;
        }
        Ok(Exit::Done)
    }

    async fn measured(
        &self,
        host: &baler_host::Host,
        mut figures: Vec<Figures>,
        strategies: &[Strategy],
        steps: &Steps,
    ) -> anyhow::Result<Measured> {
        let all = strategies.len() * baler_conformance::SIZES.len();
        for (figures, strategy) in figures.iter_mut().zip(strategies) {
            let on_progress = |what, _| steps.next(what, all);
            figures.sizes = baler_conformance::sizes(host, strategy, &on_progress).await?;
        }
        let kept = baler_conformance::keeps(strategies, &|what, of| steps.next(what, of))?;
        Ok(Measured {
            strategies: figures,
            kept,
        })
    }
}

fn as_text(measured: &Measured, own: &[String]) -> String {
    let own = |name: &str, text: String| {
        let is_own = own
            .iter()
            .any(|own| own == name || own.ends_with(&format!("{name}.wasm")));
        match is_own {
            true => styled(BOLD, &text),
            false => text,
        }
    };
    let mut text = styled(FAINT, "What they cost, for 30 % of a conversation to stay:") + "\n";
    // Writing to a string cannot fail.
    let _ = writeln!(
        text,
        "  {:<20} {:>9} {:>9}  {:>6} {:>10} {:>14} {:>9}",
        "", "file", "load", "units", "time", "fuel", "memory"
    );
    for figures in &measured.strategies {
        let name = own(
            &figures.strategy,
            format!("{:<20}", cleaned(&figures.strategy)),
        );
        let file = figures
            .bytes
            .map_or_else(|| "-".to_owned(), |bytes| figures::bytes(bytes as u64));
        let load = figures::time(Duration::from_millis(figures.load_ms));
        for (place, size) in figures.sizes.iter().enumerate() {
            let (name, file, load) = match place {
                0 => (name.clone(), file.as_str(), load.as_str()),
                _ => (" ".repeat(20), "", ""),
            };
            let ended = match size.ended {
                "accepted" => String::new(),
                ended => format!("  {ended}"),
            };
            let _ = writeln!(
                text,
                "  {name} {file:>9} {load:>9}  {:>6} {:>10} {:>14} {:>9}{ended}",
                number(size.units),
                figures::time(Duration::from_micros(size.time_us)),
                size.fuel.map_or_else(|| "-".to_owned(), number),
                figures::bytes(size.memory),
            );
        }
    }
    let _ = writeln!(
        text,
        "\n{}\n  {:<20} {:>6} {:>6} {:>6}  gave up",
        styled(
            FAINT,
            "What they keep of sessions in which facts happen that must stay known:"
        ),
        "",
        "budget",
        "facts",
        "size"
    );
    let mut kept: Vec<&Kept> = measured.kept.iter().collect();
    kept.sort_by(|one, other| {
        let best_first = other.facts.total_cmp(&one.facts);
        one.budget_percent
            .cmp(&other.budget_percent)
            .then(best_first)
    });
    for row in kept {
        let _ = writeln!(
            text,
            "  {} {:>4} % {}",
            own(&row.name, format!("{:<20}", cleaned(&row.name))),
            row.budget_percent,
            kept_figures(row)
        );
    }
    text
}
