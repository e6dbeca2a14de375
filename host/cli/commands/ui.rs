use std::net::SocketAddr;
use std::path::PathBuf;

use baler_http::{Listener, ServerLimits, raise_descriptor_limit};
use clap::Args;

use super::proxy::BLOCKING_THREADS;
use crate::archive::ArchiveArguments;
use crate::arguments::SandboxArguments;
use crate::exit::{Exit, Failure};
use crate::output::Messages;
use crate::signals;
use crate::threads;
use crate::token;
use crate::ui::{self, Pages, Trial};

/// Serve pages about the sessions that passed through `baler run` and `baler proxy`, for a browser
///
/// The same pages that both serve at /ui while they run: the sessions and what was saved, each compaction and what it
/// removed, and a page that tries strategies on a conversation of yours. The pages load nothing from elsewhere.
#[derive(Debug, Args)]
#[command(after_help = AFTER)]
pub(crate) struct UiCommand {
    /// Address to listen on. An address that other machines can reach requires a token, which a browser asks for as a
    /// password
    #[arg(long, value_name = "[ADDRESS:]PORT",
        value_parser = token::listen_address, default_value = "127.0.0.1:7412")]
    listen: SocketAddr,

    /// File with the token that clients have to send [default: $BALER_TOKEN]
    #[arg(long, value_name = "FILE")]
    token_file: Option<PathBuf>,

    #[command(flatten)]
    archive: ArchiveArguments,
}

const AFTER: &str = "\
Exit codes: 0 ended by a signal, 1 baler failed, 2 invalid usage";

impl UiCommand {
    pub(crate) fn exec(self) -> Result<Exit, Failure> {
        threads::run(self.serve(), BLOCKING_THREADS, "server")
    }

    async fn serve(self) -> Result<Exit, Failure> {
        let messages = Messages { quiet: false };
        let limits = ServerLimits::default();
        raise_descriptor_limit(&limits);
        let token = token::read(self.token_file.as_deref())?;
        let listener =
            Listener::bind(self.listen, token.as_ref()).map_err(token::listen_failure)?;
        let sandbox = SandboxArguments {
            state: self.archive.state().map(Into::into),
            ..SandboxArguments::default()
        };
        let trial = Trial {
            project: sandbox.project(messages)?,
            sandbox,
            chain: Vec::new(),
            grant: None,
        };
        let stop = signals::end()?;
        let address = listener.address();
        let pages = Pages::new(self.archive, token, true, trial);
        messages.say(&format!("listening on http://{address}/ui\n"));
        listener.serve(ui::router(pages), limits, stop).await;
        Ok(Exit::Done)
    }
}
