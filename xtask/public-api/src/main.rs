//! Compares the public API of baler's libraries with the text files in `docs/api`, so that no change
//! of it goes unnoticed.
//!
//! ```sh
//! cargo xtask public-api          # fails if an API changed
//! cargo xtask public-api --bless  # writes the files anew
//! ```

use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode};

use anyhow::{Context as _, bail};

/// The libraries that others build on.
const CRATES: [&str; 8] = [
    "baler-archive",
    "baler-conversation",
    "baler-models",
    "baler-host",
    "baler-http",
    "baler-proxy",
    "baler-registry",
    "baler-conformance",
];

/// Set for the runs of this program in place of rustdoc.
const AS_RUSTDOC: &str = "BALER_PUBLIC_API_AS_RUSTDOC";

fn main() -> anyhow::Result<ExitCode> {
    if std::env::var_os(AS_RUSTDOC).is_some() {
        return as_rustdoc();
    }
    let bless = match std::env::args().nth(1).as_deref() {
        None => false,
        Some("--bless") => true,
        Some(other) => bail!("expected no argument or `--bless`, found `{other}`"),
    };
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let documented = document(&root)?;
    let mut changed = false;
    for name in CRATES {
        let file = root.join(format!("docs/api/{name}.txt"));
        let now = api_of(&documented, name)?;
        if bless {
            std::fs::write(&file, now)
                .with_context(|| format!("cannot write {}", file.display()))?;
            continue;
        }
        let known = std::fs::read_to_string(&file)
            .with_context(|| format!("cannot read {}; write it with `--bless`", file.display()))?;
        changed |= tell_changes(name, &known, &now);
    }
    if changed {
        eprintln!("the public API changed: if that is wanted, run this again with `--bless`");
        return Ok(ExitCode::FAILURE);
    }
    Ok(ExitCode::SUCCESS)
}

/// Runs rustdoc with the arguments of this program. Its JSON is not stable yet, so it needs the setting that permits unstable
/// options. If rustc had this setting too, all dependencies would be built once more.
fn as_rustdoc() -> anyhow::Result<ExitCode> {
    let status = Command::new("rustdoc")
        .args(std::env::args_os().skip(1))
        .env("RUSTC_BOOTSTRAP", "1")
        .env_remove(AS_RUSTDOC)
        .status()
        .context("cannot run rustdoc")?;
    Ok(match status.success() {
        true => ExitCode::SUCCESS,
        false => ExitCode::FAILURE,
    })
}

/// Documents the workspace in JSON, with all features of its libraries. Returns the folder of the files.
fn document(root: &Path) -> anyhow::Result<PathBuf> {
    let target = std::env::var_os("CARGO_TARGET_DIR")
        .map_or_else(|| root.join("target"), |it| root.join(it));
    let status = Command::new("cargo")
        .current_dir(root)
        .args([
            "doc",
            "--locked",
            "--quiet",
            "--no-deps",
            "--lib",
            "--workspace",
        ])
        .args(["--features", "baler-models/testing"])
        .env(
            "RUSTDOC",
            std::env::current_exe().context("this program has no path")?,
        )
        .env(
            "RUSTDOCFLAGS",
            "-Z unstable-options --output-format json --cap-lints allow",
        )
        .env(AS_RUSTDOC, "1")
        .status()
        .context("cannot run cargo")?;
    if !status.success() {
        bail!("cargo doc failed: {status}");
    }
    Ok(target.join("doc"))
}

/// Returns the public items of a library, one on each line.
fn api_of(documented: &Path, name: &str) -> anyhow::Result<String> {
    let json = documented.join(format!("{}.json", name.replace('-', "_")));
    let api = public_api::Builder::from_rustdoc_json(json)
        .omit_blanket_impls(true)
        .omit_auto_trait_impls(true)
        .omit_auto_derived_impls(true)
        .build()
        .with_context(|| format!("cannot read the documentation of {name}"))?;
    Ok(api.to_string())
}

/// Prints the lines in which two texts differ, and returns whether there are any.
fn tell_changes(name: &str, known: &str, now: &str) -> bool {
    let beyond = |one: &str, other: &str, sign: char| -> Vec<String> {
        let lines = one.lines();
        let new = lines.filter(|line| !other.lines().any(|known| known == *line));
        new.map(|line| format!("{sign} {line}")).collect()
    };
    let lines = [beyond(known, now, '-'), beyond(now, known, '+')].concat();
    for line in &lines {
        println!("{name}: {line}");
    }
    !lines.is_empty()
}
