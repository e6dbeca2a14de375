//! Whether baler itself works.

use std::env;
use std::path::Path;

use anyhow::anyhow;
use baler_files::private_folder;
use baler_host::receipt::Outcome;
use baler_host::{Budget, Request};
use serde_json::{Value, json};

use super::Check;
use crate::archive::{ArchiveArguments, ArchivePlace};
use crate::arguments::SandboxArguments;
use crate::exit::Failure;
use crate::output::Messages;
use crate::settings::{self, HostSettings};
use crate::sources::{self, Source};
use crate::{figures, project};

/// Checks this program, its folder, the archive, the settings and the default strategy.
pub(crate) async fn checks(state: Option<&Path>) -> Vec<Check> {
    vec![
        version(),
        state_folder(state),
        archive(state),
        project_list(state),
        strategy(state).await,
    ]
}

fn version() -> Check {
    let place = env::current_exe().map_or_else(
        |_| "an unknown place".to_owned(),
        |path| path.display().to_string(),
    );
    Check::ok("baler", format!("{} at {place}", env!("CARGO_PKG_VERSION")))
}

fn state_folder(state: Option<&Path>) -> Check {
    let name = "state folder";
    let remedy =
        "name a folder of your own, which nobody else can write to, by --state or $BALER_STATE";
    let Some(folder) = settings::state_folder(state) else {
        let found = "neither $BALER_STATE nor $XDG_STATE_HOME nor $HOME says where";
        return Check::wrong(name, found, remedy);
    };
    let written = private_folder(&folder)
        .map_err(anyhow::Error::from)
        .and_then(|()| Ok(tempfile::tempfile_in(&folder)?));
    match written {
        Ok(_) => Check::ok(name, folder.display().to_string()),
        Err(error) => Check::wrong(name, format!("`{}`: {error:#}", folder.display()), remedy),
    }
}

fn archive(state: Option<&Path>) -> Check {
    let name = "archive";
    let shown = || -> Result<Option<String>, Failure> {
        let place = ArchivePlace::of(None)?;
        let shown = place.shown(state);
        let is_new = place == ArchivePlace::State
            && shown
                .as_deref()
                .is_some_and(|shown| !Path::new(shown).exists());
        if place != ArchivePlace::Off && !is_new {
            ArchiveArguments::of(None, state.map(Path::to_owned)).open()?;
        }
        Ok(shown)
    };
    match shown() {
        Ok(Some(shown)) => Check::ok(name, figures::cleaned(&shown)),
        Ok(None) => Check::warning(
            name,
            "off: what is removed is lost",
            "unset $BALER_ARCHIVE, or name a folder or a store in it",
        ),
        Err(failure) => Check::wrong(
            name,
            format!("{:#}", failure.error),
            "name another place in $BALER_ARCHIVE, or unset it",
        ),
    }
}

fn project_list(state: Option<&Path>) -> Check {
    let name = "baler.toml";
    let found = match project::found(state) {
        Ok(found) => found,
        Err(failure) => {
            let remedy = "correct the file; until then `--project off` goes on without it";
            return Check::wrong(name, format!("{:#}", failure.error), remedy);
        }
    };
    if let Some(error) = found.passed_over.first() {
        let remedy = "make it a file of your own, which nobody else can write to";
        return Check::warning(name, format!("a list is not used: {error}"), remedy);
    }
    let Some(list) = found.project else {
        return Check::ok(name, "none here");
    };
    let file = figures::cleaned(&list.file().to_string_lossy());
    if let Err(error) = list.check_names(project::is_reserved) {
        return Check::wrong(name, format!("`{file}`: {error}"), "give it another name");
    }
    match list.settings().iter().all(|setting| setting.counts) {
        true => Check::ok(name, file),
        false => Check::warning(
            name,
            format!("`{file}` is not trusted, so only what it forbids counts"),
            format!("if you trust it: baler trust {file}"),
        ),
    }
}

async fn strategy(state: Option<&Path>) -> Check {
    let name = format!("strategy {}", sources::DEFAULT);
    match compacted(state).await {
        Ok(found) => Check::ok(name, found),
        Err(error) => Check::wrong(
            name,
            format!("{error:#}"),
            "install baler again; if that does not help, report this with the version of the system",
        ),
    }
}

/// Compacts a small conversation with the default strategy. Returns what came of it.
async fn compacted(state: Option<&Path>) -> anyhow::Result<String> {
    let sandbox = SandboxArguments {
        fuel: None,
        timeout: None,
        memory: None,
        state: state.map(Path::to_owned),
        project: None,
    };
    let quiet = Messages { quiet: true };
    let host = sandbox
        .host(HostSettings::default(), quiet)
        .map_err(|failure| failure.error)?;
    let bundled = baler_strategies::by_name(sources::DEFAULT)
        .ok_or_else(|| anyhow!("it is not part of this program"))?;
    let strategy = Source::bundled(bundled).load(&host, &sandbox).await;
    let strategy = strategy.map_err(|failure| failure.error)?;
    let conversation = host.read(example().to_string())?;
    let request = Request::new(Budget::Share(0.5));
    let compaction = host.compact(&conversation, &[strategy], &request).await?;
    let receipt = compaction.receipt();
    match (&receipt.outcome, receipt.fell_back) {
        (Outcome::Compacted, false) => Ok(format!(
            "made {} of {}",
            figures::count(receipt.tokens.after, "token"),
            figures::number(receipt.tokens.before)
        )),
        (outcome, _) => Err(anyhow!(
            "a small conversation was not compacted by it ({})",
            outcome.name()
        )),
    }
}

/// A conversation of a task and steps with outputs.
fn example() -> Value {
    let mut messages = vec![json!({"role": "user", "content": "Count the books of each shelf."})];
    for shelf in 0..12 {
        let id = format!("call_{shelf}");
        let call = json!({"id": id, "type": "function", "function": {"name": "count", "arguments": format!("{{\"shelf\": {shelf}}}")}});
        let titles: Vec<String> = (0..60).map(|book| format!("book {shelf}-{book}")).collect();
        messages.push(json!({"role": "assistant", "content": null, "tool_calls": [call]}));
        messages.push(json!({"role": "tool", "tool_call_id": id, "content": titles.join("\n")}));
    }
    messages.push(json!({"role": "assistant", "content": "Each shelf holds 60 books."}));
    json!({"model": "gpt-4o", "messages": messages})
}
