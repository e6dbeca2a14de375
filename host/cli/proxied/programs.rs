//! What programs need to send their requests to a proxy.

use std::collections::BTreeMap;
use std::env;
use std::ffi::{OsStr, OsString};
use std::fs;
use std::net::SocketAddr;
use std::path::{Path, PathBuf};

use baler_proxy::{Upstream, UpstreamError};
use serde_json::{Value, json};

/// The settings of a program for one run.
#[derive(Debug, Default, PartialEq)]
pub(crate) struct Settings {
    /// Where its requests go on to.
    pub(crate) upstreams: Vec<Upstream>,
    /// Arguments before its own.
    pub(crate) arguments: Vec<String>,
    /// Variables of its environment.
    pub(crate) variables: Vec<(&'static str, String)>,
}

/// What is known of the user's own settings.
pub(crate) struct Found {
    variables: BTreeMap<String, String>,
    home: Option<PathBuf>,
    folder: PathBuf,
    /// The command of the server of the tool that retrieves what was removed.
    tool: Option<Vec<String>>,
}

impl Found {
    /// Looks at the environment. `tool`: the arguments with which this program serves the tool that retrieves.
    pub(crate) fn here(tool: Option<Vec<String>>) -> Self {
        let program = env::current_exe()
            .ok()
            .and_then(|path| path.into_os_string().into_string().ok());
        let text = |(name, value): (OsString, OsString)| {
            Some((name.into_string().ok()?, value.into_string().ok()?))
        };
        Self {
            variables: env::vars_os()
                .filter_map(text)
                .filter(|(_, value)| !value.is_empty())
                .collect(),
            home: env::home_dir(),
            folder: env::current_dir().unwrap_or_default(),
            tool: tool.and_then(|tool| Some([vec![program?], tool].concat())),
        }
    }

    fn variable(&self, name: &str) -> Option<&str> {
        self.variables.get(name).map(String::as_str)
    }

    fn folder_of(&self, variable: &str, in_home: &str) -> Option<PathBuf> {
        let typed = self.variable(variable).map(PathBuf::from);
        typed.or_else(|| Some(self.home.as_ref()?.join(in_home)))
    }
}

/// Variables with the base URLs of clients, with the upstream that they name and the path that they end with.
const VARIABLES: [(&str, &str, &str); 5] = [
    ("ANTHROPIC_BASE_URL", "anthropic", ""),
    ("OPENAI_BASE_URL", "openai", "/v1"),
    ("OPENAI_API_BASE", "openai", "/v1"),
    ("GOOGLE_GEMINI_BASE_URL", "gemini", ""),
    ("GEMINI_BASE_URL", "gemini", ""),
];

/// Returns what a program needs to send its requests to `proxy`. What it is set to use now becomes the upstream.
///
/// # Errors
/// A base URL that it is set to use is none.
pub(crate) fn settings(
    program: &OsStr,
    proxy: SocketAddr,
    found: &Found,
) -> Result<Settings, UpstreamError> {
    let mut settings = Settings::default();
    for (variable, upstream, path) in VARIABLES {
        if let Some(url) = found.variable(variable) {
            let base = url.trim_end_matches('/');
            let base = base.strip_suffix(path).unwrap_or(base);
            settings.upstreams.push(Upstream::new(upstream, base)?);
        }
        let url = format!("http://{proxy}/{upstream}{path}");
        settings.variables.push((variable, url));
    }
    let name = Path::new(program).file_stem().and_then(OsStr::to_str);
    match name {
        Some("claude") => claude(&mut settings, found),
        Some("codex") => codex(&mut settings, proxy, found)?,
        Some("opencode") => opencode(&mut settings, proxy, found)?,
        _ => {}
    }
    Ok(settings)
}

/// Claude Code takes servers of tools from an argument.
fn claude(settings: &mut Settings, found: &Found) {
    if let Some([program, arguments @ ..]) = found.tool.as_deref() {
        let servers = json!({"mcpServers": {"baler": {"command": program, "args": arguments}}});
        // In one word, since the option would take the words behind it, too.
        settings.arguments.push(format!("--mcp-config={servers}"));
    }
}

/// Where Codex sends its requests for those who are logged in with ChatGPT.
const CHATGPT: &str = "https://chatgpt.com/backend-api/codex";

/// Codex takes its base URL from its configuration, which arguments overrule.
fn codex(settings: &mut Settings, proxy: SocketAddr, found: &Found) -> Result<(), UpstreamError> {
    // It would speak over WebSockets with another host, whatever its arguments say.
    settings
        .variables
        .retain(|(name, _)| !name.starts_with("OPENAI"));
    let folder = found.folder_of("CODEX_HOME", ".codex");
    let read = |name: &str| fs::read_to_string(folder.as_ref()?.join(name)).ok();
    let config: toml::Table = read("config.toml")
        .and_then(|text| text.parse().ok())
        .unwrap_or_default();
    let provider = config
        .get("model_provider")
        .and_then(toml::Value::as_str)
        .unwrap_or("openai");
    let of_provider = || {
        config
            .get("model_providers")?
            .get(provider)?
            .get("base_url")?
            .as_str()
    };
    let (setting, upstream) = if let Some(base) = of_provider() {
        let setting = format!("model_providers.{provider}.base_url");
        (setting, Upstream::new("codex", base)?)
    } else {
        let login: Value = read("auth.json")
            .and_then(|text| serde_json::from_str(&text).ok())
            .unwrap_or_default();
        let is_chatgpt = login["tokens"].is_object() && login["OPENAI_API_KEY"].is_null();
        let typed = config.get("openai_base_url").and_then(toml::Value::as_str);
        let default = if is_chatgpt {
            CHATGPT
        } else {
            "https://api.openai.com/v1"
        };
        let base = typed
            .or(found.variable("OPENAI_BASE_URL"))
            .unwrap_or(default);
        ("openai_base_url".to_owned(), Upstream::new("codex", base)?)
    };
    settings.upstreams.push(upstream);
    let value = format!("{setting}=\"http://{proxy}/codex\"");
    settings.arguments.extend(["-c".to_owned(), value]);
    if let Some([program, arguments @ ..]) = found.tool.as_deref() {
        // JSON texts and lists of them are TOML's, too.
        let command = format!("mcp_servers.baler.command={}", json!(program));
        let arguments = format!("mcp_servers.baler.args={}", json!(arguments));
        settings
            .arguments
            .extend(["-c".to_owned(), command, "-c".to_owned(), arguments]);
    }
    Ok(())
}

/// Providers of OpenCode that have a base URL of their own, with the upstream and the path that it ends with.
const OPENCODE: [(&str, &str, &str); 3] = [
    ("anthropic", "anthropic", "/v1"),
    ("openai", "openai", "/v1"),
    ("google", "gemini", "/v1beta"),
];

/// OpenCode takes its base URLs from its configuration, over which that of the environment counts.
fn opencode(
    settings: &mut Settings,
    proxy: SocketAddr,
    found: &Found,
) -> Result<(), UpstreamError> {
    let mut providers = serde_json::Map::new();
    let mut set = |provider: &str, upstream: &str, path: &str| {
        let url = format!("http://{proxy}/{upstream}{path}");
        providers.insert(provider.to_owned(), json!({"options": {"baseURL": url}}));
    };
    for (provider, upstream, path) in OPENCODE {
        set(provider, upstream, path);
    }
    for (provider, base) in providers_of_opencode(found) {
        let upstream = format!("opencode-{}", provider.to_ascii_lowercase());
        settings.upstreams.push(Upstream::new(&upstream, &base)?);
        set(&provider, &upstream, "");
    }
    let inline = found.variable("OPENCODE_CONFIG_CONTENT");
    let mut config: Value = inline
        .and_then(|text| serde_json::from_str(text).ok())
        .unwrap_or_else(|| json!({}));
    merge(&mut config, &json!({"provider": providers}));
    if let Some(command) = &found.tool {
        let server = json!({"type": "local", "command": command, "enabled": true});
        merge(&mut config, &json!({"mcp": {"baler": server}}));
    }
    settings
        .variables
        .push(("OPENCODE_CONFIG_CONTENT", config.to_string()));
    Ok(())
}

/// Returns the providers with base URLs in the user's configurations of OpenCode, the last one of each name.
fn providers_of_opencode(found: &Found) -> BTreeMap<String, String> {
    let own = found
        .folder_of("XDG_CONFIG_HOME", ".config")
        .map(|folder| folder.join("opencode"));
    let typed = found.variable("OPENCODE_CONFIG").map(PathBuf::from);
    let mut files: Vec<PathBuf> = Vec::new();
    for folder in own.iter().chain([&found.folder]) {
        files.extend(["opencode.json", "opencode.jsonc"].map(|name| folder.join(name)));
    }
    files.extend(typed);
    let mut providers = BTreeMap::new();
    let mut read = |text: &str| {
        let config: Value = serde_json::from_str(text).unwrap_or_default();
        for (name, provider) in config["provider"].as_object().into_iter().flatten() {
            if let Some(base) = provider.pointer("/options/baseURL").and_then(Value::as_str) {
                providers.insert(name.clone(), base.to_owned());
            }
        }
    };
    for file in files {
        if let Ok(text) = fs::read_to_string(file) {
            read(&text);
        }
    }
    if let Some(inline) = found.variable("OPENCODE_CONFIG_CONTENT") {
        read(inline);
    }
    providers
}

/// Sets members of an object, and of those within it.
fn merge(value: &mut Value, over: &Value) {
    match (value, over) {
        (Value::Object(value), Value::Object(over)) => {
            for (name, over) in over {
                merge(value.entry(name).or_insert(Value::Null), over);
            }
        }
        (value, over) => *value = over.clone(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn found(variables: &[(&str, &str)], home: &Path) -> Found {
        let owned = |(name, value): &(&str, &str)| ((*name).to_owned(), (*value).to_owned());
        Found {
            variables: variables.iter().map(owned).collect(),
            home: Some(home.to_owned()),
            folder: home.join("work"),
            tool: Some(
                ["/bin/baler", "mcp", "--run", "1"]
                    .map(str::to_owned)
                    .to_vec(),
            ),
        }
    }

    fn of(program: &str, found: &Found) -> Settings {
        let proxy = "127.0.0.1:9".parse().expect("an address");
        settings(OsStr::new(program), proxy, found).expect("settings")
    }

    fn upstreams(settings: &Settings) -> Vec<String> {
        settings.upstreams.iter().map(ToString::to_string).collect()
    }

    #[test]
    fn a_program_gets_base_urls_of_the_proxy_and_its_own_become_upstreams() {
        let home = tempfile::tempdir().expect("a folder");
        let own = [("ANTHROPIC_BASE_URL", "https://gateway.example/team/")];
        let settings = of("/usr/bin/claude", &found(&own, home.path()));
        assert_eq!(
            upstreams(&settings),
            ["anthropic=https://gateway.example/team"]
        );
        let variable = (
            "ANTHROPIC_BASE_URL",
            "http://127.0.0.1:9/anthropic".to_owned(),
        );
        assert!(settings.variables.contains(&variable));
        let tool = r#"--mcp-config={"mcpServers":{"baler":{"args":["mcp","--run","1"],"command":"/bin/baler"}}}"#;
        assert_eq!(settings.arguments, [tool]);
        let own = [("OPENAI_BASE_URL", "https://gateway.example/v1")];
        let settings = of("aider", &found(&own, home.path()));
        assert_eq!(upstreams(&settings), ["openai=https://gateway.example"]);
        let variable = ("OPENAI_BASE_URL", "http://127.0.0.1:9/openai/v1".to_owned());
        assert!(settings.variables.contains(&variable));
    }

    #[test]
    fn codex_gets_the_setting_of_the_provider_that_it_uses() {
        let home = tempfile::tempdir().expect("a folder");
        let folder = home.path().join(".codex");
        fs::create_dir(&folder).expect("a folder");
        let found = found(&[], home.path());
        let plain = of("codex", &found);
        assert_eq!(
            plain.arguments,
            [
                "-c",
                "openai_base_url=\"http://127.0.0.1:9/codex\"",
                "-c",
                r#"mcp_servers.baler.command="/bin/baler""#,
                "-c",
                r#"mcp_servers.baler.args=["mcp","--run","1"]"#
            ]
        );
        assert_eq!(upstreams(&plain), ["codex=https://api.openai.com/v1"]);
        assert!(
            plain
                .variables
                .iter()
                .all(|(name, _)| !name.starts_with("OPENAI"))
        );

        let login = r#"{"OPENAI_API_KEY": null, "tokens": {"access_token": "x"}}"#;
        fs::write(folder.join("auth.json"), login).expect("a file");
        let chatgpt = of("codex", &found);
        assert_eq!(
            upstreams(&chatgpt),
            ["codex=https://chatgpt.com/backend-api/codex"]
        );

        let config = "model_provider = \"ours\"\n[model_providers.ours]\nbase_url = \"http://localhost:1/v1\"\n";
        fs::write(folder.join("config.toml"), config).expect("a file");
        let ours = of("codex", &found);
        assert_eq!(
            ours.arguments[1],
            "model_providers.ours.base_url=\"http://127.0.0.1:9/codex\""
        );
        assert_eq!(upstreams(&ours), ["codex=http://localhost:1/v1"]);
    }

    #[test]
    fn opencode_gets_a_configuration_for_all_of_its_providers() {
        let home = tempfile::tempdir().expect("a folder");
        let folder = home.path().join(".config/opencode");
        fs::create_dir_all(&folder).expect("a folder");
        let config = r#"{"provider": {"ours": {"npm": "x", "options": {"baseURL": "http://localhost:1/v1"}}}}"#;
        fs::write(folder.join("opencode.json"), config).expect("a file");
        let inline = [("OPENCODE_CONFIG_CONTENT", r#"{"share": "disabled"}"#)];
        let settings = of("opencode", &found(&inline, home.path()));
        assert_eq!(
            upstreams(&settings),
            ["opencode-ours=http://localhost:1/v1"]
        );
        let (_, content) = settings.variables.last().expect("a variable");
        let content: Value = serde_json::from_str(content).expect("JSON");
        assert_eq!(content["share"], "disabled");
        assert_eq!(
            content["provider"]["ours"]["options"]["baseURL"],
            "http://127.0.0.1:9/opencode-ours"
        );
        assert_eq!(
            content["provider"]["google"]["options"]["baseURL"],
            "http://127.0.0.1:9/gemini/v1beta"
        );
    }
}
