//! The files of new projects. They are those of `guest-strategies/examples`, which `.ci/languages` builds and runs.

use crate::contract;
use crate::language::Language;

/// A file of a project: its path in it, and its text.
type File = (&'static str, &'static str);

/// The files of an example.
macro_rules! example {
    ($language:literal: $($path:literal)*) => {
        &[$((
            $path,
            include_str!(concat!("../../../../guest-strategies/examples/", $language, "/", $path)),
        )),*]
    };
}

/// The name that all of them have.
const NAME: &str = "keep-newest";

/// The dependency of the example in Rust on the SDK.
const SDK: &str = "baler-strategy = { path = \"../../sdk\" }";

/// Those that a language needs.
const fn of(language: Language) -> &'static [File] {
    match language {
        // Cargo leaves folders with a `Cargo.toml` out of what it publishes, so these are links to the example.
        Language::Rust => &[
            ("Cargo.toml", include_str!("rust/manifest.toml")),
            ("src/lib.rs", include_str!("rust/lib.rs")),
        ],
        Language::Typescript => example!("typescript":
            "baler-strategy.ts" "package-lock.json" "package.json" "strategy.test.mjs" "strategy.ts" "tsconfig.json"),
        Language::Javascript => example!("javascript":
            "package-lock.json" "package.json" "strategy.js" "strategy.test.mjs"),
        Language::Python => example!("python":
            "baler_strategy.py" "requirements.txt" "strategy.py" "test_strategy.py"),
        Language::C => example!("c":
            "libc/libc.c" "libc/stdlib.h" "libc/string.h" "strategy.c" "strategy_test.c"),
        Language::Go => example!("go": "strategy.go" "strategy_test.go"),
    }
}

/// Returns the paths and texts of a project with this name. `sdk` is how its `Cargo.toml` names the SDK.
pub(super) fn project(language: Language, name: &str, sdk: &str) -> Vec<(String, String)> {
    let ignored = include_str!("../../../../guest-strategies/examples/.gitignore");
    let readme = include_str!("README.md")
        .replace("LANGUAGE", language.name())
        .replace("SOURCE", language.source())
        .replace("TEST", language.test());
    let mut files = vec![
        (".gitignore".to_owned(), ignored.to_owned()),
        ("README.md".to_owned(), readme.replace(NAME, name)),
    ];
    for (path, text) in of(language) {
        let text = text.replace(SDK, sdk).replace(NAME, name);
        files.push(((*path).to_owned(), text));
    }
    // The SDK for Rust has the contract in it.
    if language != Language::Rust {
        for (path, text) in contract::FILES {
            files.push((format!("wit/{path}"), text.to_owned()));
        }
    }
    files
}

#[cfg(test)]
mod tests {
    use clap::ValueEnum as _;

    use super::*;

    #[test]
    fn projects_have_the_new_name_only_and_what_their_language_says_of_them() {
        for language in Language::value_variants() {
            let files = project(*language, "drop-images", "baler-strategy = \"0.1\"");
            let mut names = 0;
            for (path, text) in &files {
                for left in [NAME, "keep_newest", "KeepNewest", "../../sdk", "LANGUAGE"] {
                    assert!(!text.contains(left), "{left} in {path} of {language:?}");
                }
                names += text.matches("drop-images").count();
            }
            // In the README, and where the strategy says its name.
            assert!(names > 3, "{language:?}: {names}");
            for path in [language.mark(), language.source()] {
                assert!(
                    files.iter().any(|(own, _)| own == path),
                    "{path} of {language:?}"
                );
            }
        }
    }
}
