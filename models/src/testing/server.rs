//! The server itself.

use std::collections::VecDeque;
use std::io;
use std::net::{Ipv4Addr, SocketAddr, TcpListener, TcpStream};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::thread::JoinHandle;
use std::time::Duration;

use super::connection::{self, Recorded};
use super::replies::Reply;
use crate::Provider;

/// A server that answers what it was told to. It ends when it is dropped, hanging connections included.
#[derive(Debug)]
pub struct ScriptedServer {
    address: SocketAddr,
    stage: Arc<Stage>,
    accepting: Option<JoinHandle<()>>,
}

/// What the server's threads share.
#[derive(Debug, Default)]
pub(super) struct Stage {
    script: Mutex<Script>,
    ended: Condvar,
}

#[derive(Debug, Default)]
struct Script {
    replies: VecDeque<Reply>,
    otherwise: Option<Reply>,
    requests: Vec<Recorded>,
    is_over: bool,
}

impl ScriptedServer {
    /// Starts on a free port of the loopback address, with replies for the first requests.
    ///
    /// # Errors
    /// There is no port, or no thread.
    pub fn start(replies: impl IntoIterator<Item = Reply>) -> io::Result<Self> {
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0))?;
        let address = listener.local_addr()?;
        let stage = Arc::new(Stage::default());
        stage.script().replies.extend(replies);
        let shared = Arc::clone(&stage);
        let accepting = std::thread::Builder::new()
            .name("scripted server".to_owned())
            .spawn(move || accept(&listener, &shared))?;
        Ok(Self {
            address,
            stage,
            accepting: Some(accepting),
        })
    }

    /// Adds a reply behind the others.
    pub fn queue(&self, reply: Reply) {
        self.stage.script().replies.push_back(reply);
    }

    /// What every request gets for which none is left.
    pub fn otherwise(&self, reply: Reply) {
        self.stage.script().otherwise = Some(reply);
    }

    /// Where it listens.
    #[must_use]
    pub const fn address(&self) -> SocketAddr {
        self.address
    }

    /// What stands for the provider's own base URL.
    #[must_use]
    pub fn base_url(&self, provider: Provider) -> String {
        let version = match provider {
            Provider::Gemini => "v1beta",
            Provider::OpenAi | Provider::Anthropic | Provider::Compatible => "v1",
        };
        format!("http://{}/{version}", self.address)
    }

    /// The requests that were read whole, in their order.
    #[must_use]
    pub fn requests(&self) -> Vec<Recorded> {
        self.stage.script().requests.clone()
    }
}

impl Drop for ScriptedServer {
    fn drop(&mut self) {
        self.stage.script().is_over = true;
        self.stage.ended.notify_all();
        // Wakes the thread that accepts.
        let woken = TcpStream::connect(self.address).is_ok();
        if let Some(accepting) = self.accepting.take().filter(|_| woken) {
            let _ = accepting.join();
        }
    }
}

fn accept(listener: &TcpListener, stage: &Arc<Stage>) {
    for stream in listener.incoming() {
        if stage.script().is_over {
            return;
        }
        let Ok(stream) = stream else { continue };
        let stage = Arc::clone(stage);
        // Without a thread the connection is closed, which is what a busy server does too.
        let _ = std::thread::Builder::new().spawn(move || connection::serve(stream, &stage));
    }
}

impl Stage {
    fn script(&self) -> MutexGuard<'_, Script> {
        // A script is whole after every line, so a panic elsewhere does not matter.
        self.script.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Writes a request down and gives the reply to it.
    pub(super) fn reply_to(&self, request: Recorded) -> Reply {
        let mut script = self.script();
        script.requests.push(request);
        let next = script.replies.pop_front();
        next.or_else(|| script.otherwise.clone())
            .unwrap_or_else(Reply::over)
    }

    /// Waits, unless the server ends meanwhile. True where there is a reason to go on.
    pub(super) fn wait(&self, time: Duration) -> bool {
        let (script, _) = self
            .ended
            .wait_timeout_while(self.script(), time, |script| !script.is_over)
            .unwrap_or_else(PoisonError::into_inner);
        !script.is_over
    }
}
