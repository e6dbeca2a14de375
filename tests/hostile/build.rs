//! Builds the guests, and writes the list of them.

use std::env;
use std::fmt::Write as _;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use baler_guest_build::{Kind, components};
use wasmparser::{Parser, Payload, Validator};

#[expect(
    clippy::print_stderr,
    reason = "this is how a build script tells what is wrong"
)]
fn main() -> ExitCode {
    println!("cargo::rerun-if-changed=build.rs");
    println!("cargo::rerun-if-changed=../guests");
    println!("cargo::rerun-if-changed=../../wit");
    match build() {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("{error}");
            ExitCode::FAILURE
        }
    }
}

fn build() -> Result<(), String> {
    let out_dir = PathBuf::from(env::var_os("OUT_DIR").ok_or("OUT_DIR is not set")?);
    let guests = Path::new("../guests");
    let rust = names(guests, "rs")?;
    let text = names(guests, "wat")?;
    let mut all: Vec<&String> = rust.iter().chain(&text).collect();
    all.sort();
    if let Some(twice) = all.windows(2).find(|pair| pair[0] == pair[1]) {
        return Err(format!(
            "tests/guests: `{}` is there as .rs and as .wat",
            twice[0]
        ));
    }

    let manifest = read(&guests.join("Cargo.toml"))?;
    if let Some(missing) = rust.iter().find(|name| !manifest.contains(&entry(name))) {
        return Err(format!(
            "tests/guests/{missing}.rs has no entry in tests/guests/Cargo.toml; add\n\n{}",
            entry(missing)
        ));
    }

    // Cargo names the library of an example with underscores, whatever the example's name has.
    let examples: Vec<String> = rust.iter().map(|name| snake(name)).collect();
    let examples: Vec<&str> = examples.iter().map(String::as_str).collect();
    let guests_dir = fs::canonicalize(guests).map_err(|error| format!("tests/guests: {error}"))?;
    let mut polite = Vec::new();
    for (name, component) in rust.iter().zip(components(
        &guests_dir,
        &out_dir,
        Kind::Examples,
        "release",
        &examples,
    )?) {
        let bytes = fs::read(&component.path).map_err(|error| format!("`{name}`: {error}"))?;
        if name == POLITE {
            polite = bytes;
        }
    }

    for name in &text {
        let path = guests.join(format!("{name}.wat"));
        let mut wasm = wat::parse_file(&path).map_err(|error| error.to_string())?;
        if needs_a_strategy(&wasm).map_err(|error| format!("`{name}`: {error}"))? {
            wasm = beside(&polite, &wasm).map_err(|error| format!("`{name}`: {error}"))?;
        }
        Validator::new()
            .validate_all(&wasm)
            .map_err(|error| format!("tests/guests/{name}.wat is not valid: {error}"))?;
        write(&out_dir.join(format!("{}.wasm", snake(name))), &wasm)?;
    }

    write(&out_dir.join("guests.rs"), list(&all).as_bytes())
}

/// The guest that lends its strategy to those which are written as text and have none. It
/// behaves as long as nothing refuses its plan.
const POLITE: &str = "read-out-of-range";

/// The files of one kind in `folder`, without their ending, in order.
fn names(folder: &Path, extension: &str) -> Result<Vec<String>, String> {
    let unreadable = |error| format!("cannot read `{}`: {error}", folder.display());
    let mut names = Vec::new();
    for entry in fs::read_dir(folder).map_err(unreadable)? {
        let path = entry.map_err(unreadable)?.path();
        if path.extension().is_some_and(|ending| ending == extension)
            && let Some(name) = path.file_stem().and_then(|name| name.to_str())
        {
            names.push(name.to_owned());
        }
    }
    names.sort();
    Ok(names)
}

fn entry(name: &str) -> String {
    let example = snake(name);
    format!("[[example]]\nname = \"{example}\"\npath = \"{name}.rs\"\ncrate-type = [\"cdylib\"]\n")
}

fn snake(name: &str) -> String {
    name.replace('-', "_")
}

/// A component that exports nothing but does something when it is instantiated.
fn needs_a_strategy(wasm: &[u8]) -> wasmparser::Result<bool> {
    let (mut instances, mut exports) = (false, false);
    if !Parser::is_component(wasm) {
        return Ok(false);
    }
    // Of what is nested only the outermost matters; its payloads come first and last.
    let mut depth = 0usize;
    for payload in Parser::new(0).parse_all(wasm) {
        match payload? {
            Payload::ModuleSection { .. } | Payload::ComponentSection { .. } => depth += 1,
            Payload::End(_) => depth = depth.saturating_sub(1),
            Payload::InstanceSection(_) => instances |= depth == 0,
            Payload::ComponentExportSection(_) => exports |= depth == 0,
            _ => {}
        }
    }
    Ok(instances && !exports)
}

/// `strategy`, with `attack` nested in it and instantiated.
///
/// A component is a row of sections, so two more at its end do not disturb what is there.
fn beside(strategy: &[u8], attack: &[u8]) -> wasmparser::Result<Vec<u8>> {
    const COMPONENT: u8 = 4;
    const INSTANCE: u8 = 5;

    let (mut nested, mut depth) = (0u32, 0usize);
    for payload in Parser::new(0).parse_all(strategy) {
        match payload? {
            Payload::ModuleSection { .. } => depth += 1,
            Payload::ComponentSection { .. } => {
                nested += u32::from(depth == 0);
                depth += 1;
            }
            Payload::End(_) => depth = depth.saturating_sub(1),
            _ => {}
        }
    }
    // One instance, of the component with the next index, without arguments.
    let mut instance = vec![1, 0];
    leb128(nested, &mut instance);
    instance.push(0);

    let mut wasm = strategy.to_vec();
    for (id, content) in [(COMPONENT, attack), (INSTANCE, instance.as_slice())] {
        wasm.push(id);
        leb128(content.len() as u32, &mut wasm);
        wasm.extend_from_slice(content);
    }
    Ok(wasm)
}

fn leb128(mut number: u32, to: &mut Vec<u8>) {
    while number >= 0x80 {
        to.push(number as u8 | 0x80);
        number >>= 7;
    }
    to.push(number as u8);
}

/// The constants, the list of them, and the macro.
fn list(names: &[&String]) -> String {
    let mut constants = String::new();
    let mut all = String::new();
    let mut calls = String::new();
    for name in names {
        let snake = snake(name);
        let constant = snake.to_uppercase();
        // Writing to a string cannot fail.
        let _ = writeln!(
            constants,
            "/// `{name}`\npub const {constant}: Guest = Guest {{\n    name: \"{name}\",\n    \
             wasm: include_bytes!(concat!(env!(\"OUT_DIR\"), \"/{snake}.wasm\")),\n}};"
        );
        let _ = writeln!(all, "    {constant},");
        let _ = writeln!(calls, "        $with!({snake});");
    }
    format!(
        "{constants}\n/// Every guest, in order of name.\npub static ALL: &[Guest] = &[\n{all}];\n\n\
         /// Calls a macro with the name of every guest, in snake case.\n#[macro_export]\n\
         macro_rules! for_each_hostile_guest {{\n    ($with:ident) => {{\n{calls}    }};\n}}\n"
    )
}

fn read(path: &Path) -> Result<String, String> {
    fs::read_to_string(path).map_err(|error| format!("cannot read `{}`: {error}", path.display()))
}

fn write(path: &Path, content: &[u8]) -> Result<(), String> {
    fs::write(path, content).map_err(|error| format!("cannot write `{}`: {error}", path.display()))
}
