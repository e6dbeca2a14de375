mod templates;

use std::fs;
use std::path::{Path, PathBuf};

use anyhow::{Context as _, anyhow};
use clap::Args;

use crate::exit::{Exit, Failure};
use crate::language::Language;
use crate::{output, project};

/// Begin a strategy: a project that builds, with a test
///
/// Makes a folder with a strategy that keeps the newest units that fit, a test of it in the same language, and a
/// README that names the next commands. All languages begin with the same strategy.
#[derive(Debug, Args)]
#[command(after_help = AFTER)]
pub(crate) struct NewCommand {
    /// Name of the strategy and of its folder: words of small letters and digits, with hyphens between them
    #[arg(value_name = "NAME")]
    name: String,

    /// Language of the strategy
    #[arg(long, value_enum, value_name = "LANGUAGE")]
    lang: Language,

    /// Folder of the crate `baler-strategy`, for Rust: `guest-strategies/sdk` of a checkout of baler. By default the
    /// crate that crates.io has
    #[arg(long, value_name = "FOLDER")]
    sdk: Option<PathBuf>,
}

const AFTER: &str = "\
Examples:
  baler new drop-images --lang typescript
  baler new drop-images --lang rust --sdk ../baler/guest-strategies/sdk
  cd drop-images && baler build

Exit codes: 0 made, 1 the folder cannot be written, 2 invalid usage, such as a folder that is
there already";

/// Characters of the longest name that marks and receipts have room for.
const MOST_NAME: usize = 48;

impl NewCommand {
    pub(crate) fn exec(self) -> Result<Exit, Failure> {
        check_name(&self.name).map_err(Failure::wrong_use)?;
        let sdk = self.sdk().map_err(Failure::wrong_use)?;
        let folder = Path::new(&self.name);
        check_free(folder).map_err(Failure::wrong_use)?;
        let files = templates::project(self.lang, &self.name, &sdk);
        write(folder, &files)
            .with_context(|| format!("cannot write the folder `{}`", self.name))?;
        output::words(&format!(
            "{name}: a strategy in {}; it is in `{}`, and README.md has the commands\nnext: cd {name} && baler build\n",
            self.lang.name(),
            folder.join(self.lang.source()).display(),
            name = self.name,
        ))?;
        Ok(Exit::Done)
    }

    /// Returns how `Cargo.toml` names the SDK.
    fn sdk(&self) -> anyhow::Result<String> {
        let Some(sdk) = &self.sdk else {
            return Ok(format!(
                "baler-strategy = \"{}.{}\"",
                env!("CARGO_PKG_VERSION_MAJOR"),
                env!("CARGO_PKG_VERSION_MINOR")
            ));
        };
        if self.lang != Language::Rust {
            return Err(anyhow!(
                "`--sdk` is for `--lang rust`; leave it out, because nothing in {} depends on the SDK",
                self.lang.name()
            ));
        }
        let manifest = fs::read_to_string(sdk.join("Cargo.toml")).unwrap_or_default();
        if !manifest
            .lines()
            .any(|line| line == "name = \"baler-strategy\"")
        {
            return Err(anyhow!(
                "`--sdk` names `{}`, which does not hold the crate `baler-strategy`; name the folder `guest-strategies/sdk` of a checkout of baler",
                sdk.display()
            ));
        }
        // Cargo starts from the new folder.
        let path = Path::new("..").join(sdk);
        let path = path.to_str().ok_or_else(|| {
            anyhow!(
                "`{}` is not UTF-8, as `Cargo.toml` has to be",
                sdk.display()
            )
        })?;
        // The escapes of JSON are those of TOML.
        let path = serde_json::to_string(path)?;
        Ok(format!("baler-strategy = {{ path = {path} }}"))
    }
}

/// Fails if no strategy of somebody else may have this name.
fn check_name(name: &str) -> anyhow::Result<()> {
    let is_name = name.starts_with(|c: char| c.is_ascii_lowercase())
        && name.len() <= MOST_NAME
        && baler_conformance::is_kebab(name);
    if !is_name {
        return Err(anyhow!(
            "`{name}` is not a name: expected words of small letters and digits with hyphens between them, which begin with a letter and have {MOST_NAME} characters at most, such as `drop-images`"
        ));
    }
    if project::is_reserved(name) || name.starts_with("native") {
        return Err(anyhow!(
            "`{name}` is a name of baler's own strategies: `baler strategies` lists them, and names that begin with `native` are kept for more; choose another name"
        ));
    }
    Ok(())
}

/// Fails if something is in the place of a new folder.
fn check_free(folder: &Path) -> anyhow::Result<()> {
    let Ok(there) = fs::symlink_metadata(folder) else {
        return Ok(());
    };
    let is_empty = || fs::read_dir(folder).is_ok_and(|mut entries| entries.next().is_none());
    if there.is_dir() && is_empty() {
        return Ok(());
    }
    Err(anyhow!(
        "`{}` is there already, and is not an empty folder; choose another name, or move it away",
        folder.display()
    ))
}

/// Writes the folder whole or not at all: under another name, which it loses at the end.
fn write(folder: &Path, files: &[(String, String)]) -> anyhow::Result<()> {
    let beside = tempfile::Builder::new()
        .prefix(".baler-new-")
        .tempdir_in(".")?;
    // The temporary folder is private, and a project should not be.
    let staged = beside.path().join(folder);
    for (path, text) in files {
        let file = staged.join(path);
        fs::create_dir_all(file.parent().unwrap_or(&staged))?;
        fs::write(file, text)?;
    }
    // Succeeds only with an empty folder, and not every system replaces that.
    if folder.exists() {
        fs::remove_dir(folder)?;
    }
    fs::rename(staged, folder)?;
    Ok(())
}
