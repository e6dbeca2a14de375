//! Codex: a base URL from its configuration, which arguments overrule.

use std::fs;

use serde_json::{Value, json};

use super::{Found, Plan, merge, values};

/// Where Codex sends its requests for those who are logged in with ChatGPT, and for others.
const CHATGPT: &str = "https://chatgpt.com/backend-api/codex";
const OPENAI: &str = "https://api.openai.com/v1";

pub(super) fn plan(plan: &mut Plan, arguments: &[String], found: &Found) {
    // It would speak over WebSockets with another host, whatever its arguments say.
    plan.variables
        .retain(|(name, _)| !name.starts_with("OPENAI"));
    base_url(plan, arguments, found);
    if let Some([program, of_tool @ ..]) = found.tool.as_deref() {
        // JSON texts and lists of them are TOML's, too.
        let command = format!("mcp_servers.baler.command={}", json!(program));
        let of_tool = format!("mcp_servers.baler.args={}", json!(of_tool));
        plan.arguments
            .extend(["-c".to_owned(), command, "-c".to_owned(), of_tool]);
    }
}

fn base_url(plan: &mut Plan, arguments: &[String], found: &Found) {
    let typed = typed(arguments);
    let config = config(arguments, &typed, found);
    let provider = config["model_provider"].as_str().unwrap_or("openai");
    let of_provider = |config: &Value| {
        let base = &config["model_providers"][provider]["base_url"];
        base.as_str().map(str::to_owned)
    };
    let base = of_provider(&config);
    let is_typed = match &base {
        Some(_) => of_provider(&typed).is_some(),
        None => typed["openai_base_url"].is_string(),
    };
    let why = if arguments.iter().any(|word| word == "--oss") {
        "`--oss` sends them to this machine"
    } else if base.is_none() && provider != "openai" {
        "its configuration has no base URL for its `model_provider`"
    } else if is_typed {
        "its arguments set the base URL; set it in its config.toml"
    } else {
        let is_own = base.is_some();
        let base = base.unwrap_or_else(|| of_openai(&config, found));
        if let Some(proxy) = plan.upstream("codex", &base, "the base URL of Codex") {
            let setting = if is_own {
                setting(provider, &proxy)
            } else {
                format!("openai_base_url=\"{proxy}\"")
            };
            plan.arguments.extend(["-c".to_owned(), setting]);
        }
        return;
    };
    plan.warnings
        .push(format!("Codex's requests do not pass through baler: {why}"));
}

/// Returns the base URL for the models of OpenAI.
fn of_openai(config: &Value, found: &Found) -> String {
    let login: Value = in_folder(found, "auth.json")
        .and_then(|text| serde_json::from_str(&text).ok())
        .unwrap_or_default();
    let is_chatgpt = login["tokens"].is_object() && login["OPENAI_API_KEY"].is_null();
    let default = if is_chatgpt { CHATGPT } else { OPENAI };
    let typed = config["openai_base_url"].as_str();
    typed.unwrap_or(default).to_owned()
}

/// Writes the setting of a provider's base URL.
fn setting(provider: &str, url: &str) -> String {
    if provider.contains('.') {
        // Codex divides keys at each point, also within quotes, and merges tables.
        return format!(
            "model_providers={{{}={{base_url=\"{url}\"}}}}",
            json!(provider)
        );
    }
    format!("model_providers.{provider}.base_url=\"{url}\"")
}

/// Returns the configuration: of the machine, of the user, of the profile (a file, formerly a table), and what is typed.
fn config(arguments: &[String], typed: &Value, found: &Found) -> Value {
    let system = found.root.join("etc/codex/config.toml");
    let mut config = parsed(fs::read_to_string(system).ok());
    merge(&mut config, &parsed(in_folder(found, "config.toml")));
    merge(&mut config, typed);
    let profiles = values(arguments, &["-p", "--profile"]);
    let profile = profiles.last().copied().or(config["profile"].as_str());
    if let Some(profile) = profile.map(str::to_owned) {
        let file = in_folder(found, &format!("{profile}.config.toml"));
        merge(&mut config, &parsed(file));
        let table = config["profiles"][&profile].clone();
        if table.is_object() {
            merge(&mut config, &table);
        }
        merge(&mut config, typed);
    }
    config
}

fn in_folder(found: &Found, name: &str) -> Option<String> {
    let folder = found.folder_of("CODEX_HOME", ".codex")?;
    fs::read_to_string(folder.join(name)).ok()
}

/// Parses TOML. Invalid TOML counts as empty: Codex itself does not start with it.
fn parsed(text: Option<String>) -> Value {
    text.and_then(|text| toml::from_str(&text).ok())
        .unwrap_or_else(|| json!({}))
}

/// Returns what arguments set: `-c KEY.KEY=VALUE`, with a value in TOML or else a text.
fn typed(arguments: &[String]) -> Value {
    let mut config = json!({});
    for typed in values(arguments, &["-c", "--config"]) {
        let Some((keys, text)) = typed.split_once('=') else {
            continue;
        };
        let value = match parsed(Some(format!("value={text}"))).get("value") {
            Some(value) => value.clone(),
            None => json!(text.trim()),
        };
        let nested = keys
            .trim()
            .rsplit('.')
            .fold(value, |value, key| json!({ key: value }));
        merge(&mut config, &nested);
    }
    config
}

#[cfg(test)]
mod tests {
    use super::super::tests::{found, of, upstreams, warns, write};

    const PROVIDERS: &str = "model_provider = \"ours\"\n\
        [model_providers.ours]\nbase_url = \"http://localhost:1/v1\"\n\
        [model_providers.\"a.b\"]\nbase_url = \"http://localhost:2/v1\"\n\
        [model_providers.bare]\nname = \"bare\"\n";

    #[test]
    fn it_gets_the_base_url_of_openai_or_of_chatgpt() {
        let home = tempfile::tempdir().expect("a folder");
        let found = found(&[], home.path());
        let (plan, settings) = of(&["codex"], &found);
        assert_eq!(
            settings.arguments,
            [
                "-c",
                "openai_base_url=\"http://127.0.0.1:9/codex\"",
                "-c",
                r#"mcp_servers.baler.command="/bin/baler""#,
                "-c",
                r#"mcp_servers.baler.args=["mcp","--run","1"]"#
            ]
        );
        assert_eq!(upstreams(&plan), ["codex=https://api.openai.com/v1"]);
        let is_openai = |(name, _): &(&str, String)| name.starts_with("OPENAI");
        assert!(!settings.variables.iter().any(is_openai));

        let login = r#"{"OPENAI_API_KEY": null, "tokens": {"access_token": "x"}}"#;
        write(home.path(), ".codex/auth.json", login);
        let (plan, _) = of(&["codex"], &found);
        assert_eq!(
            upstreams(&plan),
            ["codex=https://chatgpt.com/backend-api/codex"]
        );
    }

    #[test]
    fn it_gets_the_base_url_of_the_provider_that_it_uses() {
        let home = tempfile::tempdir().expect("a folder");
        let found = found(&[], home.path());
        write(home.path(), ".codex/config.toml", PROVIDERS);
        write(
            home.path(),
            ".codex/mine.config.toml",
            "model_provider = \"a.b\"\n",
        );
        let ours = "model_providers.ours.base_url=\"http://127.0.0.1:9/codex\"";
        let pointed = r#"model_providers={"a.b"={base_url="http://127.0.0.1:9/codex"}}"#;
        let openai = "openai_base_url=\"http://127.0.0.1:9/codex\"";
        for (arguments, setting, upstream) in [
            (&["codex"][..], ours, "codex=http://localhost:1/v1"),
            (
                &["codex", "-p", "mine"],
                pointed,
                "codex=http://localhost:2/v1",
            ),
            (
                &["codex", "exec", "--profile=mine"],
                pointed,
                "codex=http://localhost:2/v1",
            ),
            (&["codex", "-pmine"], pointed, "codex=http://localhost:2/v1"),
            (
                &["codex", "-c", "profile=mine"],
                pointed,
                "codex=http://localhost:2/v1",
            ),
            (
                &["codex", "-c", "model_provider=\"a.b\""],
                pointed,
                "codex=http://localhost:2/v1",
            ),
            (
                &["codex", "--config", "model_provider=openai"],
                openai,
                "codex=https://api.openai.com/v1",
            ),
            // Behind `--` there are no options.
            (
                &["codex", "--", "-p", "mine"],
                ours,
                "codex=http://localhost:1/v1",
            ),
        ] {
            let (plan, settings) = of(arguments, &found);
            assert_eq!(settings.arguments[1], setting, "{arguments:?}");
            assert_eq!(upstreams(&plan), [upstream], "{arguments:?}");
        }
    }

    #[test]
    fn a_profile_may_be_a_table_of_its_configuration() {
        let home = tempfile::tempdir().expect("a folder");
        let config = "profile = \"x\"\n[profiles.x]\nmodel_provider = \"ours\"\n\
            [model_providers.ours]\nbase_url = \"http://localhost:1/v1\"\n";
        write(home.path(), ".codex/config.toml", config);
        let (plan, _) = of(&["codex"], &found(&[], home.path()));
        assert_eq!(upstreams(&plan), ["codex=http://localhost:1/v1"]);
    }

    #[test]
    fn what_would_not_pass_is_said_and_left_as_it_is() {
        let home = tempfile::tempdir().expect("a folder");
        let found = found(&[], home.path());
        write(home.path(), ".codex/config.toml", PROVIDERS);
        for (arguments, why) in [
            (
                &[
                    "codex",
                    "-c",
                    "model_providers.ours.base_url=\"http://x/v1\"",
                ][..],
                "arguments set",
            ),
            (&["codex", "-c", "model_provider=bare"], "no base URL for"),
            (&["codex", "--oss"], "--oss"),
        ] {
            let (plan, settings) = of(arguments, &found);
            assert!(warns(&plan, why), "{arguments:?}: {:?}", plan.warnings);
            let is_base = |word: &String| word.contains("base_url");
            assert!(!settings.arguments.iter().any(is_base), "{arguments:?}");
        }
    }
}
