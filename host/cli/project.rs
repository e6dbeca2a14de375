//! The list of strategies (`baler.toml`) that counts for a run, and what is said of it.

use std::env;
use std::fmt::Write as _;
use std::path::Path;

use anyhow::anyhow;
use baler_host::project::{Found, Listed, Project, Setting, Trust, TrustedLists};
use baler_host::request::Policy;

use crate::arguments::SandboxArguments;
use crate::exit::Failure;
use crate::figures::cleaned;
use crate::files;
use crate::output::Messages;
use crate::settings;

impl SandboxArguments {
    /// Reads the list that counts for this run; `None` if there is none. Says which lists do not count because somebody
    /// else could write them.
    pub(crate) fn project(&self, messages: Messages) -> Result<Option<Project>, Failure> {
        let project = match &self.project {
            Some(off) if off.as_os_str() == "off" => return Ok(None),
            Some(file) => Project::read(file).map(Some).map_err(invalid)?,
            None => {
                let found = found(self.state.as_deref())?;
                for error in &found.passed_over {
                    messages.warn(&format!("a list is not used: {error}"));
                }
                found.project
            }
        };
        if let Some(project) = &project {
            project.check_names(is_reserved).map_err(invalid)?;
        }
        Ok(project)
    }
}

/// Finds the list of the working folder, or of a folder above it.
pub(crate) fn found(state: Option<&Path>) -> Result<Found, Failure> {
    let trusted = settings::state_folder(state).map(|state| TrustedLists::in_state(&state));
    // A working folder that is gone has no list.
    let Ok(folder) = env::current_dir() else {
        return Ok(Found::default());
    };
    Project::find(&folder, trusted.as_ref()).map_err(invalid)
}

/// Returns the failure of a list that cannot be used.
pub(crate) fn invalid(error: impl Into<anyhow::Error>) -> Failure {
    Failure::wrong_use(error)
        .with_more("\n\n`--project FILE` names another list, `--project off` none.")
}

/// Returns whether a strategy that ships with baler has this name, in any case of letters: receipts and tables go by names.
pub(crate) fn is_reserved(name: &str) -> bool {
    baler_strategies::by_name_in_any_case(name).is_some()
}

/// Returns what plans may do by the policy of the list.
pub(crate) fn plan_policy(project: Option<&Project>) -> Policy {
    project
        .map(|project| project.policy().plans.clone())
        .unwrap_or_default()
}

/// Says what the list sets for these strategies, and what of it does not count because nobody trusts it.
pub(crate) fn tell(project: Option<&Project>, strategies: &[&str], messages: Messages) {
    let Some(project) = project else {
        return;
    };
    let settings = |counts: bool| {
        let settings = project.settings_of(strategies);
        let settings = settings.filter(|setting| setting.counts == counts);
        settings.map(in_words).collect::<Vec<_>>().join(", ")
    };
    let (set, withheld) = (settings(true), settings(false));
    let file = cleaned(&project.file().to_string_lossy());
    if !set.is_empty() {
        messages.say(&format!(
            "`{file}` {} sets {set}\n",
            trust_in_words(project)
        ));
    }
    if !withheld.is_empty() {
        messages.warn(&format!(
            "`{file}` is not trusted, so these of its settings do not count: {withheld}; if you trust the list, run `baler trust {file}`"
        ));
    }
}

/// Returns what a list is, for people, with a line for each of its settings.
pub(crate) fn about(project: &Project) -> String {
    let file = cleaned(&project.file().to_string_lossy());
    let mut text = format!("`{file}` {}\n", trust_in_words(project));
    for setting in project.settings() {
        let withheld = if setting.counts {
            ""
        } else {
            "  does not count"
        };
        // Writing to a string cannot fail.
        let _ = writeln!(text, "  {}{withheld}", in_words(setting));
    }
    if project.settings().iter().any(|setting| !setting.counts) {
        let _ = writeln!(text, "  `baler trust {file}` makes all of it count");
    }
    text
}

const fn trust_in_words(project: &Project) -> &'static str {
    match project.trust() {
        Trust::Trusted => "(trusted)",
        Trust::Untrusted => "(not trusted)",
    }
}

fn in_words(setting: &Setting) -> String {
    cleaned(&format!("{} = {}", setting.name, setting.value))
}

/// Fails if the file of an option would replace the list, or a file that it lists.
pub(crate) fn check_not_listed(
    option: &str,
    target: &Path,
    project: Option<&Project>,
) -> Result<(), Failure> {
    let Some(project) = project else {
        return Ok(());
    };
    let listed = project.strategies().filter_map(Listed::path);
    let mut all = listed.chain([project.file()]);
    match all.find(|file| files::mixes(target, file)) {
        None => Ok(()),
        Some(file) => Err(Failure::wrong_use(anyhow!(
            "`{option}` would replace `{}`, which belongs to the list of strategies `{}`; name another file, or go without the list by `--project off`",
            file.display(),
            project.file().display()
        ))),
    }
}
