use std::net::SocketAddr;
use std::path::PathBuf;
use std::time::Duration;

use baler_host::{
    Host, Strategy,
    model::ModelGrant,
    project::{Project, Trust},
};
use baler_http::{Server, ServerLimits, raise_descriptor_limit};
use clap::Args;

use crate::archive::ArchivePlace;
use crate::arguments::{self, SandboxArguments};
use crate::exit::{Exit, Failure};
use crate::figures::cleaned;
use crate::model::{self, ModelArguments};
use crate::output::Messages;
use crate::project;
use crate::remote::RemoteArguments;
use crate::settings::{self, HostSettings};
use crate::signals;
use crate::sources::{self, Source};
use crate::threads;
use crate::token;

/// Serve compactions over HTTP, to programs in any language and to other balers
///
/// `POST /v1/compact`, `/v1/should-compact` and `/v1/introspect` accept and return JSON; `GET
/// /openapi.json` describes them, `/metrics` returns metrics, `/healthz` reports that the server runs.
/// Clients select strategies of this server by name, never by file or URL. On SIGTERM and SIGINT the
/// server finishes running requests and ends, at most 20 s later.
#[derive(Debug, Args)]
#[command(after_help = AFTER, mut_arg("timeout", |arg| arg.help(TIMEOUT)))]
pub(crate) struct ServeCommand {
    /// Address to listen on. An address that other machines can reach requires a token
    #[arg(long, value_name = "[ADDRESS:]PORT", value_parser = token::listen_address, default_value = "127.0.0.1:7410")]
    listen: SocketAddr,

    /// File with the bearer token that clients have to send [default: $BALER_TOKEN]
    #[arg(long, value_name = "FILE")]
    token_file: Option<PathBuf>,

    /// Chain used when a request names no strategy, and for other balers: names, .wasm files or
    /// URLs; may be given several times. Clients can name these and the native ones [default:
    /// tiered, or tiered-model with --model, and clients can name all that `baler strategies` lists]
    #[arg(short, long = "strategy", value_name = "NAME|FILE.wasm|URL")]
    strategies: Vec<String>,

    #[command(flatten)]
    remote: RemoteArguments,

    /// Maximum size of a request's body, such as 32MiB. The memory for all work at once is 24 times
    /// that, but at least 2 GiB [default: 32MiB]
    #[arg(long, value_name = "SIZE", allow_hyphen_values = true, value_parser = arguments::size)]
    max_body: Option<usize>,

    /// Number of requests that are worked on at once; 256 more may wait [default: twice the number of
    /// cores, at least 4]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=1_000))]
    concurrency: Option<u32>,

    /// Where content that is removed from clients' conversations is archived: a folder, a URL such as
    /// s3://bucket/prefix, or `off` for nowhere [default: $BALER_ARCHIVE, else a folder in the state folder]
    #[arg(long, value_name = "DIR|URL|off")]
    archive: Option<String>,

    #[command(flatten)]
    model: ModelArguments,

    #[command(flatten)]
    sandbox: SandboxArguments,
}

const TIMEOUT: &str =
    "Time limit of a request, such as 10s or 2m, including waiting [default: 60s]";

const AFTER: &str = "\
Examples:
  Serve this machine only:
    baler serve
    curl -s localhost:7410/v1/compact -H 'content-type: application/json' \\
      -d \"{\\\"conversation\\\": $(cat request.json), \\\"budget\\\": \\\"50%\\\"}\"
  Serve other machines, which have to send a token:
    BALER_TOKEN=$(openssl rand -hex 32) baler serve --listen 0.0.0.0:7410
  Serve as the remote strategy of another baler:
    baler serve --strategy ./untrusted.wasm --strategy sliding-window
    baler compact request.json --strategy http://127.0.0.1:7410

Exit codes: 0 ended by a signal, 1 baler failed, 2 invalid usage";

/// The part of the grace period before the end of the threads, for closing all connections and releasing memory on a busy machine.
const CLOSE_TIME: Duration = Duration::from_secs(1);

/// Memory allowed for work on the largest body, for each of its bytes. Conversations of agents have a
/// list, an object or a comma for every 50 bytes or more, so the estimate is at most 19.
const WORK_PER_BYTE: usize = 24;

/// Enough threads for the largest `--concurrency`, and for the files and name lookups of those requests.
/// Threads start when they are needed.
const BLOCKING_THREADS: usize = 2_500;

impl ServeCommand {
    pub(crate) fn exec(self) -> Result<Exit, Failure> {
        threads::run(self.serve(), BLOCKING_THREADS, "server")
    }

    async fn serve(mut self) -> Result<Exit, Failure> {
        let messages = Messages { quiet: false };
        let limits = self.limits();
        raise_descriptor_limit(&limits);
        let token = token::read(self.token_file.as_deref())?;
        if token.is_none() && !self.listen.ip().is_loopback() {
            return Err(token::needed(self.listen));
        }
        let project = self.sandbox.project(messages)?;
        let named: Vec<&str> = self.strategies.iter().map(String::as_str).collect();
        let sources = sources::find_all(&named, &self.remote, project.as_ref(), &self.sandbox)?;
        project::tell(project.as_ref(), &named, messages);
        let grant = self.model.grant()?;
        let place = ArchivePlace::of(self.archive.as_deref())?;
        let settings = HostSettings {
            archive: place.keeping()?,
            model: grant.clone(),
            calls: u32::try_from(limits.concurrency).ok(),
            serves_many: true,
            project: project.clone(),
            ..HostSettings::default()
        };
        let host = self.sandbox.host(settings, messages)?;
        let chain = sources::load(&host, &sources, None, &self.sandbox).await?;
        let chain = model::granted(chain, &sources, grant.as_ref())?;
        let (chain, offered) = if chain.is_empty() {
            let mut offered = self.bundled_strategies(&host, grant.as_ref()).await?;
            let default = default_chain(&mut offered, grant.is_some());
            let listed = self.listed_strategies(&host, project.as_ref(), grant.as_ref(), messages);
            offered.extend(listed.await);
            (default, offered)
        } else {
            (chain, Vec::new())
        };
        let names = names_of(&[&chain[..], &offered[..]].concat());
        let mut builder = Server::builder(host)
            .chain(chain)
            .offers(offered)
            .limits(limits)
            .policy(project::plan_policy(project.as_ref()))
            .on_failure(move |line| messages.warn(line));
        if let Some(token) = token {
            builder = builder.token(token);
        }
        let stop = signals::end()?;
        let server = builder
            .bind(self.listen)
            .await
            .map_err(token::listen_failure)?;
        let state = settings::state_folder(self.sandbox.state.as_deref());
        let archive = place.shown(state.as_deref());
        messages.say(&format!(
            "listening on http://{}; strategies: {}; archive: {}\n",
            server.address(),
            names.join(", "),
            archive.as_deref().map_or_else(|| "off".to_owned(), cleaned),
        ));
        server.serve(stop).await;
        Ok(Exit::Done)
    }

    /// Returns the limits that the options set. Takes the `--timeout` of the sandbox options: here it is the
    /// time limit of a request, not of a strategy's call.
    fn limits(&mut self) -> ServerLimits {
        let mut limits = ServerLimits::default();
        if let Some(bytes) = self.max_body {
            limits.body_bytes = bytes;
            limits.buffered_bytes = limits.buffered_bytes.max(bytes);
            let work = bytes.saturating_mul(WORK_PER_BYTE);
            limits.working_bytes = limits.working_bytes.max(work);
        }
        if let Some(concurrency) = self.concurrency {
            limits.concurrency = concurrency as usize;
        }
        if let Some(time) = self.sandbox.timeout.take() {
            limits.request_time = time;
        }
        limits.grace = limits.grace.saturating_sub(threads::END_TIME + CLOSE_TIME);
        limits
    }

    /// Loads the bundled strategies. Without a model, leaves out those that need one.
    async fn bundled_strategies(
        &self,
        host: &Host,
        grant: Option<&ModelGrant>,
    ) -> Result<Vec<Strategy>, Failure> {
        let mut offered = Vec::new();
        for bundled in baler_strategies::ALL {
            let strategy = Source::bundled(bundled).load(host, &self.sandbox).await?;
            if grant.is_some() || !strategy.lacks_model() {
                offered.extend(model::granted(vec![strategy], &[], grant)?);
            }
        }
        Ok(offered)
    }

    /// Loads the strategies of a `baler.toml` that the user trusts. Leaves out those that cannot be used, and says why.
    async fn listed_strategies(
        &self,
        host: &Host,
        project: Option<&Project>,
        grant: Option<&ModelGrant>,
        messages: Messages,
    ) -> Vec<Strategy> {
        let trusted = project.filter(|project| project.trust() != Trust::Untrusted);
        let mut offered = Vec::new();
        for listed in trusted.into_iter().flat_map(Project::strategies) {
            let loaded = async {
                let source = sources::find(listed.name(), &self.remote, project, &self.sandbox)?;
                let strategy = source.load(host, &self.sandbox).await?;
                model::granted(vec![strategy], &[source], grant)
            };
            match loaded.await {
                Ok(loaded) => {
                    project::tell(project, &[listed.name()], messages);
                    offered.extend(loaded);
                }
                Err(failure) => messages.warn(&format!(
                    "`{}` of `baler.toml` is not offered: {:#}",
                    cleaned(listed.name()),
                    failure.error
                )),
            }
        }
        offered
    }
}

/// Returns the names that clients can use: of these strategies, and of the native ones that need no model.
fn names_of(strategies: &[Strategy]) -> Vec<String> {
    strategies
        .iter()
        .map(|strategy| strategy.name().to_owned())
        .chain(
            Strategy::NATIVE
                .iter()
                .filter(|name| {
                    Strategy::native(name).is_some_and(|strategy| !strategy.lacks_model())
                })
                .map(|&name| name.to_owned()),
        )
        .collect()
}

/// Moves the strategy that `baler compact` uses by default out of `offered`, as the chain of a server
/// whose options name no strategy.
fn default_chain(offered: &mut Vec<Strategy>, has_model: bool) -> Vec<Strategy> {
    let name = sources::default_name(has_model);
    let default = offered.iter().position(|strategy| strategy.name() == name);
    default
        .map(|index| offered.remove(index))
        .into_iter()
        .collect()
}
