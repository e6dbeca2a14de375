//! What `baler proxy` and `baler run` share: the options of a proxy, and a proxy made of them.

pub(crate) mod metrics;
pub(crate) mod programs;

use std::net::SocketAddr;
use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use anyhow::anyhow;
use axum::Router;
use baler_host::Budget;
use baler_host::request::Request;
use baler_host::view::Window;
use baler_http::{ServerLimits, Token, raise_descriptor_limit};
use baler_proxy::{Exchange, Proxy, ProxyError, Sessions, Total, Upstream, Upstreams};
use clap::Args;
use metrics::Metrics;

use crate::archive::{ArchiveArguments, ArchivePlace};
use crate::arguments::{SandboxArguments, window};
use crate::exit::Failure;
use crate::model::{self, ModelArguments};
use crate::output::Messages;
use crate::project;
use crate::remote::RemoteArguments;
use crate::retrieval::{self, RetrieveServer};
use crate::settings::{self, HostSettings};
use crate::sources;
use crate::token;
use crate::ui::{self, Pages, Trial};

/// Options for when requests are compacted, to what size, and where they go.
#[derive(Debug, Args)]
pub(crate) struct ProxiedArguments {
    /// Tokens that a request may have: the model's context window, or less, since each request costs what it holds
    #[arg(long, value_name = "TOKENS", default_value_t = 200_000, value_parser = window, help_heading = "Window")]
    context_window: u32,

    /// Tokens from which on a request is compacted, such as 120000; or a share of the window
    #[arg(
        long,
        value_name = "TOKENS|N%",
        default_value = "80%",
        help_heading = "Window"
    )]
    at: Budget,

    /// Tokens that a compacted request should have, such as 60000; or a share of --at. Less is cheaper and lasts longer;
    /// more keeps more
    #[arg(
        long,
        value_name = "TOKENS|N%",
        default_value = "50%",
        help_heading = "Window"
    )]
    budget: Budget,

    /// Only observe: send every request as it came, and record what would have been done
    #[arg(long, help_heading = "Window")]
    shadow: bool,

    /// The strategy that decides what to keep: a name (`baler strategies` lists them), a .wasm file, or the URL of a
    /// server. If given several times, each is the fallback of the one before [default: tiered; with --model:
    /// tiered-model]
    #[arg(
        short,
        long = "strategy",
        value_name = "NAME|FILE.wasm|URL",
        help_heading = "Strategy"
    )]
    strategies: Vec<String>,

    #[command(flatten)]
    remote: RemoteArguments,

    /// A server that requests may go on to, in addition to anthropic, openai and gemini or in place of one of them, such
    /// as ours=http://localhost:8000. A request to /NAME/PATH goes to URL/PATH; may be given several times
    #[arg(long = "upstream", value_name = "NAME=URL", help_heading = "Network")]
    upstreams: Vec<Upstream>,

    /// Where content that is removed is archived first: a folder, a URL such as s3://bucket/prefix, or `off` for nowhere
    /// [default: $BALER_ARCHIVE, else a folder in the state folder]
    #[arg(long, value_name = "DIR|URL|off", help_heading = "Output")]
    archive: Option<String>,

    #[command(flatten)]
    model: ModelArguments,

    #[command(flatten)]
    sandbox: SandboxArguments,
}

/// What passed through a proxy so far.
pub(crate) type Passed = Arc<Mutex<Total>>;

/// A bound proxy.
pub(crate) struct Proxied {
    pub(crate) proxy: Proxy,
    pub(crate) passed: Passed,
    /// The names of the chain.
    pub(crate) strategies: Vec<String>,
    /// Tokens from which on requests are compacted, and to how many.
    pub(crate) at: u32,
    pub(crate) budget: u32,
}

/// The grace period of a proxy for one program. It stops when the program has ended, and nobody waits for answers.
const PROGRAM_ENDED: Duration = Duration::from_secs(1);

impl ProxiedArguments {
    /// Makes a proxy and binds it. `more`: upstreams that the program needs; typed ones with the same name count. `run`:
    /// the run of a program that it is for.
    pub(crate) async fn bind(
        &self,
        listen: SocketAddr,
        token: Option<Token>,
        more: Vec<Upstream>,
        run: Option<String>,
        messages: Messages,
    ) -> Result<Proxied, Failure> {
        let mut limits = Proxy::limits();
        if run.is_some() {
            limits.grace = PROGRAM_ENDED;
        }
        raise_descriptor_limit(&limits);
        let (at, budget) = self.sizes()?;
        let (window, strategies, trial) = self.window(at, budget, &limits, messages).await?;
        let typed = self.upstreams.iter().cloned();
        let upstreams = more
            .into_iter()
            .chain(typed)
            .fold(Upstreams::default(), Upstreams::with);
        let passed = Passed::default();
        let metrics = Arc::new(Metrics::new(&passed));
        let mut builder = Proxy::builder(window, upstreams)
            .limits(limits)
            .shadow(self.shadow)
            .on_exchange(self.recorder(&passed, &metrics, run, messages)?)
            .pages(self.pages(metrics, token.as_ref(), trial)?);
        if let Some(token) = token {
            builder = builder.token(token);
        }
        if let Some(state) = self.state() {
            builder = builder.views(state.join("views"));
        }
        let proxy = builder.bind(listen).map_err(|error| match error {
            ProxyError::Listen(error) => token::listen_failure(error),
            error => Failure::wrong_use(error),
        })?;
        Ok(Proxied {
            proxy,
            passed,
            strategies,
            at,
            budget,
        })
    }

    /// Returns the arguments with which this program serves the tool that retrieves what was removed; `None` if nothing is
    /// archived.
    pub(crate) fn retrieval(&self, run: &str) -> Option<Vec<String>> {
        let mut arguments = vec!["mcp".to_owned(), "--run".to_owned(), run.to_owned()];
        match ArchivePlace::of(self.archive.as_deref()).ok()? {
            ArchivePlace::Off => return None,
            ArchivePlace::State => {}
            ArchivePlace::Named(named) => arguments.extend(["--archive".to_owned(), named]),
        }
        arguments.extend(["--state".to_owned(), self.state()?.to_str()?.to_owned()]);
        Some(arguments)
    }

    /// Returns what the proxy serves itself: its metrics, its pages, and the tool that retrieves what was removed. Who
    /// shares a proxy with a token does not see what others said.
    fn pages(
        &self,
        metrics: Arc<Metrics>,
        token: Option<&Token>,
        trial: Trial,
    ) -> Result<Router, Failure> {
        let archive = ArchiveArguments::of(self.archive.clone(), self.state());
        let is_shared = token.is_some();
        let pages = Pages::new(archive.clone(), token.cloned(), !is_shared, trial);
        let router = metrics::router(metrics).merge(ui::router(pages));
        if is_shared {
            return Ok(router);
        }
        let folder = self.state().map(|state| state.join("sessions"));
        let sessions = folder.map(Sessions::open).transpose();
        let server = RetrieveServer {
            archive,
            sessions: sessions.map_err(anyhow::Error::from)?,
            run: None,
            log: None,
        };
        Ok(router.merge(retrieval::router(server)))
    }

    pub(crate) fn state(&self) -> Option<PathBuf> {
        settings::state_folder(self.sandbox.state.as_deref())
    }

    /// Returns the tokens from which on requests are compacted, and those that they have then.
    fn sizes(&self) -> Result<(u32, u32), Failure> {
        let of = |size: Budget, whole: u32| match size {
            Budget::Tokens(tokens) => tokens,
            Budget::Share(share) => (f64::from(whole) * share) as u32,
        };
        let at = of(self.at, self.context_window);
        if at > self.context_window {
            return Err(Failure::wrong_use(anyhow!(
                "--at is {at} tokens, and --context-window {}: expected at most the window",
                self.context_window
            )));
        }
        Ok((at, of(self.budget, at)))
    }

    async fn window(
        &self,
        at: u32,
        budget: u32,
        limits: &ServerLimits,
        messages: Messages,
    ) -> Result<(Window, Vec<String>, Trial), Failure> {
        let project = self.sandbox.project(messages)?;
        let grant = self.model.grant()?;
        let named = sources::typed_or_default(&self.strategies, grant.is_some());
        let sources = sources::find_all(&named, &self.remote, project.as_ref(), &self.sandbox)?;
        project::tell(project.as_ref(), &named, messages);
        let settings = HostSettings {
            archive: ArchivePlace::of(self.archive.as_deref())?.keeping()?,
            model: grant.clone(),
            calls: u32::try_from(limits.concurrency).ok(),
            serves_many: true,
            project: project.clone(),
            ..HostSettings::default()
        };
        let host = self.sandbox.host(settings, messages)?;
        let chain = sources::load(&host, &sources, None, &self.sandbox).await?;
        let chain = model::granted(chain, &sources, grant.as_ref())?;
        let names = chain
            .iter()
            .map(|strategy| strategy.name().to_owned())
            .collect();
        let request = Request::default()
            .with_context_window(Some(self.context_window))
            .with_policy(project::plan_policy(project.as_ref()));
        let window = Window::new(Arc::new(host), chain, at, budget)
            .map_err(|error| Failure::wrong_use(anyhow!("--budget: {error}")))?;
        let trial = Trial {
            sandbox: self.sandbox.clone(),
            project,
            chain: sources,
            grant,
        };
        Ok((window.with_request(request), names, trial))
    }

    /// Returns what is done with each exchange: it is counted, and recorded in the state folder if there is one.
    fn recorder(
        &self,
        passed: &Passed,
        metrics: &Arc<Metrics>,
        run: Option<String>,
        messages: Messages,
    ) -> Result<impl Fn(Exchange) + Send + Sync + use<>, Failure> {
        let folder = self.state().map(|state| state.join("sessions"));
        let sessions = folder
            .map(Sessions::open)
            .transpose()
            .map_err(anyhow::Error::from)?;
        let passed = Arc::clone(passed);
        let metrics = Arc::clone(metrics);
        let has_failed = AtomicBool::new(false);
        Ok(move |mut exchange: Exchange| {
            exchange.run.clone_from(&run);
            if let Ok(mut passed) = passed.lock() {
                passed.add(&exchange);
            }
            metrics.record(&exchange);
            let written = sessions
                .as_ref()
                .map_or(Ok(()), |sessions| sessions.add(&exchange));
            if let Err(error) = written
                && !has_failed.swap(true, Ordering::Relaxed)
            {
                messages.warn(&format!("sessions are not recorded: {error}"));
            }
        })
    }
}
