//! OpenCode: base URLs from its configuration, over which that of the environment counts.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

use serde_json::{Value, json};

use super::{Found, PROXY, Plan, jsonc, merge};

/// Providers whose base URLs need no configuration: the variable that sets it, the upstream with its URL, and the path
/// that the base URL ends with.
const PROVIDERS: [(&str, Option<&str>, &str, &str, &str); 3] = [
    (
        "anthropic",
        Some("ANTHROPIC_BASE_URL"),
        "anthropic",
        "https://api.anthropic.com",
        "/v1",
    ),
    (
        "openai",
        Some("OPENAI_BASE_URL"),
        "openai",
        "https://api.openai.com",
        "/v1",
    ),
    (
        "google",
        None,
        "gemini",
        "https://generativelanguage.googleapis.com",
        "/v1beta",
    ),
];

pub(super) fn plan(plan: &mut Plan, found: &Found) {
    let inline = found.variable(CONTENT).map(jsonc::parse);
    let mut config = match inline {
        None => json!({}),
        Some(Some(config)) if config.is_object() => config,
        Some(_) => {
            plan.warnings.push(format!(
                "OpenCode's requests do not pass through baler: {CONTENT} is not a JSON object, and stays as it is"
            ));
            // They lack the version, which OpenCode expects in them.
            plan.variables.retain(|(_, value)| !value.contains(PROXY));
            return;
        }
    };
    let mut providers = serde_json::Map::new();
    let mut set = |provider: &str, proxy: String| {
        providers.insert(provider.to_owned(), json!({"options": {"baseURL": proxy}}));
    };
    let mut own = own(plan, found);
    for (provider, variable, upstream, url, path) in PROVIDERS {
        if own.contains_key(provider) {
            continue;
        }
        if let Some(base) = variable.and_then(|name| found.variable(name)) {
            own.insert(provider.to_owned(), Some(base.to_owned()));
        } else if let Some(proxy) = plan.upstream(upstream, url, "the URL of a provider") {
            set(provider, proxy + path);
        }
    }
    for (provider, base) in own {
        let setting = format!("the base URL of OpenCode's provider `{provider}`");
        let Some(base) = base else {
            plan.warnings.push(format!(
                "{setting} stays as it is, so its requests do not pass through baler: it names what cannot be read"
            ));
            continue;
        };
        if let Some(proxy) = plan.upstream(&format!("opencode-{provider}"), &base, &setting) {
            set(&provider, proxy);
        }
    }
    merge(&mut config, &json!({"provider": providers}));
    if let Some(command) = &found.tool {
        let server = json!({"type": "local", "command": command, "enabled": true});
        merge(&mut config, &json!({"mcp": {"baler": server}}));
    }
    plan.variables.push((CONTENT, config.to_string()));
}

/// The variable with a configuration that counts over those in files.
const CONTENT: &str = "OPENCODE_CONFIG_CONTENT";

/// Returns the base URLs of providers in the user's configurations, the last one of each; `None` where it cannot be read.
fn own(plan: &mut Plan, found: &Found) -> BTreeMap<String, Option<String>> {
    let mut own = BTreeMap::new();
    let mut add = |config: &Value, folder: &Path| {
        for (name, provider) in config["provider"].as_object().into_iter().flatten() {
            if let Some(base) = provider.pointer("/options/baseURL").and_then(Value::as_str) {
                own.insert(name.clone(), resolved(base, folder, found));
            }
        }
    };
    for file in files(found) {
        let Ok(text) = fs::read_to_string(&file) else {
            continue;
        };
        match jsonc::parse(&text) {
            Some(config) => add(&config, file.parent().unwrap_or(&found.folder)),
            None => plan.warnings.push(format!(
                "{} is no JSON that can be read; requests to the providers in it do not pass through baler",
                file.display()
            )),
        }
    }
    if let Some(config) = found.variable(CONTENT).and_then(jsonc::parse) {
        add(&config, &found.folder);
    }
    own
}

/// Returns the files that OpenCode reads, the last of which counts.
fn files(found: &Found) -> Vec<PathBuf> {
    let in_folder =
        |folder: PathBuf| ["opencode.json", "opencode.jsonc"].map(|name| folder.join(name));
    let mut files = Vec::new();
    if let Some(folder) = found.folder_of("XDG_CONFIG_HOME", ".config") {
        let folder = folder.join("opencode");
        files.push(folder.join("config.json"));
        files.extend(in_folder(folder));
    }
    let typed = found.variable("OPENCODE_CONFIG");
    files.extend(typed.map(|path| found.folder.join(path)));
    let mut folders: Vec<&Path> = Vec::new();
    for folder in found.folder.ancestors() {
        folders.push(folder);
        if folder.join(".git").exists() {
            break;
        }
    }
    files.extend(
        folders
            .iter()
            .rev()
            .flat_map(|folder| in_folder(folder.to_path_buf())),
    );
    let hidden = folders.into_iter().chain(found.home.as_deref());
    files.extend(hidden.flat_map(|folder| in_folder(folder.join(".opencode"))));
    let last = found.variable("OPENCODE_CONFIG_DIR");
    files.extend(last.into_iter().flat_map(|folder| in_folder(folder.into())));
    files
}

/// Puts in place what `{env:NAME}` and `{file:PATH}` stand for. `None` if it cannot be read.
fn resolved(text: &str, folder: &Path, found: &Found) -> Option<String> {
    let Some((before, rest)) = text.split_once('{') else {
        return Some(text.to_owned());
    };
    let (reference, behind) = rest.split_once('}')?;
    let value = if let Some(name) = reference.strip_prefix("env:") {
        found.variable(name)?.to_owned()
    } else {
        let path = reference.strip_prefix("file:")?;
        let path = match path.strip_prefix("~/") {
            Some(path) => found.home.as_ref()?.join(path),
            None => folder.join(path),
        };
        fs::read_to_string(path).ok()?.trim().to_owned()
    };
    Some(format!(
        "{before}{value}{}",
        resolved(behind, folder, found)?
    ))
}

#[cfg(test)]
mod tests {
    use super::super::Settings;
    use super::super::tests::{found, of, upstreams, variable, warns, write};
    use super::*;

    fn content(settings: &Settings) -> Value {
        let content = variable(settings, CONTENT).expect("a configuration");
        serde_json::from_str(content).expect("JSON")
    }

    fn base<'c>(content: &'c Value, provider: &str) -> &'c Value {
        &content["provider"][provider]["options"]["baseURL"]
    }

    #[test]
    fn it_gets_a_configuration_for_all_of_its_providers() {
        let home = tempfile::tempdir().expect("a folder");
        let config = r#"{
            // Ours, on this machine.
            "provider": {"Our_own": {"npm": "x", "options": {"baseURL": "http://localhost:1/v1",}}},
        }"#;
        write(home.path(), ".config/opencode/opencode.jsonc", config);
        let inline = [(CONTENT, r#"{"share": "disabled", /* … */}"#)];
        let (plan, settings) = of(&["opencode"], &found(&inline, home.path()));
        assert_eq!(
            upstreams(&plan),
            [
                "anthropic=https://api.anthropic.com",
                "openai=https://api.openai.com",
                "gemini=https://generativelanguage.googleapis.com",
                "opencode-our-own=http://localhost:1/v1"
            ]
        );
        let content = content(&settings);
        assert_eq!(content["share"], "disabled");
        assert_eq!(content["mcp"]["baler"]["command"][0], "/bin/baler");
        assert_eq!(
            base(&content, "Our_own"),
            "http://127.0.0.1:9/opencode-our-own"
        );
        assert_eq!(base(&content, "google"), "http://127.0.0.1:9/gemini/v1beta");
        assert!(plan.warnings.is_empty(), "{:?}", plan.warnings);
    }

    #[test]
    fn the_base_url_of_the_environment_is_the_whole_one_and_the_folder_counts_over_it() {
        let home = tempfile::tempdir().expect("a folder");
        let own = [
            ("ANTHROPIC_BASE_URL", "https://a.example/x"),
            ("OPENAI_BASE_URL", "https://o.example/v1"),
            ("GOOGLE_GEMINI_BASE_URL", "https://g.example"),
        ];
        let config =
            r#"{"provider": {"openai": {"options": {"baseURL": "https://work.example"}}}}"#;
        write(home.path(), "work/opencode.json", config);
        let (plan, settings) = of(&["opencode"], &found(&own, home.path()));
        let content = content(&settings);
        for (provider, url, upstream) in [
            (
                "anthropic",
                "opencode-anthropic",
                "opencode-anthropic=https://a.example/x",
            ),
            (
                "openai",
                "opencode-openai",
                "opencode-openai=https://work.example",
            ),
            // OpenCode does not read the variable of gemini-cli.
            (
                "google",
                "gemini-2/v1beta",
                "gemini-2=https://generativelanguage.googleapis.com",
            ),
        ] {
            assert_eq!(
                base(&content, provider),
                &json!(format!("http://127.0.0.1:9/{url}"))
            );
            assert!(
                upstreams(&plan).contains(&upstream.to_owned()),
                "{upstream}"
            );
        }
    }

    #[test]
    fn names_of_providers_that_differ_in_other_characters_only_have_an_upstream_each() {
        let home = tempfile::tempdir().expect("a folder");
        let config = r#"{"provider": {"a_b": {"options": {"baseURL": "http://localhost:1"}}, "a.b": {"options": {"baseURL": "http://localhost:2"}}}}"#;
        let (plan, settings) = of(&["opencode"], &found(&[(CONTENT, config)], home.path()));
        let content = content(&settings);
        assert_eq!(base(&content, "a.b"), "http://127.0.0.1:9/opencode-a-b");
        assert_eq!(base(&content, "a_b"), "http://127.0.0.1:9/opencode-a-b-2");
        let last = upstreams(&plan).pop();
        assert_eq!(last.as_deref(), Some("opencode-a-b-2=http://localhost:1"));
    }

    #[test]
    fn references_in_base_urls_are_read() {
        let home = tempfile::tempdir().expect("a folder");
        let variables = [("THEIRS", "theirs.example")];
        write(home.path(), "work/host", "ours.example\n");
        let config = r#"{"provider": {
            "a": {"options": {"baseURL": "https://{env:THEIRS}/{file:host}/v1"}},
            "b": {"options": {"baseURL": "https://{file:lost}/v1"}}
        }}"#;
        write(home.path(), "work/opencode.json", config);
        let (plan, settings) = of(&["opencode"], &found(&variables, home.path()));
        let last = upstreams(&plan).pop();
        assert_eq!(
            last.as_deref(),
            Some("opencode-a=https://theirs.example/ours.example/v1")
        );
        assert!(warns(&plan, "provider `b` stays"), "{:?}", plan.warnings);
        assert!(base(&content(&settings), "b").is_null());
    }

    #[test]
    fn a_configuration_that_cannot_be_read_stays_as_it_is() {
        let home = tempfile::tempdir().expect("a folder");
        let inline = [(CONTENT, r#"{"permission": {"bash": "deny"}"#)];
        let (plan, settings) = of(&["opencode"], &found(&inline, home.path()));
        assert!(warns(&plan, CONTENT), "{:?}", plan.warnings);
        assert!(settings.variables.is_empty(), "{:?}", settings.variables);
        write(home.path(), "work/opencode.json", "provider: {}");
        let (plan, settings) = of(&["opencode"], &found(&[], home.path()));
        assert!(warns(&plan, "opencode.json is no JSON"));
        assert!(variable(&settings, CONTENT).is_some());
    }
}
