//! Whether agent programs can run behind baler.

use std::env;
use std::ffi::OsStr;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Stdio;
use std::time::Duration;

use baler_proxy::{Upstream, Upstreams};
use clap::ValueEnum as _;
use serde_json::Value;
use tokio::process::Command;

use super::{Check, network};
use crate::agents::Agent;
use crate::figures;
use crate::proxied::programs::{self, Found};

/// Where `baler proxy` listens by default.
const PROXY: ([u8; 4], u16) = ([127, 0, 0, 1], 7411);

/// How long a program may take to say its version. Some start slowly.
const PATIENCE: Duration = Duration::from_secs(10);

/// Checks the programs that are found, or the one that is named, and the network unless `is_offline`.
pub(crate) async fn checks(named: Option<Agent>, is_offline: bool) -> Vec<Check> {
    let agents = match named {
        Some(agent) => vec![agent],
        None => Agent::value_variants().to_vec(),
    };
    let mut checks = Vec::new();
    for agent in agents {
        let Some(program) = on_path(agent.command()) else {
            if named.is_some() {
                let remedy = "install it, or add its folder to $PATH";
                checks.push(Check::wrong(agent.command(), "not found on $PATH", remedy));
            }
            continue;
        };
        checks.push(version(agent, &program).await);
        checks.push(login(agent));
        checks.push(own_compaction(agent));
        checks.extend(upstreams(agent, is_offline).await);
    }
    if checks.is_empty() {
        let found = "none of claude, codex, gemini and opencode is on $PATH";
        let remedy = "`baler run -- PROGRAM` runs any program that takes a base URL";
        checks.push(Check::warning("programs", found, remedy));
    }
    checks.push(network::proxy(PROXY.into()).await);
    checks
}

/// Finds a program as a shell does.
fn on_path(command: &str) -> Option<PathBuf> {
    let path = env::var_os("PATH")?;
    let mut files = env::split_paths(&path).map(|folder| folder.join(command));
    files.find(|file| is_program(file))
}

#[cfg(unix)]
fn is_program(file: &Path) -> bool {
    use std::os::unix::fs::PermissionsExt as _;
    fs::metadata(file).is_ok_and(|file| file.is_file() && file.permissions().mode() & 0o111 != 0)
}

#[cfg(not(unix))]
fn is_program(file: &Path) -> bool {
    file.is_file()
}

async fn version(agent: Agent, program: &Path) -> Check {
    let mut command = Command::new(program);
    command
        .arg("--version")
        .stdin(Stdio::null())
        .kill_on_drop(true);
    let output = tokio::time::timeout(PATIENCE, command.output()).await;
    match output {
        Ok(Ok(output)) if output.status.success() => {
            let said = String::from_utf8_lossy(&output.stdout);
            let said = figures::shortened(said.lines().next().unwrap_or_default());
            Check::ok(agent.command(), format!("{said} at {}", program.display()))
        }
        _ => Check::wrong(
            agent.command(),
            format!("`{} --version` fails", program.display()),
            "install it again",
        ),
    }
}

/// Checks which upstreams `baler run` would use, and whether they answer.
async fn upstreams(agent: Agent, is_offline: bool) -> Vec<Check> {
    let name = format!("{} upstream", agent.command());
    let plan = programs::plan(OsStr::new(agent.command()), &[], &Found::here(None));
    let remedy = "correct the base URL in the program's settings or in the environment";
    let warning = |told: String| Check::warning(name.clone(), told, remedy);
    let mut checks: Vec<Check> = plan.warnings.into_iter().map(warning).collect();
    let own = plan.upstreams.into_iter();
    let all = own.fold(Upstreams::default(), Upstreams::with);
    let is_used = |upstream: &&Upstream| match agent {
        Agent::Claude => upstream.name() == "anthropic",
        Agent::Codex => upstream.name() == "codex",
        Agent::Gemini => upstream.name() == "gemini",
        // Which of the providers it asks depends on the model that is chosen in it.
        Agent::Opencode => upstream.name().starts_with("opencode-"),
    };
    for upstream in all.iter().filter(is_used) {
        let shown = upstream.to_string();
        let url = shown.split_once('=').map_or(&*shown, |(_, url)| url);
        checks.push(match is_offline {
            true => Check::ok(name.clone(), url),
            false => network::upstream(name.clone(), url).await,
        });
    }
    checks
}

/// Checks whether there is a key or a login. Names where it is, never what it is.
fn login(agent: Agent) -> Check {
    let name = format!("{} login", agent.command());
    let of_provider = codex_key(agent);
    let variables = match agent {
        Agent::Claude => &[
            "ANTHROPIC_API_KEY",
            "ANTHROPIC_AUTH_TOKEN",
            "CLAUDE_CODE_OAUTH_TOKEN",
        ][..],
        Agent::Codex => &["CODEX_API_KEY", "OPENAI_API_KEY"],
        Agent::Gemini => &["GEMINI_API_KEY", "GOOGLE_API_KEY"],
        Agent::Opencode => &["ANTHROPIC_API_KEY", "OPENAI_API_KEY", "GEMINI_API_KEY"],
    };
    let is_set = |name: &&str| env::var_os(name).is_some_and(|value| !value.is_empty());
    let mut variables = of_provider
        .as_deref()
        .into_iter()
        .chain(variables.iter().copied());
    if let Some(variable) = variables.find(is_set) {
        return Check::ok(name, format!("${}", figures::cleaned(variable)));
    }
    let file = match agent {
        Agent::Claude => agent
            .folder()
            .map(|folder| folder.join(".credentials.json")),
        Agent::Codex => agent.folder().map(|folder| folder.join("auth.json")),
        Agent::Gemini => agent.folder().map(|folder| folder.join("oauth_creds.json")),
        Agent::Opencode => env::home_dir().map(|home| home.join(".local/share/opencode/auth.json")),
    };
    match file.filter(|file| file.exists()) {
        Some(file) => Check::ok(name, file.display().to_string()),
        None => Check::warning(
            name,
            "no key in the environment, and no file of a login",
            format!(
                "log in with `{}`, or set its key, if it has none elsewhere",
                agent.command()
            ),
        ),
    }
}

/// Returns the variable that holds the key of the provider that Codex is set to.
fn codex_key(agent: Agent) -> Option<String> {
    let config = toml_of(agent)?;
    let provider = config.get("model_provider")?.as_str()?;
    let provider = config.get("model_providers")?.get(provider)?;
    Some(provider.get("env_key")?.as_str()?.to_owned())
}

/// Checks whether the program would compact by itself before baler does.
fn own_compaction(agent: Agent) -> Check {
    let name = format!("{} compaction", agent.command());
    let (is_off, how) = match agent {
        Agent::Claude => {
            let is_off = |file: PathBuf| json_of(&file)["autoCompactEnabled"] == false;
            let folder = agent.folder().unwrap_or_default();
            let beside = agent.configuration().unwrap_or_default();
            let is_off = is_off(folder.join("settings.json")) || is_off(beside);
            (is_off, "set `autoCompactEnabled` to false in its settings")
        }
        Agent::Codex => {
            let limit = toml_of(agent)
                .and_then(|config| config.get("model_auto_compact_token_limit")?.as_integer());
            let is_off = limit.is_some_and(|limit| limit >= WINDOW);
            (
                is_off,
                "set `model_auto_compact_token_limit` above the window in its config.toml",
            )
        }
        Agent::Gemini => {
            let threshold = settings_of(agent)
                .pointer("/model/compressionThreshold")
                .and_then(Value::as_f64);
            let is_off = threshold.is_some_and(|threshold| threshold >= 1.0);
            (
                is_off,
                "set `model.compressionThreshold` to 1 in its settings.json",
            )
        }
        Agent::Opencode => {
            let is_off = settings_of(agent)["compaction"]["auto"] == false;
            (
                is_off,
                "set `compaction.auto` to false in its opencode.json",
            )
        }
    };
    match is_off {
        true => Check::ok(name, "the program's own is off"),
        false => Check::warning(
            name,
            "the program's own is on, and fires first where the model's window is not larger than --context-window",
            format!("choose a smaller --context-window, or {how}"),
        ),
    }
}

/// The default of --context-window.
const WINDOW: i64 = 200_000;

fn toml_of(agent: Agent) -> Option<toml::Table> {
    let file = agent.configuration().filter(|_| agent == Agent::Codex)?;
    fs::read_to_string(file).ok()?.parse().ok()
}

fn settings_of(agent: Agent) -> Value {
    agent
        .configuration()
        .map_or(Value::Null, |file| json_of(&file))
}

/// Reads a file of settings; `null` if absent or not JSON.
fn json_of(file: &Path) -> Value {
    let text = fs::read_to_string(file).unwrap_or_default();
    serde_json::from_str(&text).unwrap_or_default()
}
