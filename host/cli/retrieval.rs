//! The tool that retrieves what was removed, as a server by the Model Context Protocol.

use std::sync::Arc;

use axum::Router;
use baler_host::Format;
use baler_host::archive::Retrieve;
use baler_proxy::{Exchange, Sessions};
use rmcp::handler::server::ServerHandler;
use rmcp::model::{
    CallToolRequestParams, CallToolResponse, CallToolResult, ContentBlock, ErrorData,
    Implementation, ListToolsResult, PaginatedRequestParams, ServerCapabilities, ServerConfig,
    Tool,
};
use rmcp::service::{RequestContext, RoleServer};
use rmcp::transport::streamable_http_server::session::never::NeverSessionManager;
use rmcp::transport::streamable_http_server::{StreamableHttpServerConfig, StreamableHttpService};
use serde_json::Value;

use crate::agents::session_log::SessionLog;
use crate::archive::ArchiveArguments;
use crate::exit::Failure;

/// Instructions for the agent's model, which the server sends when it is initialised.
const INSTRUCTIONS: &str = "Earlier parts of this conversation may have been removed to save context; a summary, such as text in <baler:summary> tags, stands in their place. The tool `retrieve` returns them word for word: search with `query`, or name a `reference`.";

/// What the tool answers before anything was removed.
const NOTHING: &str = "Nothing was removed so far.";

/// A server with the tool.
#[derive(Debug, Clone)]
pub(crate) struct RetrieveServer {
    /// Is opened when the model asks: before the first compaction there may be none.
    pub(crate) archive: ArchiveArguments,
    pub(crate) sessions: Option<Sessions>,
    /// The run of a proxy whose sessions are searched; `None` for the session with the newest request.
    pub(crate) run: Option<String>,
    /// The log of the program itself, which is searched in place of sessions of a proxy.
    pub(crate) log: Option<SessionLog>,
}

/// Returns what serves the tool at `/mcp` of a proxy, over HTTP. For a proxy without a token only: the tool shows what was
/// removed from the newest session, whoever's it is.
pub(crate) fn router(server: RetrieveServer) -> Router {
    // Each request stands alone, and web pages send none.
    let config = StreamableHttpServerConfig::default()
        .with_legacy_session_mode(false)
        .with_json_response(true)
        .enforce_origin_validation();
    let sessions = Arc::new(NeverSessionManager::default());
    let service = StreamableHttpService::new(move || Ok(server.clone()), sessions, config);
    Router::new().route_service("/mcp", service)
}

impl RetrieveServer {
    async fn answer(&self, arguments: &Value) -> String {
        let reference = arguments["reference"].as_str().map(str::trim);
        if let Some(log) = &self.log {
            let removed = match log.removed().await {
                Ok(removed) => removed,
                Err(error) => return format!("{error:#}"),
            };
            let is_in_log = |reference: &str| {
                let mut references = removed.references.iter();
                references.any(|other| other.eq_ignore_ascii_case(reference))
            };
            if reference.is_none_or(is_in_log) {
                return match removed.references.is_empty() {
                    true => NOTHING.to_owned(),
                    false => removed.tool.answer(&arguments.to_string()).await,
                };
            }
        }
        match self.archived(reference) {
            Ok(tool) => tool.answer(&arguments.to_string()).await,
            Err(_) => NOTHING.to_owned(),
        }
    }

    /// Returns the tool with what it may show: what was removed from the sessions that the run was part of, also before it;
    /// else from the newest one.
    fn archived(&self, reference: Option<&str>) -> Result<Retrieve, Failure> {
        let mut tool = Retrieve::new(self.archive.open()?);
        let names = self.sessions.iter().flat_map(Sessions::names);
        let is_ours = |exchange: &Exchange| self.run.is_none() || exchange.run == self.run;
        for name in names {
            let exchanges = self
                .sessions
                .iter()
                .flat_map(|sessions| sessions.exchanges(&name));
            let exchanges: Vec<Exchange> = exchanges.flatten().collect();
            if !exchanges.iter().any(is_ours) {
                continue;
            }
            for exchange in &exchanges {
                tool.note_all(exchange.references());
            }
            if self.run.is_none() {
                break;
            }
        }
        // Who knows a reference has it from a summary or a receipt.
        tool.note_all(reference);
        Ok(tool)
    }
}

impl ServerHandler for RetrieveServer {
    fn get_info(&self) -> ServerConfig {
        let mut info = ServerConfig::new(ServerCapabilities::builder().enable_tools().build());
        info.server_info = Implementation::new("baler", env!("CARGO_PKG_VERSION"));
        info.instructions = Some(INSTRUCTIONS.to_owned());
        info
    }

    async fn list_tools(
        &self,
        _: Option<PaginatedRequestParams>,
        _: RequestContext<RoleServer>,
    ) -> Result<ListToolsResult, ErrorData> {
        // In the form of Anthropic, which is closest to that of MCP.
        let definition: Value =
            serde_json::from_str(&Retrieve::definition(Format::Anthropic)).unwrap_or_default();
        let schema = definition["input_schema"]
            .as_object()
            .cloned()
            .unwrap_or_default();
        let description = definition["description"]
            .as_str()
            .unwrap_or_default()
            .to_owned();
        let tool = Tool::new(Retrieve::NAME, description, Arc::new(schema));
        Ok(ListToolsResult::with_all_items(vec![tool]))
    }

    async fn call_tool(
        &self,
        request: CallToolRequestParams,
        _: RequestContext<RoleServer>,
    ) -> Result<CallToolResponse, ErrorData> {
        if request.name != Retrieve::NAME {
            let message = format!(
                "the tool `{}` does not exist; expected `{}`",
                request.name,
                Retrieve::NAME
            );
            return Err(ErrorData::invalid_params(message, None));
        }
        let arguments = Value::Object(request.arguments.unwrap_or_default());
        let answer = self.answer(&arguments).await;
        Ok(CallToolResult::success(vec![ContentBlock::text(answer)]).into())
    }
}
