//! What programs need to send their requests to a proxy.

mod claude;
mod codex;
mod gemini;
mod jsonc;
mod opencode;

use std::collections::BTreeMap;
use std::env;
use std::ffi::{OsStr, OsString};
use std::net::SocketAddr;
use std::path::{Path, PathBuf};

use baler_proxy::Upstream;
use serde_json::Value;

/// Stands for the URL of the proxy until its port is known. No host has such a name.
const PROXY: &str = "http://proxy.invalid";

/// What a program needs to send its requests to a proxy. What it is set to use now becomes the upstreams.
#[derive(Debug, Default)]
pub(crate) struct Plan {
    /// Where its requests go on to.
    pub(crate) upstreams: Vec<Upstream>,
    /// What stays as it is, and why.
    pub(crate) warnings: Vec<String>,
    arguments: Vec<String>,
    variables: Vec<(&'static str, String)>,
}

/// The settings of a program for one run.
#[derive(Debug)]
pub(crate) struct Settings {
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
    /// The root of the file system.
    root: PathBuf,
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
            root: PathBuf::from("/"),
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

/// Reads what a program is set to use, once. `arguments`: those that the user gives it.
pub(crate) fn plan(program: &OsStr, arguments: &[OsString], found: &Found) -> Plan {
    let mut plan = Plan::default();
    plan.base_urls(found);
    plan.no_proxy(found);
    let options: Vec<String> = arguments
        .iter()
        .map(|argument| argument.to_string_lossy().into_owned())
        .take_while(|argument| argument != "--")
        .collect();
    let name = Path::new(program).file_stem().and_then(OsStr::to_str);
    match name {
        Some("claude") => claude::plan(&mut plan, &options, found),
        Some("codex") => codex::plan(&mut plan, &options, found),
        Some("gemini") => gemini::plan(&mut plan, found),
        Some("opencode") => opencode::plan(&mut plan, found),
        _ => {}
    }
    plan
}

/// Variables with the base URLs of clients, with the upstream that they name and the path that they end with.
const BASE_URLS: [(&str, &str, &str); 5] = [
    ("ANTHROPIC_BASE_URL", "anthropic", ""),
    ("OPENAI_BASE_URL", "openai", "/v1"),
    ("OPENAI_API_BASE", "openai", "/v1"),
    ("GOOGLE_GEMINI_BASE_URL", "gemini", ""),
    ("GEMINI_BASE_URL", "gemini", ""),
];

/// Variables with the proxies of clients.
const PROXIES: [&str; 6] = [
    "HTTP_PROXY",
    "http_proxy",
    "HTTPS_PROXY",
    "https_proxy",
    "ALL_PROXY",
    "all_proxy",
];

impl Plan {
    /// Returns the settings for a proxy at an address.
    pub(crate) fn settings(&self, proxy: SocketAddr) -> Settings {
        let proxy = format!("http://{proxy}");
        let filled = |text: &String| text.replace(PROXY, &proxy);
        let variables = self.variables.iter();
        Settings {
            arguments: self.arguments.iter().map(filled).collect(),
            variables: variables
                .map(|(name, value)| (*name, filled(value)))
                .collect(),
        }
    }

    fn base_urls(&mut self, found: &Found) {
        for (variable, upstream, path) in BASE_URLS {
            let Some(url) = found.variable(variable) else {
                let mut others = BASE_URLS.iter().filter(|(_, other, _)| *other == upstream);
                // Programs read the other one where this one is not set.
                if !others.any(|(other, ..)| found.variable(other).is_some()) {
                    let url = format!("{PROXY}/{upstream}{path}");
                    self.variables.push((variable, url));
                }
                continue;
            };
            let url = url.trim_end_matches('/');
            let cut = url.strip_suffix(path);
            let (base, path) = cut.map_or((url, ""), |base| (base, path));
            if let Some(proxy) = self.upstream(upstream, base, variable) {
                self.variables.push((variable, proxy + path));
            }
        }
    }

    /// Keeps the program from going to this machine through another proxy.
    fn no_proxy(&mut self, found: &Found) {
        if !PROXIES.iter().any(|name| found.variable(name).is_some()) {
            return;
        }
        for (name, other) in [("NO_PROXY", "no_proxy"), ("no_proxy", "NO_PROXY")] {
            let value = match found.variable(name).or(found.variable(other)) {
                Some("*") => continue,
                Some(own) => format!("{own},{LOCAL}"),
                None => LOCAL.to_owned(),
            };
            self.variables.push((name, value));
        }
    }

    /// Adds an upstream, and returns the URL at which the proxy has it. If there is another one of that name, a number
    /// distinguishes them. `setting`: what sets its URL, which stays as it is if that cannot be used.
    fn upstream(&mut self, name: &str, url: &str, setting: &str) -> Option<String> {
        let valid = |character: char| match character.to_ascii_lowercase() {
            character @ ('a'..='z' | '0'..='9') => character,
            _ => '-',
        };
        let name: String = name.chars().map(valid).collect();
        let mut numbered = name.clone();
        for number in 2.. {
            let upstream = match Upstream::new(&numbered, url) {
                Ok(upstream) => upstream,
                Err(error) => {
                    self.warnings.push(format!(
                        "{setting} stays as it is, so requests to it do not pass through baler: {error}"
                    ));
                    return None;
                }
            };
            let mut others = self.upstreams.iter();
            match others.find(|other| other.name() == numbered) {
                Some(other) if *other != upstream => numbered = format!("{name}-{number}"),
                Some(_) => break,
                None => {
                    self.upstreams.push(upstream);
                    break;
                }
            }
        }
        Some(format!("{PROXY}/{numbered}"))
    }
}

/// This machine, for variables that name what no proxy is used for.
const LOCAL: &str = "127.0.0.1,localhost";

/// Returns the values of an option: `-p VALUE`, `-pVALUE`, `--profile VALUE`, `--profile=VALUE`.
fn values<'a>(arguments: &'a [String], names: &[&str]) -> Vec<&'a str> {
    let mut values = Vec::new();
    let mut rest = arguments.iter();
    while let Some(argument) = rest.next() {
        let Some((name, value)) = names
            .iter()
            .find_map(|name| Some((name, argument.strip_prefix(*name)?)))
        else {
            continue;
        };
        match value.strip_prefix('=') {
            Some(value) => values.push(value),
            None if value.is_empty() => values.extend(rest.next().map(String::as_str)),
            None if name.starts_with("--") => {}
            None => values.push(value),
        }
    }
    values
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
    use std::fs;

    use super::*;

    /// What is found where the home is the root of the file system, too.
    pub(super) fn found(variables: &[(&str, &str)], home: &Path) -> Found {
        let owned = |(name, value): &(&str, &str)| ((*name).to_owned(), (*value).to_owned());
        Found {
            variables: variables.iter().map(owned).collect(),
            home: Some(home.to_owned()),
            folder: home.join("work"),
            root: home.to_owned(),
            tool: Some(
                ["/bin/baler", "mcp", "--run", "1"]
                    .map(str::to_owned)
                    .to_vec(),
            ),
        }
    }

    /// The plan for a program with its arguments, and the settings for a proxy.
    pub(super) fn of(words: &[&str], found: &Found) -> (Plan, Settings) {
        let words: Vec<OsString> = words.iter().map(OsString::from).collect();
        let (program, arguments) = words.split_first().expect("a program");
        let plan = plan(program, arguments, found);
        let settings = plan.settings("127.0.0.1:9".parse().expect("an address"));
        (plan, settings)
    }

    pub(super) fn upstreams(plan: &Plan) -> Vec<String> {
        plan.upstreams.iter().map(ToString::to_string).collect()
    }

    pub(super) fn variable<'s>(settings: &'s Settings, name: &str) -> Option<&'s str> {
        let mut variables = settings.variables.iter();
        let (_, value) = variables.find(|(other, _)| *other == name)?;
        Some(value)
    }

    pub(super) fn warns(plan: &Plan, words: &str) -> bool {
        plan.warnings.iter().any(|warning| warning.contains(words))
    }

    pub(super) fn write(home: &Path, name: &str, content: &str) {
        let path = home.join(name);
        fs::create_dir_all(path.parent().expect("a folder")).expect("a folder");
        fs::write(path, content).expect("a file");
    }

    #[test]
    fn a_program_gets_base_urls_of_the_proxy_and_its_own_become_upstreams() {
        let home = tempfile::tempdir().expect("a folder");
        let own = [("ANTHROPIC_BASE_URL", "https://gateway.example/team/")];
        let (plan, settings) = of(&["/usr/bin/claude"], &found(&own, home.path()));
        assert_eq!(upstreams(&plan), ["anthropic=https://gateway.example/team"]);
        assert_eq!(
            variable(&settings, "ANTHROPIC_BASE_URL"),
            Some("http://127.0.0.1:9/anthropic")
        );
        let tool = r#"--mcp-config={"mcpServers":{"baler":{"args":["mcp","--run","1"],"command":"/bin/baler"}}}"#;
        assert_eq!(settings.arguments, [tool]);
    }

    #[test]
    fn a_base_url_of_the_environment_has_its_own_upstream_and_path() {
        let home = tempfile::tempdir().expect("a folder");
        let (one, other) = ("OPENAI_BASE_URL", "OPENAI_API_BASE");
        let v1 = Some("http://127.0.0.1:9/openai/v1");
        for (own, as_upstreams, in_one, in_other) in [
            (vec![], vec![], v1, v1),
            (
                vec![(one, "https://a.example/v1/")],
                vec!["openai=https://a.example"],
                v1,
                None,
            ),
            (
                vec![
                    (one, "https://a.example/v1"),
                    (other, "https://a.example/v1"),
                ],
                vec!["openai=https://a.example"],
                v1,
                v1,
            ),
            (
                vec![
                    (one, "https://a.example/v1"),
                    (other, "https://b.example/v1"),
                ],
                vec!["openai=https://a.example", "openai-2=https://b.example"],
                v1,
                Some("http://127.0.0.1:9/openai-2/v1"),
            ),
            (
                vec![(one, "https://a.example/api/paas/v4")],
                vec!["openai=https://a.example/api/paas/v4"],
                Some("http://127.0.0.1:9/openai"),
                None,
            ),
        ] {
            let (plan, settings) = of(&["aider"], &found(&own, home.path()));
            assert_eq!(upstreams(&plan), as_upstreams, "{own:?}");
            assert_eq!(variable(&settings, one), in_one, "{own:?}");
            assert_eq!(variable(&settings, other), in_other, "{own:?}");
        }
    }

    #[test]
    fn a_base_url_that_is_none_stays_as_it_is() {
        let home = tempfile::tempdir().expect("a folder");
        let own = [("OPENAI_BASE_URL", "localhost:8000")];
        let (plan, settings) = of(&["aider"], &found(&own, home.path()));
        assert!(warns(&plan, "OPENAI_BASE_URL stays"), "{:?}", plan.warnings);
        assert_eq!(variable(&settings, "OPENAI_BASE_URL"), None);
        assert!(variable(&settings, "ANTHROPIC_BASE_URL").is_some());
    }

    #[test]
    fn a_program_does_not_go_to_this_machine_through_another_proxy() {
        let home = tempfile::tempdir().expect("a folder");
        let both = |own: &[(&str, &str)]| {
            let (_, settings) = of(&["aider"], &found(own, home.path()));
            ["NO_PROXY", "no_proxy"].map(|name| variable(&settings, name).map(str::to_owned))
        };
        let is = |value: &str| Some(value.to_owned());
        let local = "127.0.0.1,localhost";
        assert_eq!(both(&[]), [None, None]);
        let proxy = ("http_proxy", "http://proxy.example");
        assert_eq!(both(&[proxy]), [is(local), is(local)]);
        let own = is("corp.example,127.0.0.1,localhost");
        let corp = ("NO_PROXY", "corp.example");
        assert_eq!(both(&[proxy, corp]), [own.clone(), own.clone()]);
        let other = ("no_proxy", "*");
        assert_eq!(both(&[proxy, corp, other]), [own, None]);
    }
}
