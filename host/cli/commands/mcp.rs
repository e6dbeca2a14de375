use std::sync::Arc;

use anyhow::{Context as _, anyhow};
use baler_host::Format;
use baler_host::archive::Retrieve;
use baler_proxy::{Exchange, Sessions};
use clap::Args;
use rmcp::handler::server::ServerHandler;
use rmcp::model::{
    CallToolRequestParams, CallToolResponse, CallToolResult, ContentBlock, ErrorData,
    Implementation, ListToolsResult, PaginatedRequestParams, ServerCapabilities, ServerConfig,
    Tool,
};
use rmcp::service::{RequestContext, RoleServer, ServiceExt as _};
use serde_json::Value;

use crate::archive::ArchiveArguments;
use crate::exit::{Exit, Failure};
use crate::settings;

/// Let an agent's model retrieve what was removed from its session, as a tool by the Model Context Protocol
///
/// Speaks MCP on standard input and output. The tool `retrieve` returns removed messages by their reference, or searches
/// those of the session. `baler run` gives it to Claude Code, Codex and OpenCode by itself, for their own session.
#[derive(Debug, Args)]
#[command(after_help = AFTER)]
pub(crate) struct McpCommand {
    /// The run of `baler run` whose sessions are searched [default: the session with the newest request]
    #[arg(long, value_name = "ID")]
    run: Option<String>,

    #[command(flatten)]
    archive: ArchiveArguments,
}

const AFTER: &str = "\
Example, for an agent behind `baler proxy`:
  claude mcp add baler -- baler mcp

Exit codes: 0 the agent has ended, 1 baler failed, 2 invalid usage";

/// Instructions for the agent's model, which the server sends when it is initialised.
const INSTRUCTIONS: &str = "Earlier parts of this conversation may have been removed to save context; text in <baler:summary> tags stands in their place. The tool `retrieve` returns them word for word: search with `query`, or name a `reference`.";

impl McpCommand {
    pub(crate) async fn exec(self) -> Result<Exit, Failure> {
        let state = settings::state_folder(self.archive.state());
        let sessions = state.map(|state| Sessions::open(state.join("sessions")));
        let server = RetrieveServer {
            archive: self.archive,
            sessions: sessions.transpose().map_err(anyhow::Error::from)?,
            run: self.run,
        };
        let service = server
            .serve(rmcp::transport::io::stdio())
            .await
            .map_err(|error| anyhow!("the agent does not speak MCP: {error}"))?;
        service
            .waiting()
            .await
            .context("the connection to the agent broke")?;
        Ok(Exit::Done)
    }
}

/// A server with the tool.
struct RetrieveServer {
    /// Is opened when the model asks: before the first compaction there may be none.
    archive: ArchiveArguments,
    sessions: Option<Sessions>,
    run: Option<String>,
}

impl RetrieveServer {
    /// Returns the tool with what it may show: what was removed from the sessions of the run, else from the newest one.
    fn tool(&self, arguments: &Value) -> Result<Retrieve, Failure> {
        let mut tool = Retrieve::new(self.archive.open()?);
        let names = self.sessions.iter().flat_map(Sessions::names);
        let is_ours = |exchange: &Exchange| self.run.is_none() || exchange.run == self.run;
        for name in names {
            let exchanges = self
                .sessions
                .iter()
                .flat_map(|sessions| sessions.exchanges(&name));
            let ours: Vec<Exchange> = exchanges.flatten().filter(is_ours).collect();
            let is_found = !ours.is_empty();
            for exchange in ours {
                tool.note_all(exchange.references());
            }
            if self.run.is_none() && is_found {
                break;
            }
        }
        // Who knows a reference has it from a summary or a receipt.
        tool.note_all(arguments["reference"].as_str());
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
        let answer = match self.tool(&arguments) {
            Ok(tool) => tool.answer(&arguments.to_string()).await,
            Err(_) => "Nothing was removed so far.".to_owned(),
        };
        Ok(CallToolResult::success(vec![ContentBlock::text(answer)]).into())
    }
}
