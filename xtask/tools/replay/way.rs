//! The ways of a session to its provider: straight, through baler's proxy, and through CliffCompaction.

use std::collections::BTreeMap;
use std::net::SocketAddr;
use std::sync::Arc;

use anyhow::{Context as _, ensure};
use baler_eval::{RecordedRequest, Sent};
use baler_host::view::Window;
use baler_host::{Compiler, Format, Host, Request, Strategy};
use baler_models::clients::connections;
use baler_proxy::{Proxy, Upstreams};

use crate::cliff::Package;
use crate::session::{Session, read};
use crate::table::{Row, mean};
use crate::upstream::{Cache, Counted, Upstream};

/// What the ways need.
pub(crate) struct Ways {
    pub(crate) host: Arc<Host>,
    tiered: Strategy,
    client: reqwest::Client,
    cliff: Option<Package>,
    /// Tokens from which on a request is compacted, and those that it has then.
    at: u32,
    budget: u32,
}

/// The requests of a session as they arrived at the provider.
pub(crate) struct Replayed {
    pub(crate) counted: Vec<Counted>,
    /// What was still there, by the index of the request.
    pub(crate) measured: BTreeMap<usize, Sent>,
}

impl Ways {
    pub(crate) async fn new(cliff: Option<Package>, at: u32, budget: u32) -> anyhow::Result<Self> {
        let host = Arc::new(Host::builder().compiler(Compiler::ThisProgram).build()?);
        let wasm = baler_strategies::by_name("tiered")
            .context("it ships with baler")?
            .wasm;
        Ok(Self {
            tiered: host.load("tiered", wasm).await?,
            host,
            client: connections(&"http://127.0.0.1:9".parse()?, false)?.build()?,
            cliff,
            at,
            budget,
        })
    }

    /// The window of the model, of which the requests that are compacted fill four fifths.
    pub(crate) fn window(&self) -> u32 {
        self.at.saturating_add(self.at / 4)
    }

    /// Replays a session by all ways.
    pub(crate) async fn all(&self, session: &Session) -> anyhow::Result<Row> {
        let none = self.straight(session)?;
        let tokens: Vec<u32> = none.iter().map(|one| one.tokens).collect();
        let asked = session.measured(&self.host, &tokens, self.at.saturating_add(self.at / 5))?;
        let baler = self.baler(session, &asked, self.budget).await?;
        let cliff = match &self.cliff {
            Some(package) => Some(self.cliff(package, session, &asked).await?),
            None => None,
        };
        let at_its_size = match &cliff {
            Some(cliff) => {
                // What it cannot make smaller goes on as it is, so its size is not a target.
                let compacted = cliff.counted.iter().filter(|one| one.is_compacted);
                let sizes = compacted.map(|one| one.tokens).filter(|own| *own < self.at);
                let size = mean(sizes.map(f64::from));
                let size = size.map_or(self.budget, |size| size as u32);
                let size = size.clamp(self.at / 20, self.at - 1);
                Some(self.baler(session, &asked, size).await?)
            }
            None => None,
        };
        Ok(Row {
            name: session.name.clone(),
            ended_at: tokens.iter().position(|tokens| *tokens > self.window()),
            none,
            baler,
            cliff,
            at_its_size,
        })
    }

    /// Counts the requests as they are.
    fn straight(&self, session: &Session) -> anyhow::Result<Vec<Counted>> {
        let mut cache = Cache::default();
        let requests = 0..session.requests();
        requests
            .map(|index| {
                let request = read(&self.host, session.request(index), session.whole.format())?;
                Ok(cache.count(&request))
            })
            .collect()
    }

    async fn baler(
        &self,
        session: &Session,
        asked: &BTreeMap<usize, RecordedRequest>,
        budget: u32,
    ) -> anyhow::Result<Replayed> {
        let upstream = Upstream::start(&self.host, session.whole.format())?;
        let chain = [self.tiered.clone()];
        let request = Request::default().with_context_window(Some(self.window()));
        let window =
            Window::new(Arc::clone(&self.host), chain, self.at, budget)?.with_request(request);
        let mut upstreams = Upstreams::default();
        for name in ["anthropic", "openai"] {
            upstreams = upstreams.with(format!("{name}=http://{}", upstream.address).parse()?);
        }
        let proxy = Proxy::builder(window, upstreams).bind("127.0.0.1:0".parse()?)?;
        let address = proxy.address();
        let serving = tokio::spawn(proxy.serve(std::future::pending()));
        let replayed = self.replay(session, asked, address, &upstream).await;
        serving.abort();
        replayed
    }

    async fn cliff(
        &self,
        package: &Package,
        session: &Session,
        asked: &BTreeMap<usize, RecordedRequest>,
    ) -> anyhow::Result<Replayed> {
        let upstream = Upstream::start(&self.host, session.whole.format())?;
        // It takes four characters for a token, which would be another trigger in each session.
        let estimated = session.whole.document().chars().count() as f64 / 4.0;
        let threshold = f64::from(self.at) * estimated / f64::from(session.whole.tokens());
        let cliff = package.start(threshold as u32, &upstream).await?;
        self.replay(session, asked, cliff.address, &upstream).await
    }

    /// Sends the requests of a session to a proxy, one after the other.
    async fn replay(
        &self,
        session: &Session,
        asked: &BTreeMap<usize, RecordedRequest>,
        proxy: SocketAddr,
        upstream: &Upstream,
    ) -> anyhow::Result<Replayed> {
        let path = match session.whole.format() {
            Format::Anthropic => "messages",
            Format::OpenAiResponses => "responses",
            _ => "chat/completions",
        };
        let mut measured = BTreeMap::new();
        for index in 0..session.requests() {
            let answer = self
                .client
                .post(format!("http://{proxy}/v1/{path}"))
                .header("anthropic-version", "2023-06-01")
                .header("content-type", "application/json")
                .body(session.request(index))
                .send()
                .await?;
            let status = answer.status();
            ensure!(status.is_success(), "request {index}: {status}");
            answer.bytes().await?;
            let sent = upstream.newest(index + 1)?;
            if let Some(request) = asked.get(&index) {
                measured.insert(index, request.measure(&sent));
            }
        }
        Ok(Replayed {
            counted: upstream.counted(),
            measured,
        })
    }
}
