//! Strategies in C, by clang, without a C library of the system.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::Context as _;

use super::MADE;
use super::tools::{Needs, Tool, WIT_BINDGEN, ask, run};
use crate::contract::World;
use crate::exit::Failure;

const WASM: &str = "--target=wasm32-unknown-unknown";

/// Returns the compiler: Debian's packages have the version in the name.
fn clang(folder: &Path) -> Tool {
    let debian = "clang-19";
    let is_there = ask(folder, debian, &["--version"]).is_ok();
    Tool {
        program: if is_there { debian } else { "clang" },
        asked: "--version",
        least: (19, 0),
        install: "on Debian and Ubuntu: apt-get install clang-19 lld-19; on macOS: brew install llvm lld",
    }
}

pub(super) fn check(needs: &mut Needs<'_>, folder: &Path) {
    let clang = clang(folder);
    // It prints the path of the linker, or only its name if there is none.
    let linker = || ask(folder, clang.program, &[WASM, "-print-prog-name=wasm-ld"]);
    if needs.tool(&clang) && !linker().is_ok_and(|path| Path::new(path.trim()).is_absolute()) {
        needs.lacks(
            &format!("wasm-ld, the linker of {}", clang.program),
            "on Debian and Ubuntu: apt-get install lld-19; on macOS: brew install lld",
        );
    }
    needs.tool(&WIT_BINDGEN);
    needs.contract();
}

/// Writes the core module.
pub(super) fn build(folder: &Path, world: World) -> Result<(), Failure> {
    run(Command::new(WIT_BINDGEN.program)
        .args(["c", "wit", "--world", world.name(), "--out-dir", "build"])
        .current_dir(folder))?;
    let bindings = format!("build/{}", world.name().replace('-', "_"));
    run(Command::new(clang(folder).program)
        .args([WASM, "-mbulk-memory", "-nostdlib", "-ffreestanding"])
        .args(["-O2", "-Wall", "-Wextra", "-Ilibc", "-Ibuild"])
        .args(["-Wl,--no-entry", "-Wl,--strip-all", "-o", MADE])
        .args(sources(folder, "")?)
        .args(sources(folder, "libc")?)
        .args([
            format!("{bindings}.c"),
            format!("{bindings}_component_type.o"),
        ])
        .current_dir(folder))
}

/// Returns the files in C of a folder in the project, by their paths in it, without tests.
fn sources(folder: &Path, within: &str) -> anyhow::Result<Vec<PathBuf>> {
    let place = folder.join(within);
    let cannot_list = || format!("cannot list `{}`", place.display());
    let mut found = Vec::new();
    for entry in fs::read_dir(&place).with_context(cannot_list)? {
        let name = PathBuf::from(entry.with_context(cannot_list)?.file_name());
        let is_source = name.extension().is_some_and(|ending| ending == "c");
        let is_test = name
            .file_stem()
            .is_some_and(|stem| stem.to_string_lossy().ends_with("_test"));
        if is_source && !is_test {
            found.push(Path::new(within).join(name));
        }
    }
    found.sort();
    Ok(found)
}
