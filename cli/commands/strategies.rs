use std::fmt::Write as _;

use baler_host::Strategy;
use clap::Args;
use serde_json::json;

use crate::arguments::SandboxArguments;
use crate::chain::{self, Source};
use crate::exit::{Exit, Failure};
use crate::figures::{self, shortened};
use crate::output::{self, BOLD, FAINT, Messages, styled};
use crate::receipt::short_digest;
use crate::settings::HostSettings;

/// List the strategies that ship with baler
///
/// Native strategies run in the host. All others are components, and run in the same sandbox as untrusted
/// ones.
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

/// A strategy of the list.
struct Listed {
    strategy: Strategy,
    description: String,
}

impl StrategiesCommand {
    pub(crate) async fn exec(self) -> Result<Exit, Failure> {
        let messages = Messages { quiet: self.json };
        let host = self.sandbox.host(HostSettings::default(), messages)?;
        let mut list: Vec<Listed> = Strategy::NATIVE
            .iter()
            .filter_map(|name| {
                Some(Listed {
                    strategy: Strategy::native(name)?,
                    description: chain::about_native(name).to_owned(),
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
                description: shortened(&said.description),
                strategy,
            });
        }
        if self.json {
            let list: Vec<_> = list
                .iter()
                .map(
                    |Listed {
                         strategy,
                         description,
                     }| {
                        json!({
                            "name": strategy.name(),
                            "native": strategy.is_native(),
                            "description": description,
                            "component": strategy.component(),
                        })
                    },
                )
                .collect();
            output::listing(&format!("{:#}\n", json!(list)))?;
        } else {
            output::words(&as_words(&list))?;
        }
        Ok(Exit::Done)
    }
}

fn as_words(list: &[Listed]) -> String {
    let wide = list
        .iter()
        .map(|listed| listed.strategy.name().len())
        .max()
        .unwrap_or(0);
    let mut text = String::new();
    for Listed {
        strategy,
        description,
    } in list
    {
        let name = styled(BOLD, &format!("{:<wide$}", strategy.name()));
        let what = strategy.component().map_or_else(
            || "native".to_owned(),
            |component| {
                format!(
                    "{}  {}",
                    short_digest(&component),
                    figures::bytes(component.bytes as u64)
                )
            },
        );
        // Writing to a string cannot fail.
        let _ = writeln!(
            text,
            "{name}  {description}\n{:wide$}  {}",
            "",
            styled(FAINT, &what)
        );
    }
    text.push_str("\nName any other strategy by its .wasm file or URL. `baler introspect NAME` shows more about a strategy.\n");
    text
}
