use std::fmt::Write as _;

use anyhow::anyhow;
use baler_host::{
    Limits, Strategy,
    receipt::ComponentInfo,
    strategy::{IntrospectError, Introspection},
};
use clap::Args;
use serde_json::{Value, json};

use crate::arguments::SandboxArguments;
use crate::exit::{Exit, Failure};
use crate::figures::{self, cleaned, number, shortened};
use crate::output::{self, BOLD, FAINT, Messages, styled};
use crate::project;
use crate::receipt::{metric, permissions, remedy};
use crate::remote::RemoteArguments;
use crate::settings::{self, HostSettings};
use crate::sources::{self, Source};

/// Show what a strategy is and what it declares
///
/// Shows its content hash, size, contract and permissions, which baler reads from the file without running
/// it; and its description, limits, codes and config schema, which the strategy itself declares when it runs
/// in its sandbox. The strategy sees no conversation.
#[derive(Debug, Args)]
#[command(after_help = AFTER)]
pub(crate) struct IntrospectCommand {
    /// The strategy: a name (`baler strategies` lists them), a .wasm file, or the URL of a server
    #[arg(value_name = "STRATEGY")]
    strategy: String,

    /// Also check this config against the strategy's schema: JSON, or @FILE for a file that holds it
    #[arg(long, value_name = "JSON|@FILE")]
    config: Option<String>,

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
  baler introspect sliding-window
  baler introspect ./untrusted.wasm --config '{\"keep\": 5}'

Exit codes:
  0  shown
  1  baler failed
  2  invalid usage: an unknown option or name, a strategy that cannot be loaded or run, a config
     that its schema rejects";

impl IntrospectCommand {
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
        project::tell(project.as_ref(), &[&self.strategy], messages);
        let host = self.sandbox.host(
            HostSettings {
                project: project.clone(),
                ..HostSettings::default()
            },
            messages,
        )?;
        let mut strategy = source.load_to_show(&host, &self.sandbox).await?;
        if let Some(config) = &config {
            strategy = sources::configured(&host, &strategy, &source, config).await?;
        }
        let said = match host.introspect(&strategy, config.as_deref()).await {
            Ok(said) => Some(said),
            Err(IntrospectError::Native { .. }) => None,
            Err(error) => return Err(cannot_say(&strategy, &error)),
        };
        if self.json {
            let value = as_json(&strategy, &source, said.as_ref());
            output::listing(&format!("{value:#}\n"))?;
        } else {
            output::words(&as_words(
                &strategy,
                &source,
                said.as_ref(),
                config.is_some(),
                &source.limits(&self.sandbox),
            ))?;
        }
        Ok(Exit::Done)
    }
}

fn cannot_say(strategy: &Strategy, error: &IntrospectError) -> Failure {
    let remedy = match error {
        IntrospectError::Fault(fault) => format!("\n  → {}", remedy(fault)),
        _ => String::new(),
    };
    let error_text = anyhow!(
        "`{}`: {}",
        cleaned(strategy.name()),
        cleaned(&baler_host::with_causes(&error))
    );
    if matches!(error, IntrospectError::Host(_)) {
        error_text.into()
    } else {
        Failure::wrong_use(error_text).with_more(remedy)
    }
}

fn as_json(strategy: &Strategy, source: &Source, said: Option<&Introspection>) -> Value {
    json!({
        "strategy": strategy.name(),
        "native": strategy.is_native(),
        "component": strategy.component(),
        "listed": source.listed().map(sources::listed_as_json),
        "address": strategy.address(),
        "claims": said,
        "description": strategy.is_native().then(|| sources::about_native(strategy.name())),
    })
}

fn as_words(
    strategy: &Strategy,
    source: &Source,
    said: Option<&Introspection>,
    has_config: bool,
    limits: &Limits,
) -> String {
    let mut text = styled(BOLD, &cleaned(strategy.name())) + "\n";
    if let Some(component) = strategy.component() {
        about_component(&mut text, &component);
        if let Some(listed) = source.listed() {
            row(&mut text, "listed", &sources::listed_in_words(listed));
        }
        let most = format!(
            "fuel {}, {}, {} of memory",
            number(limits.fuel),
            figures::time(limits.time),
            figures::bytes(limits.memory as u64)
        );
        row(&mut text, "limits", &most);
    } else if let Some(address) = strategy.address() {
        row(
            &mut text,
            "is",
            "a server: it is sent the whole conversation",
        );
        row(&mut text, "at", &cleaned(address));
    } else {
        row(
            &mut text,
            "is",
            "native: it runs in the host and has no config",
        );
        row(&mut text, "does", sources::about_native(strategy.name()));
        return text;
    }
    if has_config {
        row(
            &mut text,
            "config",
            "valid: the strategy accepts the given one",
        );
    }
    if let Some(said) = said {
        text.push('\n');
        text.push_str(&styled(FAINT, "What it declares:"));
        text.push('\n');
        claims(&mut text, said);
    }
    text
}

/// What wit/README.md says of versions.
const CONTRACT_STATE: &str = "not frozen before the first release of baler: rebuild it for each new build of baler until then";

fn about_component(text: &mut String, component: &ComponentInfo) {
    row(text, "hash", &component.content_hash.to_string());
    row(
        text,
        "size",
        &format!(
            "{} ({} bytes)",
            figures::bytes(component.bytes as u64),
            number(component.bytes as u64)
        ),
    );
    row(text, "contract", &component.contract);
    row(text, "", CONTRACT_STATE);
    row(text, "may", &permissions(component));
}

fn claims(text: &mut String, said: &Introspection) {
    let list = |words: &[String]| match words {
        [] => "none".to_owned(),
        words => shortened(&words.join(", ")),
    };
    row(
        text,
        "name",
        &format!("{} {}", shortened(&said.name), shortened(&said.version)),
    );
    row(text, "does", &shortened(&said.description));
    let asks: Vec<String> = [
        said.timeout_ms.map(|ms| format!("--timeout {ms}ms")),
        said.memory_mib.map(|mib| format!("--memory {mib}MiB")),
        said.fuel.map(|fuel| format!("--fuel {fuel}")),
    ]
    .into_iter()
    .flatten()
    .collect();
    let asks = if asks.is_empty() {
        "nothing besides the defaults".to_owned()
    } else {
        format!("{} (it gets no more than you give)", asks.join(" "))
    };
    row(text, "asks for", &asks);
    row(text, "reasons", &list(&said.reason_codes));
    row(text, "figures", &list(&said.metric_names));
    for entry in &said.metadata {
        row(text, "tells", &metric(entry));
    }
    if said.config_schema.trim().is_empty() {
        row(text, "config", "none");
        return;
    }
    row(text, "config", "by this JSON Schema");
    // A valid schema is formatted anew, so that it is indented and no long line hides a part of it.
    let schema = serde_json::from_str::<Value>(&said.config_schema).map_or_else(
        |_| said.config_schema.clone(),
        |schema| format!("{schema:#}"),
    );
    for line in schema.lines() {
        let _ = writeln!(
            text,
            "    {}{}",
            indentation(line),
            cleaned(line.trim_start())
        );
    }
}

fn indentation(line: &str) -> &str {
    &line[..line.len() - line.trim_start_matches(' ').len()]
}

fn row(text: &mut String, name: &str, value: &str) {
    // Writing to a string cannot fail.
    let _ = writeln!(text, "  {name:<8}  {value}");
}
