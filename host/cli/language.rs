//! The languages in which `baler new` begins a strategy, and which `baler build` recognizes.

use std::path::Path;

use clap::ValueEnum;

/// A language. `baler build` takes the first one whose mark a folder has: TypeScript has that of JavaScript too.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum Language {
    Rust,
    Typescript,
    Javascript,
    Python,
    C,
    Go,
}

impl Language {
    /// Returns the language of the project in a folder; `None` if it holds no mark of any.
    pub(crate) fn of(folder: &Path) -> Option<Self> {
        Self::value_variants()
            .iter()
            .copied()
            .find(|language| folder.join(language.mark()).is_file())
    }

    /// Returns the file by which a project in this language is recognized.
    pub(crate) const fn mark(self) -> &'static str {
        match self {
            Self::Rust => "Cargo.toml",
            Self::Typescript => "tsconfig.json",
            Self::Javascript => "package.json",
            Self::Python => "strategy.py",
            Self::C => "strategy.c",
            Self::Go => "strategy.go",
        }
    }

    /// Returns the file that holds the strategy in a new project.
    pub(crate) const fn source(self) -> &'static str {
        match self {
            Self::Rust => "src/lib.rs",
            Self::Typescript => "strategy.ts",
            Self::Javascript => "strategy.js",
            Self::Python | Self::C | Self::Go => self.mark(),
        }
    }

    /// Returns the command of the language that runs the tests of a new project.
    pub(crate) const fn test(self) -> &'static str {
        match self {
            Self::Rust => "cargo test",
            Self::Typescript | Self::Javascript => "npm test",
            Self::Python => "python3 -m unittest",
            Self::C => "cc -Ibuild -o build/test strategy.c strategy_test.c && build/test",
            Self::Go => "go test -C build ./export_baler_compaction_strategy",
        }
    }

    /// Returns the name of the language for people.
    pub(crate) const fn name(self) -> &'static str {
        match self {
            Self::Rust => "Rust",
            Self::Typescript => "TypeScript",
            Self::Javascript => "JavaScript",
            Self::Python => "Python",
            Self::C => "C",
            Self::Go => "Go",
        }
    }
}
