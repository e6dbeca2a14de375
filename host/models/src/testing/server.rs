//! The server.

use std::collections::VecDeque;
use std::io;
use std::net::{Ipv4Addr, SocketAddr, TcpListener, TcpStream};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::thread::JoinHandle;
use std::time::Duration;

use super::connection::{self, RecordedRequest};
use super::reply::Reply;
use crate::Provider;

/// A server with scripted replies. Dropping it ends the server and all its connections. The module has an
/// example.
#[derive(Debug)]
pub struct ScriptedServer {
    address: SocketAddr,
    shared: Arc<Shared>,
    accepting: Option<JoinHandle<()>>,
}

/// What the server's threads share.
#[derive(Debug, Default)]
pub(super) struct Shared {
    script: Mutex<Script>,
    ended: Condvar,
}

#[derive(Debug, Default)]
struct Script {
    replies: VecDeque<Reply>,
    default_reply: Option<Reply>,
    requests: Vec<RecordedRequest>,
    has_ended: bool,
}

impl ScriptedServer {
    /// Starts a server on a free port of the loopback address. The first requests get `replies`, in order.
    ///
    /// # Errors
    /// No port is free, or no thread can be started.
    pub fn start(replies: impl IntoIterator<Item = Reply>) -> io::Result<Self> {
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0))?;
        let address = listener.local_addr()?;
        let shared = Arc::new(Shared::default());
        shared.script().replies.extend(replies);
        let of_thread = Arc::clone(&shared);
        let accepting = std::thread::Builder::new()
            .name("scripted server".to_owned())
            .spawn(move || accept(&listener, &of_thread))?;
        Ok(Self {
            address,
            shared,
            accepting: Some(accepting),
        })
    }

    /// Adds a reply after the others.
    pub fn queue(&self, reply: Reply) {
        self.shared.script().replies.push_back(reply);
    }

    /// Sets the reply to every request after the end of the script.
    pub fn set_default_reply(&self, reply: Reply) {
        self.shared.script().default_reply = Some(reply);
    }

    /// Returns the address that the server listens on.
    #[must_use]
    pub const fn address(&self) -> SocketAddr {
        self.address
    }

    /// Returns the URL that replaces the provider's own base URL.
    #[must_use]
    pub fn base_url(&self, provider: Provider) -> String {
        let version = match provider {
            Provider::Gemini => "v1beta",
            Provider::OpenAi | Provider::Anthropic | Provider::Compatible => "v1",
        };
        format!("http://{}/{version}", self.address)
    }

    /// Returns the requests that were read completely, in order.
    #[must_use]
    pub fn requests(&self) -> Vec<RecordedRequest> {
        self.shared.script().requests.clone()
    }
}

impl Drop for ScriptedServer {
    fn drop(&mut self) {
        self.shared.script().has_ended = true;
        self.shared.ended.notify_all();
        // Wake the thread that accepts connections.
        let woken = TcpStream::connect(self.address).is_ok();
        if let Some(accepting) = self.accepting.take().filter(|_| woken) {
            let _ = accepting.join();
        }
    }
}

fn accept(listener: &TcpListener, shared: &Arc<Shared>) {
    for stream in listener.incoming() {
        if shared.script().has_ended {
            return;
        }
        let Ok(stream) = stream else { continue };
        let shared = Arc::clone(shared);
        // Without a thread the connection is closed, as a busy server would do.
        let _ = std::thread::Builder::new().spawn(move || connection::serve(stream, &shared));
    }
}

impl Shared {
    fn script(&self) -> MutexGuard<'_, Script> {
        // Every statement leaves the script valid, so a panic of another thread does not matter.
        self.script.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Records a request and returns its reply.
    pub(super) fn reply_to(&self, request: RecordedRequest) -> Reply {
        let mut script = self.script();
        script.requests.push(request);
        let next = script.replies.pop_front();
        next.or_else(|| script.default_reply.clone())
            .unwrap_or_else(Reply::end_of_script)
    }

    /// Waits for `time`, or until the server ends. Returns whether the server is still running.
    pub(super) fn wait(&self, time: Duration) -> bool {
        let (script, _) = self
            .ended
            .wait_timeout_while(self.script(), time, |script| !script.has_ended)
            .unwrap_or_else(PoisonError::into_inner);
        !script.has_ended
    }
}
