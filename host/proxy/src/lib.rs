//! A proxy between an agent and its model provider, which keeps the requests of the agent within a window.
//!
//! Agents hand over their whole history with each request, and take no plug-in but a base URL. A [`Proxy`] behind that URL
//! shows the provider what [`baler_host::view`] shows of it: until a compaction is due, the request as it came, byte for byte;
//! then the smaller one, repeated as it is until the next compaction. Answers pass as they arrive.
//!
//! Whatever baler cannot help with goes on unchanged, and the header `x-baler` of the answer says what was done.
//!
//! ```no_run
//! use std::sync::Arc;
//! use baler_host::{Host, Strategy, view::Window};
//! use baler_proxy::{Proxy, Upstreams};
//!
//! # async fn run() -> Result<(), Box<dyn std::error::Error>> {
//! let host = Arc::new(Host::builder().build()?);
//! let window = Window::new(host, [Strategy::digest()], 160_000, 80_000)?;
//! let proxy = Proxy::builder(window, Upstreams::default()).bind("127.0.0.1:7411".parse()?)?;
//! println!("ANTHROPIC_BASE_URL=http://{}/anthropic", proxy.address());
//! proxy.serve(std::future::pending()).await;
//! # Ok(()) }
//! ```

mod answers;
mod body;
mod encoding;
mod errors;
mod fit;
mod headers;
mod local;
mod newest;
mod proxy;
mod record;
mod relay;
mod route;
mod session;
mod sessions;
mod stored;
mod upstream;

pub use baler_models::clients::Usage;
pub use proxy::{Proxy, ProxyBuilder, ProxyError};
pub use session::{Action, Exchange};
pub use sessions::{Sessions, Total};
pub use upstream::{Upstream, UpstreamError, Upstreams};
