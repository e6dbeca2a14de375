//! Builds guest crates for `wasm32-unknown-unknown` and wraps them as components.
//!
//! For build scripts: [`components`] runs a Cargo of its own over a workspace of guests and
//! returns the components that it made. The nested Cargo gets a target folder of its own and
//! none of the outer build's flags, wrappers or profile settings: with them it would wait for
//! a lock that the outer build holds, or compile the guests for the wrong machine.

mod cargo;
mod target;

use std::fs;
use std::path::{Path, PathBuf};

pub use cargo::Kind;

/// A finished component.
#[derive(Debug, Clone)]
pub struct Component {
    /// Name of the package or example, in kebab-case.
    pub name: String,
    /// Where its `.wasm` file lies.
    pub path: PathBuf,
}

/// Builds `names` of the workspace in `workspace` with a profile of it, such as `release`, and returns the
/// components in the order of `names`.
///
/// `out_dir` is the build script's `OUT_DIR`. The components are written there as
/// `<name>.wasm`.
///
/// # Errors
/// A message for people: the target is missing and could not be installed, Cargo failed
/// (its output is in the message), or a core module cannot be wrapped.
pub fn components(
    workspace: &Path,
    out_dir: &Path,
    kind: Kind,
    profile: &str,
    names: &[&str],
) -> Result<Vec<Component>, String> {
    target::ensure_installed()?;
    let modules = cargo::build(workspace, &target_dir(out_dir), kind, profile, names)?;
    names
        .iter()
        .zip(modules)
        .map(|(name, module)| {
            let core = fs::read(&module)
                .map_err(|error| format!("cannot read `{}`: {error}", module.display()))?;
            let component = wit_component::ComponentEncoder::default()
                .validate(true)
                .module(&core)
                .and_then(|mut encoder| encoder.encode())
                .map_err(|error| format!("cannot wrap `{name}` as a component: {error:#}"))?;
            let path = out_dir.join(format!("{name}.wasm"));
            fs::write(&path, component)
                .map_err(|error| format!("cannot write `{}`: {error}", path.display()))?;
            Ok(Component {
                name: (*name).to_owned(),
                path,
            })
        })
        .collect()
}

/// One target folder for all guests of a build, beside the outer build's own folders, so that
/// what guests have in common is compiled once.
fn target_dir(out_dir: &Path) -> PathBuf {
    out_dir
        .ancestors()
        .find(|folder| folder.file_name().is_some_and(|name| name == "build"))
        .and_then(Path::parent)
        .map_or_else(|| out_dir.join("guests"), |profile| profile.join("guests"))
}
