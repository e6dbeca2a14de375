use std::fmt::Write as _;

use baler_host::project::{Listed as InProject, Project};
use baler_host::{Host, Strategy};
use clap::Args;
use serde_json::json;
use tokio::time::Instant;

use crate::arguments::SandboxArguments;
use crate::exit::{Exit, Failure};
use crate::figures::{self, shortened};
use crate::output::{self, BOLD, FAINT, Messages, styled};
use crate::project;
use crate::receipt::short_digest;
use crate::remote::RemoteArguments;
use crate::settings::HostSettings;
use crate::sources::{self, Source};

/// List the strategies that ship with baler, and those of `baler.toml`
///
/// Native strategies run in the host. All others are components, and run in the same sandbox as untrusted
/// ones. Of the strategies in `baler.toml`, shows whether their files are the ones that were listed, and what they are
/// granted.
#[derive(Debug, Args)]
#[command(after_help = AFTER)]
pub(crate) struct StrategiesCommand {
    /// Print the list as JSON
    #[arg(long)]
    json: bool,

    #[command(flatten)]
    sandbox: SandboxArguments,
}

const AFTER: &str = "\
Examples:
  baler strategies
  baler introspect sliding-window

Exit codes: 0 listed, 1 baler failed, 2 invalid usage";

/// The calls that the strategies of `baler.toml` have time for, all together.
const LISTED_CALLS: u32 = 15;

/// A strategy of the list.
struct Listed {
    name: String,
    strategy: Option<Strategy>,
    description: String,
    /// What `baler.toml` says of it.
    in_project: Option<InProject>,
}

impl StrategiesCommand {
    pub(crate) async fn exec(self) -> Result<Exit, Failure> {
        let messages = Messages { quiet: self.json };
        let project = self.sandbox.project(messages)?;
        let settings = HostSettings {
            project: project.clone(),
            ..HostSettings::default()
        };
        let host = self.sandbox.host(settings, messages)?;
        let mut list: Vec<Listed> = Strategy::NATIVE
            .iter()
            .filter_map(|name| {
                Some(Listed {
                    name: (*name).to_owned(),
                    strategy: Some(Strategy::native(name)?),
                    description: sources::about_native(name).to_owned(),
                    in_project: None,
                })
            })
            .collect();
        for bundled in baler_strategies::ALL {
            let strategy = Source::bundled(bundled).load(&host, &self.sandbox).await?;
            let said = host
                .introspect(&strategy, None)
                .await
                .map_err(anyhow::Error::from)?;
            list.push(Listed {
                name: bundled.name.to_owned(),
                description: shortened(&said.description),
                strategy: Some(strategy),
                in_project: None,
            });
        }
        // Whoever wrote the list decides how many there are.
        let until = Instant::now() + self.sandbox.limits().time * LISTED_CALLS;
        let strategies = project.iter().flat_map(Project::strategies);
        for listed in strategies {
            list.push(self.listed(&host, project.as_ref(), listed, until).await);
        }
        if self.json {
            let list: Vec<_> = list
                .iter()
                .map(
                    |Listed {
                         name,
                         strategy,
                         description,
                         in_project,
                     }| {
                        json!({
                            "name": name,
                            "native": strategy.as_ref().is_some_and(Strategy::is_native),
                            "description": description,
                            "component": strategy.as_ref().and_then(Strategy::component),
                            "listed": in_project.as_ref().map(sources::listed_as_json),
                            "usable": strategy.is_some(),
                        })
                    },
                )
                .collect();
            output::listing(&format!("{:#}\n", json!(list)))?;
        } else {
            output::words(&as_words(&list, project.as_ref()))?;
        }
        Ok(Exit::Done)
    }

    /// A strategy of `baler.toml`. If it cannot be used or does not answer in time, its description says so.
    async fn listed(
        &self,
        host: &Host,
        project: Option<&Project>,
        listed: &InProject,
        until: Instant,
    ) -> Listed {
        let name = listed.name();
        let loaded = async {
            let source = sources::find(name, &RemoteArguments::default(), project, &self.sandbox)?;
            let strategy = source.load_to_show(host, &self.sandbox).await?;
            let said = host.introspect(&strategy, None).await;
            let said = said.map_err(anyhow::Error::from)?;
            Ok::<_, Failure>((strategy, shortened(&said.description)))
        };
        // Files are read without a pause that a time limit could use.
        let answer = match Instant::now() < until {
            true => tokio::time::timeout_at(until, loaded).await.ok(),
            false => None,
        };
        let (strategy, description) = match answer {
            Some(Ok((strategy, description))) => (Some(strategy), description),
            Some(Err(failure)) => (None, format!("cannot be used: {}", failure.message())),
            None => (
                None,
                format!(
                    "not asked, or not waited for, because the time for this list was used up; run `baler introspect {name}`"
                ),
            ),
        };
        Listed {
            name: name.to_owned(),
            strategy,
            description,
            in_project: Some(listed.clone()),
        }
    }
}

fn as_words(list: &[Listed], project: Option<&Project>) -> String {
    let wide = list
        .iter()
        .map(|listed| listed.name.len())
        .max()
        .unwrap_or(0);
    let mut text = String::new();
    for Listed {
        name,
        strategy,
        description,
        in_project,
    } in list
    {
        let name = styled(BOLD, &format!("{name:<wide$}"));
        let component = strategy.as_ref().and_then(Strategy::component);
        let what = component.map(|component| {
            format!(
                "{}  {}",
                short_digest(&component),
                figures::bytes(component.bytes as u64)
            )
        });
        let is_native = strategy.as_ref().is_some_and(Strategy::is_native);
        let native = is_native.then(|| "native".to_owned());
        let listed = in_project.as_ref().filter(|_| strategy.is_some());
        let listed = listed.map(sources::listed_in_words);
        let what: Vec<String> = what.into_iter().chain(native).chain(listed).collect();
        let what = what.join("  ");
        // Writing to a string cannot fail.
        let _ = writeln!(text, "{name}  {description}");
        if !what.is_empty() {
            let _ = writeln!(text, "{:wide$}  {}", "", styled(FAINT, &what));
        }
    }
    if let Some(project) = project {
        text.push('\n');
        text.push_str(&project::about(project));
    }
    text.push_str("\nName any other strategy by its .wasm file or URL. `baler introspect NAME` shows more about a strategy.\n");
    text
}
