mod c;
mod cargo;
mod go;
mod npm;
mod python;
mod tools;

use std::fs;
use std::path::{Path, PathBuf};

use anyhow::{Context as _, anyhow};
use baler_host::strategy::{EngineLimits, inspect};
use clap::{Args, ValueEnum as _};

use super::wrap::{self, Job};
use crate::contract::World;
use crate::exit::{Exit, Failure};
use crate::language::Language;
use crate::report::quoted;
use crate::whole_file::WholeFile;
use crate::{figures, output};
use tools::Needs;

/// Build a strategy by the tools of its language
///
/// Builds the project of a folder, as `baler new` makes it, and writes a component with the name of the folder into
/// it. First looks for the tools and lists those that are missing. What the project depends on is installed into the
/// project, and a target that Rust lacks by rustup; tools are never installed.
#[derive(Debug, Args)]
#[command(after_help = AFTER)]
pub(crate) struct BuildCommand {
    /// Folder of the project
    #[arg(value_name = "FOLDER", default_value = ".")]
    folder: PathBuf,

    /// The component [default: a file in the project, with the name of the folder]
    #[arg(short, long, value_name = "FILE.wasm")]
    output: Option<PathBuf>,

    /// World of the contract, for Python, C and Go. In the other languages the project itself says it
    #[arg(long, value_enum)]
    world: Option<World>,

    /// Let the component import WASI, for Rust and Python, where `print` then writes to the log of a call. By default
    /// the file ends in `-wasi.wasm`
    #[arg(long)]
    wasi: bool,
}

const AFTER: &str = "\
The language is that of the first of these files that the folder has: Cargo.toml (Rust),
tsconfig.json (TypeScript), package.json (JavaScript), strategy.py (Python), strategy.c (C),
strategy.go (Go).

Examples:
  baler build
  baler build drop-images -o drop-images.wasm

Exit codes: 0 built, 1 baler failed, 2 invalid usage, or tools are missing or too old, 5 a tool
failed, or what it made is not a strategy";

impl BuildCommand {
    pub(crate) async fn exec(self) -> Result<Exit, Failure> {
        let folder = self.folder.canonicalize().with_context(|| {
            format!(
                "cannot build `{}`: name a folder that is there",
                self.folder.display()
            )
        });
        let folder = folder.map_err(Failure::wrong_use)?;
        let language = Language::of(&folder)
            .ok_or_else(|| self.not_a_project())
            .map_err(Failure::wrong_use)?;
        self.check_options(language).map_err(Failure::wrong_use)?;
        let path = self.component_path(&folder).map_err(Failure::wrong_use)?;
        let mut needs = Needs::of(&folder);
        match language {
            Language::Rust => cargo::check(&mut needs, &folder, self.wasi),
            Language::Typescript | Language::Javascript => npm::check(&mut needs),
            Language::Python => python::check(&mut needs, &folder),
            Language::C => c::check(&mut needs, &folder),
            Language::Go => go::check(&mut needs),
        }
        needs.met()?;
        let output = WholeFile::create(&path).map_err(Failure::wrong_use)?;
        let built = self.built(language, &folder)?;
        let bytes = wrap::read(&built)?;
        let component = if bytes.get(4..8) == Some(&CORE) {
            let job = Job {
                world: None,
                module: bytes,
                adapter: None,
            };
            wrap::component_of(&job, &built).await?
        } else {
            bytes
        };
        let inspection = inspect(&component, &EngineLimits::default())
            .with_context(|| format!("`{}` is not a strategy", built.display()))
            .map_err(Failure::wrong_input)?;
        output
            .finish_binary(&component)
            .map_err(Failure::wrong_use)?;
        let shown = path.display().to_string();
        output::words(&format!(
            "{shown}: {}, imports {}; next: baler test {}\n",
            figures::bytes(component.len() as u64),
            imported(&inspection.imports),
            quoted(&shown),
        ))?;
        Ok(Exit::Done)
    }

    fn not_a_project(&self) -> anyhow::Error {
        let marks: Vec<String> = Language::value_variants()
            .iter()
            .map(|language| format!("{} ({})", language.mark(), language.name()))
            .collect();
        anyhow!(
            "`{}` is not the project of a strategy: expected one of {}, found none; `baler new NAME` makes a project",
            self.folder.display(),
            marks.join(", ")
        )
    }

    fn check_options(&self, language: Language) -> anyhow::Result<()> {
        let has_world = matches!(language, Language::Python | Language::C | Language::Go);
        if self.world.is_some() && !has_world {
            return Err(anyhow!(
                "`--world` is for Python, C and Go; {}",
                match language {
                    Language::Rust => "a strategy in Rust imports what it calls",
                    _ => "the scripts of `package.json` name the world",
                }
            ));
        }
        if self.wasi && !matches!(language, Language::Rust | Language::Python) {
            return Err(anyhow!(
                "`--wasi` is for Rust and Python; leave it out, because components in {} need none",
                language.name()
            ));
        }
        Ok(())
    }

    /// Returns the path of the component: in the project, with the name of its folder.
    fn component_path(&self, folder: &Path) -> anyhow::Result<PathBuf> {
        if let Some(path) = &self.output {
            // So no source is replaced by a slip.
            if path.extension().is_none_or(|ending| ending != "wasm") {
                return Err(anyhow!(
                    "`--output` names `{}`; name a file that ends in `.wasm`",
                    path.display()
                ));
            }
            return Ok(path.clone());
        }
        let name = folder.file_name().ok_or_else(|| {
            anyhow!(
                "`{}` has no name; name the file by `--output`",
                folder.display()
            )
        })?;
        let mut file = name.to_owned();
        file.push(if self.wasi { "-wasi.wasm" } else { ".wasm" });
        Ok(match self.folder.as_os_str() == "." {
            true => file.into(),
            false => self.folder.join(file),
        })
    }

    /// Runs the tools, and returns the file that they made: a component or a core module.
    fn built(&self, language: Language, folder: &Path) -> Result<PathBuf, Failure> {
        if language == Language::Rust {
            return cargo::build(folder, self.wasi);
        }
        let made = folder.join(MADE);
        renew(&made)?;
        let world = self.world.unwrap_or(World::PureStrategy);
        match language {
            Language::Rust => {}
            Language::Typescript | Language::Javascript => npm::build(folder)?,
            Language::Python => python::build(folder, world, self.wasi)?,
            Language::C => c::build(folder, world)?,
            Language::Go => go::build(folder, world)?,
        }
        if !made.exists() {
            return Err(Failure::wrong_input(anyhow!(
                "the tools wrote no `{MADE}` in `{}`, which has to be what they make",
                folder.display()
            )));
        }
        Ok(made)
    }
}

/// What the tools of all languages but Rust make, in the project.
const MADE: &str = "build/strategy.wasm";

/// What follows `\0asm` in a core module.
const CORE: [u8; 4] = [1, 0, 0, 0];

/// Makes room for what the tools will write, so that nothing older is taken for it.
fn renew(made: &Path) -> anyhow::Result<()> {
    let cannot = || format!("cannot write `{}`", made.display());
    if let Some(folder) = made.parent() {
        fs::create_dir_all(folder).with_context(cannot)?;
    }
    match fs::remove_file(made) {
        Err(error) if error.kind() != std::io::ErrorKind::NotFound => {
            Err(error).with_context(cannot)
        }
        _ => Ok(()),
    }
}

/// Returns imports for people: those of the contract by their short names, and all of WASI as one.
fn imported(imports: &[String]) -> String {
    let mut short: Vec<&str> = Vec::new();
    for import in imports {
        let of_contract = import
            .strip_prefix("baler:compaction/")
            .and_then(|rest| rest.split('@').next());
        let name = match of_contract {
            Some(name) => name,
            None if import.starts_with("wasi:") => "WASI",
            None => import,
        };
        if !short.contains(&name) {
            short.push(name);
        }
    }
    if short.is_empty() {
        return "nothing".to_owned();
    }
    short.join(", ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn imported_names_each_interface_once() {
        let imports = [
            "baler:compaction/history@0.1.0",
            "wasi:io/streams@0.2.0",
            "wasi:cli/stdout@0.2.0",
            "elsewhere:clocks/now@1.0.0",
        ];
        assert_eq!(
            imported(&imports.map(str::to_owned)),
            "history, WASI, elsewhere:clocks/now@1.0.0"
        );
        assert_eq!(imported(&[]), "nothing");
    }
}
