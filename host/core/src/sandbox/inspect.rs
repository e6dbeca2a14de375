//! Inspects a component file before anything in it is compiled or run.

use wasmparser::{Encoding, Parser, Payload};

use super::LoadError;
use super::bindings::CONTRACTS;
use crate::limits::EngineLimits;

/// What the file of a component says, without compiling or running it.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Inspection {
    /// Names of the imported interfaces, in order.
    pub imports: Vec<String>,
    /// Names of the exported interfaces, in order.
    pub exports: Vec<String>,
    /// Exported contract, such as `baler:compaction@0.1.0`.
    pub contract: String,
}

/// Name of the interface that every strategy exports, without its version.
const STRATEGY: &str = "baler:compaction/strategy@";

/// Checks the size and the kind of a component file, and reads the names of its imports and exports. Nothing is compiled.
///
/// # Errors
/// It is not a component that exports a strategy of a supported contract.
pub fn inspect(bytes: &[u8], limits: &EngineLimits) -> Result<Inspection, LoadError> {
    if bytes.is_empty() {
        return Err(LoadError::Empty);
    }
    if bytes.len() > limits.component_bytes {
        return Err(LoadError::TooLarge {
            bytes: bytes.len(),
            limit: limits.component_bytes,
        });
    }
    if !bytes.starts_with(b"\0asm") {
        // Precompiled code is an ELF file with native code, which is never loaded from a file.
        return Err(if bytes.starts_with(b"\x7fELF") {
            LoadError::Precompiled
        } else {
            LoadError::NotWasm
        });
    }
    if Parser::is_core_wasm(bytes) {
        return Err(LoadError::CoreModule);
    }
    let malformed = |error: wasmparser::BinaryReaderError| LoadError::Malformed {
        offset: error.offset(),
        source: error.into(),
    };
    let mut imports = Vec::new();
    let mut exports = Vec::new();
    let mut depth = 0usize;
    for payload in Parser::new(0).parse_all(bytes) {
        match payload.map_err(malformed)? {
            Payload::Version {
                encoding: Encoding::Component | Encoding::Module,
                ..
            } => depth += 1,
            Payload::End(_) => depth -= 1,
            Payload::ComponentImportSection(section) if depth == 1 => {
                for import in section {
                    imports.push(import.map_err(malformed)?.name.name.to_owned());
                }
            }
            Payload::ComponentExportSection(section) if depth == 1 => {
                for export in section {
                    exports.push(export.map_err(malformed)?.name.name.to_owned());
                }
            }
            _ => {}
        }
    }
    let contract = exports
        .iter()
        .find_map(|name| name.strip_prefix(STRATEGY))
        .map(|version| format!("baler:compaction@{version}"))
        .ok_or(LoadError::NoStrategy)?;
    if !CONTRACTS.contains(&contract.as_str()) {
        return Err(LoadError::OtherContract { contract });
    }
    Ok(Inspection {
        imports,
        exports,
        contract,
    })
}
