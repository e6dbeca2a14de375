use std::net::SocketAddr;
use std::path::PathBuf;

use anyhow::anyhow;
use clap::Args;

use crate::exit::{Exit, Failure};
use crate::figures::number;
use crate::output::{self, Messages};
use crate::proxied::ProxiedArguments;
use crate::service::{self, Manager};
use crate::signals;
use crate::threads;
use crate::token;

/// Keep the requests of any agent within a window, between the agent and its model provider
///
/// Give the agent this proxy as its base URL: http://127.0.0.1:7411/anthropic, http://127.0.0.1:7411/openai/v1,
/// http://127.0.0.1:7411/gemini. Requests go on to the provider as they came, until one has --at tokens; then it is
/// compacted, and what was kept is repeated word for word until the next compaction, so that the provider's cache
/// counts. Answers pass as they arrive. Whatever baler cannot help with goes on unchanged; the header `x-baler` of each
/// answer says what was done. Keys pass, and are not stored, logged or shown. `baler run -- PROGRAM` does all of this
/// for one program.
#[derive(Debug, Args)]
#[command(after_help = AFTER)]
pub(crate) struct ProxyCommand {
    /// Address to listen on. An address that other machines can reach requires a token, which clients send in the header
    /// `x-baler-token`
    #[arg(
        long,
        value_name = "[ADDRESS:]PORT",
        value_parser = token::listen_address,
        default_value = "127.0.0.1:7411",
        help_heading = "Network"
    )]
    listen: SocketAddr,

    /// File with the token that clients have to send [default: $BALER_TOKEN]
    #[arg(long, value_name = "FILE", help_heading = "Network")]
    token_file: Option<PathBuf>,

    /// Run nothing: print what makes the system run this proxy with the same options, at each start
    #[arg(long, value_name = "MANAGER")]
    service: Option<Manager>,

    #[command(flatten)]
    proxied: ProxiedArguments,
}

const AFTER: &str = "\
Examples:
  baler proxy --context-window 120000
    ANTHROPIC_BASE_URL=http://127.0.0.1:7411/anthropic claude
  baler proxy --upstream groq=https://api.groq.com/openai --at 60000 --budget 20000
    curl http://127.0.0.1:7411/groq/v1/chat/completions …
  baler proxy --context-window 120000 --service systemd > ~/.config/systemd/user/baler-proxy.service

Exit codes: 0 ended by a signal, 1 baler failed, 2 invalid usage";

/// Enough threads for compactions, files and name lookups. Threads start when they are needed.
pub(super) const BLOCKING_THREADS: usize = 512;

impl ProxyCommand {
    pub(crate) fn exec(self) -> Result<Exit, Failure> {
        if let Some(manager) = self.service {
            return self.print_service(manager);
        }
        threads::run(self.serve(), BLOCKING_THREADS, "proxy")
    }

    fn print_service(&self, manager: Manager) -> Result<Exit, Failure> {
        if !self.listen.ip().is_loopback() && self.token_file.is_none() {
            return Err(Failure::wrong_use(anyhow!(
                "`{}` can be reached from other machines, and a service does not get $BALER_TOKEN: name a file by --token-file, or listen on 127.0.0.1",
                self.listen
            )));
        }
        output::document(&[&service::unit(manager)?])?;
        Messages { quiet: false }.say(&format!(
            "{}It gets no variable of this environment, such as keys of --model, $BALER_STATE or $BALER_TOKEN: use options and files.\n",
            manager.how_to_install()
        ));
        Ok(Exit::Done)
    }

    async fn serve(self) -> Result<Exit, Failure> {
        let messages = Messages { quiet: false };
        let token = token::read(self.token_file.as_deref())?;
        let bound = self
            .proxied
            .bind(self.listen, token, Vec::new(), None, messages)
            .await?;
        let stop = signals::end()?;
        let address = bound.proxy.address();
        messages.say(&format!(
            "listening on http://{address}; requests of {} tokens are compacted to {}; strategy: {}\n\
             base URLs: http://{address}/anthropic  http://{address}/openai/v1  http://{address}/gemini\n\
             page: http://{address}/ui\n",
            number(bound.at),
            number(bound.budget),
            bound.strategies.join(", "),
        ));
        bound.proxy.serve(stop).await;
        Ok(Exit::Done)
    }
}
