use std::future::Future;
use std::net::SocketAddr;
use std::path::PathBuf;
use std::time::Duration;

use anyhow::{Context as _, anyhow};
use baler_host::Strategy;
use baler_http::{Server, ServerError, ServerLimits, Token, raise_descriptor_limit};
use clap::Args;

use crate::archive;
use crate::arenas;
use crate::arguments::{self, SandboxArguments};
use crate::chain::{self, Source};
use crate::exit::{Exit, Failure};
use crate::model::{self, ModelArguments};
use crate::output::Messages;
use crate::remote::RemoteArguments;
use crate::settings::{HostSettings, Keeping};

/// Serve compactions over HTTP, to programs in any language and to other balers
///
/// `POST /v1/compact`, `/v1/should-compact` and `/v1/introspect` take and give JSON; `GET
/// /openapi.json` describes them, `/metrics` has figures, `/healthz` tells that it is there.
/// Clients name strategies of this server; they never name files or URLs. It ends on SIGTERM and
/// SIGINT, when what runs is done, at most 20 s later.
#[derive(Debug, Args)]
#[command(after_help = AFTER, mut_arg("timeout", |arg| arg.help(TIMEOUT)))]
pub(crate) struct ServeCommand {
    /// Where it listens. From other machines it can be reached only with a token
    #[arg(long, value_name = "ADDRESS:PORT", default_value = "127.0.0.1:7410")]
    listen: SocketAddr,

    /// The token that clients have to show, in a file [default: $BALER_TOKEN]
    #[arg(long, value_name = "FILE")]
    token_file: Option<PathBuf>,

    /// Chain used when a request names no strategy, and for other balers: names, .wasm files or
    /// URLs; may be given several times. Clients can name these and baler's own [default: native:digest, and clients can name all that
    /// `baler strategies` lists]
    #[arg(short, long = "strategy", value_name = "NAME|FILE.wasm|URL")]
    strategies: Vec<String>,

    #[command(flatten)]
    remote: RemoteArguments,

    /// The most bytes of a request, such as 32MiB. The memory that all work at once may take is 24
    /// times that, and 2 GiB at least [default: 32MiB]
    #[arg(long, value_name = "SIZE", allow_hyphen_values = true, value_parser = arguments::size)]
    max_body: Option<usize>,

    /// Requests that are worked on at once; 256 more may wait [default: twice the processor's
    /// cores, at least 4]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=1_000))]
    concurrency: Option<u32>,

    /// Archive content that is removed from the conversations of clients: in a folder, or at a URL
    /// such as s3://bucket/prefix. Without it a server keeps nothing of them
    #[arg(long, value_name = "DIR|URL")]
    archive: Option<String>,

    #[command(flatten)]
    model: ModelArguments,

    #[command(flatten)]
    sandbox: SandboxArguments,
}

const TIMEOUT: &str = "Time of a request, such as 10s or 2m, waiting included [default: 60s]";

const AFTER: &str = "\
Examples:
  For this machine:
    baler serve
    curl -s localhost:7410/v1/compact -H 'content-type: application/json' \\
      -d \"{\\\"conversation\\\": $(cat request.json), \\\"budget\\\": \\\"50%\\\"}\"
  For others, who have to show a token:
    BALER_TOKEN=$(openssl rand -hex 32) baler serve --listen 0.0.0.0:7410
  As the remote strategy of another baler:
    baler serve --strategy ./untrusted.wasm --strategy sliding-window
    baler compact request.json --strategy http://127.0.0.1:7410

Exit codes: 0 ended as it was told, 1 baler itself failed, 2 wrong use";

/// The last part of the grace period: for threads whose requests were broken off.
const END: Duration = Duration::from_secs(1);

/// The part before it: for closing all connections, and to give memory back on a busy machine.
const CLOSING: Duration = Duration::from_secs(1);

/// Memory that work on the largest body may be reckoned to take at least, for each of its bytes.
/// Conversations of agents have a list, an object or a comma for every 50 bytes or more, with
/// which it is 19 at most.
const WORK_PER_BYTE: usize = 24;

/// Enough for the largest `--concurrency`, and for the files and names that those requests wait
/// for. Threads start when they are needed.
const BLOCKING_THREADS: usize = 2_500;

impl ServeCommand {
    pub(crate) fn exec(self) -> Result<Exit, Failure> {
        arenas::one_for_each_core();
        let runtime = tokio::runtime::Builder::new_multi_thread()
            .enable_all()
            .max_blocking_threads(BLOCKING_THREADS)
            .build()
            .context("cannot start the threads of a server")?;
        let done = runtime.block_on(self.serve());
        // What is still running has had its grace period.
        runtime.shutdown_timeout(END);
        done
    }

    async fn serve(mut self) -> Result<Exit, Failure> {
        let messages = Messages { quiet: false };
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
        // Here it is the time of a request, and not of a strategy's call.
        if let Some(time) = self.sandbox.timeout.take() {
            limits.request_time = time;
        }
        limits.grace = limits.grace.saturating_sub(END + CLOSING);
        raise_descriptor_limit(&limits);
        let token = self.token()?;
        if token.is_none() && !self.listen.ip().is_loopback() {
            return Err(needs_token(self.listen));
        }
        let named: Vec<&str> = self.strategies.iter().map(String::as_str).collect();
        let sources = chain::find_all(&named, &self.remote)?;
        let grant = self.model.grant()?;
        let archive = match &self.archive {
            None => Keeping::Nowhere,
            Some(named) => Keeping::In(archive::open(named)?),
        };
        let settings = HostSettings {
            archive,
            model: grant.clone(),
            calls: u32::try_from(limits.concurrency).ok(),
            serves_many: true,
            ..HostSettings::default()
        };
        let host = self.sandbox.host(settings, messages)?;
        let chain = chain::load(&host, &sources, None, &self.sandbox).await?;
        let chain = model::granted(chain, grant.as_ref())?;
        let mut offered = Vec::new();
        if chain.is_empty() {
            for bundled in baler_strategies::ALL {
                let strategy = Source::bundled(bundled).load(&host, &self.sandbox).await?;
                // Without a model, those that want one are not offered.
                if grant.is_some() || !strategy.lacks_model() {
                    offered.extend(model::granted(vec![strategy], grant.as_ref())?);
                }
            }
        }
        let names: Vec<String> = [&chain[..], &offered[..]]
            .concat()
            .iter()
            .map(|own| own.name().to_owned())
            .chain(
                Strategy::NATIVE
                    .iter()
                    .filter(|name| Strategy::native(name).is_some_and(|own| !own.lacks_model()))
                    .map(|&name| name.to_owned()),
            )
            .collect();
        let mut builder = Server::builder(host)
            .chain(chain)
            .offers(offered)
            .limits(limits)
            .on_failure(move |what| messages.warn(what));
        if let Some(token) = token {
            builder = builder.token(token);
        }
        let stop = told_to_stop()?;
        let server = builder
            .bind(self.listen)
            .await
            .map_err(|error| match error {
                ServerError::NeedsToken { address } => needs_token(address),
                error => Failure::wrong_use(error),
            })?;
        messages.say(&format!(
            "listening on http://{}; strategies: {}\n",
            server.address(),
            names.join(", ")
        ));
        server.serve(stop).await;
        Ok(Exit::Done)
    }

    fn token(&self) -> Result<Option<Token>, Failure> {
        let token = match &self.token_file {
            Some(file) => Token::from_file(file),
            None => match std::env::var_os("BALER_TOKEN").filter(|token| !token.is_empty()) {
                Some(token) => Token::new(&token.to_string_lossy()),
                None => return Ok(None),
            },
        };
        token.map(Some).map_err(Failure::wrong_use)
    }
}

fn needs_token(address: SocketAddr) -> Failure {
    Failure::wrong_use(anyhow!(
        "`{address}` can be reached from other machines: give a token that clients have to show, by --token-file or $BALER_TOKEN; or listen on 127.0.0.1"
    ))
}

/// Done when somebody wants the program to end.
fn told_to_stop() -> Result<impl Future<Output = ()>, Failure> {
    #[cfg(unix)]
    {
        use tokio::signal::unix::{SignalKind, signal};
        let listen = |kind| signal(kind).context("cannot listen for signals");
        let mut end = listen(SignalKind::terminate())?;
        let mut interrupt = listen(SignalKind::interrupt())?;
        Ok(async move {
            tokio::select! {
                _ = end.recv() => {}
                _ = interrupt.recv() => {}
            }
        })
    }
    #[cfg(not(unix))]
    Ok(async {
        let _ = tokio::signal::ctrl_c().await;
    })
}
