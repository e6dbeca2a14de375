//! CliffCompaction, a proxy in Python, as a child process.

use std::net::{SocketAddr, TcpListener};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::Duration;

use anyhow::Context as _;

use crate::upstream::Upstream;

/// Where CliffCompaction is.
#[derive(Debug, Clone)]
pub(crate) struct Package {
    /// The folder with the package `cliffcompaction`.
    pub(crate) folder: PathBuf,
    /// A Python that has what it needs.
    pub(crate) python: PathBuf,
}

/// A running proxy, which ends when it is dropped.
pub(crate) struct Cliff {
    child: Child,
    pub(crate) address: SocketAddr,
}

impl Package {
    /// Says why it cannot be run.
    pub(crate) fn check(&self) -> anyhow::Result<()> {
        let done = self.command(&["--help"]).output();
        let done = done.with_context(|| format!("cannot run `{}`", self.python.display()))?;
        anyhow::ensure!(
            done.status.success(),
            "`python -m cliffcompaction` fails in {}; it needs Python 3.11 with httpx, starlette and uvicorn: name one by `--python`",
            self.folder.display()
        );
        Ok(())
    }

    /// Starts a proxy that compacts from so many tokens on, as it estimates them: a token has four characters.
    pub(crate) async fn start(&self, threshold: u32, upstream: &Upstream) -> anyhow::Result<Cliff> {
        let free = TcpListener::bind("127.0.0.1:0")?.local_addr()?;
        let [port, threshold] =
            [u32::from(free.port()), threshold].map(|number| number.to_string());
        let base = format!("http://{}", upstream.address);
        let child = self
            .command(&["serve", "--port", &port, "--threshold", &threshold])
            .args(["--anthropic-upstream", &base, "--openai-upstream", &base])
            .spawn()?;
        let cliff = Cliff {
            child,
            address: free,
        };
        for _ in 0..300 {
            if tokio::net::TcpStream::connect(free).await.is_ok() {
                return Ok(cliff);
            }
            tokio::time::sleep(Duration::from_millis(100)).await;
        }
        anyhow::bail!("CliffCompaction has not begun to serve within 30 seconds")
    }

    fn command(&self, arguments: &[&str]) -> Command {
        let mut command = Command::new(&self.python);
        command
            .args(["-m", "cliffcompaction"])
            .args(arguments)
            .env("PYTHONPATH", absolute(&self.folder))
            .env("NO_PROXY", "127.0.0.1")
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(Stdio::null());
        command
    }
}

fn absolute(folder: &Path) -> PathBuf {
    std::path::absolute(folder).unwrap_or_else(|_| folder.to_owned())
}

impl Drop for Cliff {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}
