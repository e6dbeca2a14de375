//! Claude Code: tools from an argument, and settings that overrule the environment.

use std::fs;
use std::path::Path;

use serde_json::{Value, json};

use super::{Found, Plan, values};

/// The folder of an organisation's settings.
const MANAGED: &str = if cfg!(windows) {
    "Program Files/ClaudeCode"
} else if cfg!(target_os = "macos") {
    "Library/Application Support/ClaudeCode"
} else {
    "etc/claude-code"
};

/// Variables that send requests to another API than Anthropic's own.
const OTHER_APIS: [&str; 3] = [
    "CLAUDE_CODE_USE_BEDROCK",
    "CLAUDE_CODE_USE_VERTEX",
    "CLAUDE_CODE_USE_FOUNDRY",
];

pub(super) fn plan(plan: &mut Plan, arguments: &[String], found: &Found) {
    base_url(plan, arguments, found);
    let is_set = |name: &&str| {
        let in_settings = || {
            let user = found.folder_of("CLAUDE_CONFIG_DIR", ".claude");
            let folders = user.into_iter().chain([found.folder.join(".claude")]);
            let mut files = folders.flat_map(|folder| {
                ["settings.json", "settings.local.json"].map(|name| folder.join(name))
            });
            files.find_map(|file| in_file(&file, name))
        };
        let value = found.variable(name).map(str::to_owned).or_else(in_settings);
        value.is_some_and(|value| !["", "0", "false"].contains(&value.as_str()))
    };
    if let Some(name) = OTHER_APIS.iter().find(|name| is_set(name)) {
        plan.warnings.push(format!(
            "Claude Code's requests do not pass through baler: {name} is set, so it asks another API than Anthropic's"
        ));
    }
    let Some([program, of_tool @ ..]) = found.tool.as_deref() else {
        return;
    };
    let managed = found.root.join(MANAGED).join("managed-mcp.json");
    if managed.exists() {
        plan.warnings.push(format!(
            "the model does not get the tool that retrieves what was removed: Claude Code takes only the servers of {}",
            managed.display()
        ));
        return;
    }
    let servers = json!({"mcpServers": {"baler": {"command": program, "args": of_tool}}});
    // In one word, since the option would take the words behind it, too.
    plan.arguments.push(format!("--mcp-config={servers}"));
}

/// Settings overrule the environment. What an argument sets overrules all settings but an organisation's.
fn base_url(plan: &mut Plan, arguments: &[String], found: &Found) {
    let mut bypassed = |why: &str| {
        plan.warnings.push(format!(
            "Claude Code's requests do not pass through baler: {why}"
        ));
    };
    let managed = found.root.join(MANAGED).join("managed-settings.json");
    if in_file(&managed, BASE_URL).is_some() {
        return bypassed(&format!("{} sets ANTHROPIC_BASE_URL", managed.display()));
    }
    let typed = values(arguments, &["--settings"]);
    let by_argument = typed.last().and_then(|typed| {
        in_text(typed, BASE_URL).or_else(|| in_file(&found.folder.join(typed), BASE_URL))
    });
    let user = found
        .folder_of("CLAUDE_CONFIG_DIR", ".claude")
        .map(|folder| folder.join("settings.json"));
    let of_folder = ["settings.local.json", "settings.json"];
    let by_folder = of_folder
        .iter()
        .map(|name| found.folder.join(".claude").join(name))
        .filter(|file| Some(file) != user.as_ref())
        .find_map(|file| in_file(&file, BASE_URL));
    let by_user = user.as_deref().and_then(|file| in_file(file, BASE_URL));
    // Else baler would send the user's key where Claude Code itself does not yet send it.
    if by_folder.is_some() && !is_trusted(arguments, found) {
        return bypassed(
            "the settings in .claude set ANTHROPIC_BASE_URL, and you have not told it to trust this folder; do so, and start it again",
        );
    }
    let Some(url) = by_argument.or(by_folder).or(by_user) else {
        return;
    };
    if !typed.is_empty() {
        return bypassed(
            "its settings set ANTHROPIC_BASE_URL, which only a `--settings` of baler's would overrule; leave out yours",
        );
    }
    let setting = "ANTHROPIC_BASE_URL in Claude Code's settings";
    if let Some(proxy) = plan.upstream("anthropic", &url, setting) {
        let settings = json!({"env": {"ANTHROPIC_BASE_URL": proxy}});
        plan.arguments.push(format!("--settings={settings}"));
    }
}

const BASE_URL: &str = "ANTHROPIC_BASE_URL";

/// Returns what a file of settings sets a variable to.
fn in_file(path: &Path, variable: &str) -> Option<String> {
    in_text(&fs::read_to_string(path).ok()?, variable)
}

fn in_text(text: &str, variable: &str) -> Option<String> {
    let settings: Value = serde_json::from_str(text).ok()?;
    Some(settings["env"][variable].as_str()?.to_owned())
}

/// Decides whether Claude Code trusts the settings in the current folder: the user said so, or cannot be asked.
fn is_trusted(arguments: &[String], found: &Found) -> bool {
    if arguments
        .iter()
        .any(|word| word == "-p" || word == "--print")
    {
        return true;
    }
    let state: Value = found
        .folder_of("CLAUDE_CONFIG_DIR", "")
        .and_then(|folder| fs::read_to_string(folder.join(".claude.json")).ok())
        .and_then(|text| serde_json::from_str(&text).ok())
        .unwrap_or_default();
    found.folder.ancestors().any(|folder| {
        let folder = folder.to_str().unwrap_or_default();
        state["projects"][folder]["hasTrustDialogAccepted"] == true
    })
}

#[cfg(test)]
mod tests {
    use super::super::tests::{found, of, upstreams, warns, write};
    use super::*;

    const OTHER: &str = r#"{"env": {"ANTHROPIC_BASE_URL": "https://settings.example/"}}"#;
    const SETTINGS: &str =
        r#"--settings={"env":{"ANTHROPIC_BASE_URL":"http://127.0.0.1:9/anthropic-2"}}"#;
    const OWN: [(&str, &str); 1] = [("ANTHROPIC_BASE_URL", "https://environment.example")];

    #[test]
    fn where_it_asks_another_api_nothing_passes_and_that_is_said() {
        let home = tempfile::tempdir().expect("a folder");
        let (plan, _) = of(
            &["claude"],
            &found(&[("CLAUDE_CODE_USE_BEDROCK", "0")], home.path()),
        );
        assert_eq!(plan.warnings, [""; 0]);
        let (plan, _) = of(
            &["claude"],
            &found(&[("CLAUDE_CODE_USE_BEDROCK", "1")], home.path()),
        );
        assert!(
            warns(&plan, "CLAUDE_CODE_USE_BEDROCK"),
            "{:?}",
            plan.warnings
        );
        let vertex = r#"{"env": {"CLAUDE_CODE_USE_VERTEX": "true"}}"#;
        write(home.path(), ".claude/settings.json", vertex);
        let (plan, _) = of(&["claude"], &found(&[], home.path()));
        assert!(
            warns(&plan, "CLAUDE_CODE_USE_VERTEX"),
            "{:?}",
            plan.warnings
        );
    }

    #[test]
    fn the_base_url_of_its_settings_is_an_upstream_and_an_argument_overrules_it() {
        let home = tempfile::tempdir().expect("a folder");
        let found = found(&OWN, home.path());
        write(home.path(), ".claude/settings.json", OTHER);
        let (plan, settings) = of(&["claude"], &found);
        assert_eq!(
            upstreams(&plan),
            [
                "anthropic=https://environment.example",
                "anthropic-2=https://settings.example"
            ]
        );
        assert_eq!(settings.arguments[0], SETTINGS);
        assert!(plan.warnings.is_empty(), "{:?}", plan.warnings);

        let (plan, settings) = of(&["claude", "--settings", r#"{"model": "x"}"#], &found);
        assert!(warns(&plan, "leave out yours"), "{:?}", plan.warnings);
        assert_eq!(settings.arguments.len(), 1, "{:?}", settings.arguments);

        write(home.path(), "etc/claude-code/managed-settings.json", OTHER);
        if cfg!(target_os = "linux") {
            let (plan, settings) = of(&["claude"], &found);
            assert!(warns(&plan, "managed-settings.json sets"));
            assert_eq!(settings.arguments.len(), 1, "{:?}", settings.arguments);
        }
    }

    #[test]
    fn an_argument_of_the_user_that_sets_no_base_url_takes_nothing_away() {
        let home = tempfile::tempdir().expect("a folder");
        let arguments = ["claude", r#"--settings={"model": "x"}"#];
        let (plan, _) = of(&arguments, &found(&OWN, home.path()));
        assert!(plan.warnings.is_empty(), "{:?}", plan.warnings);
    }

    #[test]
    fn settings_of_the_folder_count_before_those_of_the_user_once_it_is_trusted() {
        let home = tempfile::tempdir().expect("a folder");
        let found = found(&OWN, home.path());
        let user = r#"{"env": {"ANTHROPIC_BASE_URL": "https://user.example"}}"#;
        write(home.path(), ".claude/settings.json", user);
        write(home.path(), "work/.claude/settings.json", user);
        write(home.path(), "work/.claude/settings.local.json", OTHER);
        let (plan, settings) = of(&["claude"], &found);
        assert!(warns(&plan, "trust this folder"), "{:?}", plan.warnings);
        assert_eq!(upstreams(&plan), ["anthropic=https://environment.example"]);
        assert_eq!(settings.arguments.len(), 1, "{:?}", settings.arguments);

        let counts = |arguments: &[&str]| {
            let (plan, settings) = of(arguments, &found);
            assert_eq!(settings.arguments[0], SETTINGS);
            assert_eq!(upstreams(&plan)[1], "anthropic-2=https://settings.example");
        };
        counts(&["claude", "-p", "hello"]);
        let folder = home.path().to_str().expect("UTF-8");
        let state = json!({"projects": {folder: {"hasTrustDialogAccepted": true}}});
        write(home.path(), ".claude.json", &state.to_string());
        counts(&["claude"]);
    }

    #[test]
    fn in_the_home_the_settings_of_the_folder_are_those_of_the_user() {
        let home = tempfile::tempdir().expect("a folder");
        let mut found = found(&OWN, home.path());
        found.folder = home.path().to_owned();
        write(home.path(), ".claude/settings.json", OTHER);
        let (_, settings) = of(&["claude"], &found);
        assert_eq!(settings.arguments[0], SETTINGS);
    }

    #[cfg(target_os = "linux")]
    #[test]
    fn it_gets_no_tool_where_an_organisation_names_all_of_them() {
        let home = tempfile::tempdir().expect("a folder");
        let found = found(&[], home.path());
        write(home.path(), "etc/claude-code/managed-mcp.json", "{}");
        let (plan, settings) = of(&["claude"], &found);
        assert!(settings.arguments.is_empty(), "{:?}", settings.arguments);
        assert!(warns(&plan, "managed-mcp.json"), "{:?}", plan.warnings);
    }
}
