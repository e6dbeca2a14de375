//! What the bundled components import, export and weigh.

#![allow(
    clippy::expect_used,
    reason = "helpers of tests end the test where something is not as it should be"
)]

use std::collections::BTreeSet;

use baler_strategies::{ALL, FILTERS, by_name, filter_by_name, parts, writes_digests};
use wasmparser::{Parser, Payload};

const PERMITTED: [&str; 3] = [
    "baler:compaction/history@0.1.0",
    "baler:compaction/log@0.1.0",
    "baler:compaction/tokenizer@0.1.0",
];

/// These ask the host's model and need the user's grant to run.
const ASKING: [&str; 3] = ["tiered-model", "summarize", "anchored"];
const MODEL: &str = "baler:compaction/model@0.1.0";

/// The imports and exports of the component itself, not of what is nested in it.
fn names(wasm: &[u8]) -> (BTreeSet<String>, BTreeSet<String>) {
    let (mut imports, mut exports) = (BTreeSet::new(), BTreeSet::new());
    let mut depth = 0;
    for payload in Parser::new(0).parse_all(wasm) {
        match payload.expect("the component is well-formed") {
            Payload::ModuleSection { .. } | Payload::ComponentSection { .. } => depth += 1,
            Payload::End(_) => depth -= 1,
            Payload::ComponentImportSection(section) if depth == 0 => {
                for import in section {
                    imports.insert(
                        import
                            .expect("the import is well-formed")
                            .name
                            .name
                            .to_owned(),
                    );
                }
            }
            Payload::ComponentExportSection(section) if depth == 0 => {
                for export in section {
                    exports.insert(
                        export
                            .expect("the export is well-formed")
                            .name
                            .name
                            .to_owned(),
                    );
                }
            }
            _ => {}
        }
    }
    (imports, exports)
}

#[test]
fn they_import_nothing_but_the_pure_interfaces_and_some_the_model() {
    for bundled in ALL {
        let (imports, exports) = names(bundled.wasm);
        let asks = ASKING.contains(&bundled.name);
        let mut permitted: BTreeSet<String> = PERMITTED.map(str::to_owned).into();
        permitted.extend(asks.then(|| MODEL.to_owned()));
        assert_eq!(imports.contains(MODEL), asks, "{}", bundled.name);
        assert!(
            imports.is_subset(&permitted),
            "{} imports {imports:?}",
            bundled.name
        );
        assert!(
            imports.contains(PERMITTED[0]),
            "{} imports {imports:?}",
            bundled.name
        );
        assert_eq!(
            exports,
            ["baler:compaction/strategy@0.1.0".to_owned()].into()
        );
    }
}

/// What components import and export that `baler compose` puts before others.
#[test]
fn filters_and_parts_fit_together() {
    const HISTORY: &str = "baler:compaction/history@0.1.0";
    const STRATEGY: &str = "baler:compaction/strategy@0.1.0";
    const VIEW: &str = "baler:composition/view@0.1.0";
    const OTHERWISE: &str = "baler:composition/otherwise@0.1.0";
    let set = |names: &[&str]| names.iter().map(|name| (*name).to_owned()).collect();
    for filter in FILTERS {
        let (imports, exports) = names(filter.wasm);
        let all = [&PERMITTED[..], &[STRATEGY, VIEW]].concat();
        let permitted: BTreeSet<String> = set(&all);
        assert!(
            imports.is_subset(&permitted),
            "{} imports {imports:?}",
            filter.name
        );
        assert!(
            imports.is_superset(&set(&[STRATEGY, VIEW])),
            "{} imports {imports:?}",
            filter.name
        );
        assert_eq!(exports, set(&[STRATEGY]), "{}", filter.name);
        assert!(by_name(filter.name).is_none() && filter_by_name(filter.name).is_some());
        assert!(
            filter.wasm.len() < 300 * 1024,
            "{} has {} bytes",
            filter.name,
            filter.wasm.len()
        );
    }
    assert_eq!(names(parts::VIEW), (set(&[HISTORY]), set(&[HISTORY, VIEW])));
    let (imports, exports) = names(parts::FALLBACK);
    assert!(
        imports.is_superset(&set(&[STRATEGY, OTHERWISE])),
        "{imports:?}"
    );
    assert_eq!(exports, set(&[STRATEGY]));
    assert!(parts::VIEW.len() < 48 * 1024 && parts::FALLBACK.len() < 200 * 1024);
}

#[test]
fn they_are_small() {
    for bundled in ALL {
        let size = bundled.wasm.len();
        // These write a whole digest; one of them asks a model as well.
        let most = match bundled.name {
            "tiered" => 1104,
            "tiered-model" => 1184,
            // They tell what programs write as the user from the user's words; two write transcripts for
            // their model, and one masks secrets.
            "summarize" | "anchored" | "coalesce" | "mask-tool-outputs" => 350,
            _ => 256,
        };
        assert!(size < most * 1024, "{} has {size} bytes", bundled.name);
    }
}

#[test]
fn they_hold_no_path_of_the_machine_that_built_them() {
    let home = std::env::var("HOME").unwrap_or_default();
    for bundled in ALL {
        let text = String::from_utf8_lossy(bundled.wasm);
        assert!(
            home.len() < 2 || !text.contains(&format!("{home}/")),
            "{}",
            bundled.name
        );
        assert!(
            !text.contains(env!("CARGO_MANIFEST_DIR")),
            "{}",
            bundled.name
        );
    }
}

#[test]
fn they_are_found_by_name() {
    let names: Vec<&str> = ALL.iter().map(|bundled| bundled.name).collect();
    assert_eq!(
        names,
        [
            "tiered",
            "tiered-model",
            "sliding-window",
            "mask-tool-outputs",
            "coalesce",
            "trim",
            "summarize",
            "anchored",
        ]
    );
    for name in names {
        assert_eq!(by_name(name).map(|bundled| bundled.name), Some(name));
    }
    assert!(by_name("nothing").is_none());
}

#[test]
fn a_writer_of_digests_is_known_by_its_bytes() {
    for bundled in ALL {
        let is_writer = ["tiered", "tiered-model"].contains(&bundled.name);
        assert_eq!(writes_digests(bundled.wasm), is_writer, "{}", bundled.name);
    }
    let mut other = by_name("tiered").expect("it is there").wasm.to_vec();
    other.push(0);
    assert!(!writes_digests(&other));
}
