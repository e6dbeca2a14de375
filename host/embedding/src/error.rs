//! What can go wrong, for every language.

use std::fmt;

use baler_host::HostError;
use baler_host::archive::ArchiveError;
use baler_host::compactor::{OptionError, ResumeError};
use baler_host::conversation::ReadError;
use baler_host::strategy::{ConfigError, IntrospectError};

/// What kind of error it is. Bindings have a class or a code for each.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Kind {
    /// What was given is not a conversation.
    Conversation,
    /// An option has a value that is not allowed.
    Option,
    /// A strategy cannot be used.
    Strategy,
    /// The config of a strategy does not fit its schema.
    Config,
    /// Removed content could not be archived or read back.
    Archive,
    /// The host or the machine failed.
    Host,
    /// The call was cancelled.
    Cancelled,
}

impl Kind {
    /// All kinds.
    pub const ALL: [Self; 7] = [
        Self::Conversation,
        Self::Option,
        Self::Strategy,
        Self::Config,
        Self::Archive,
        Self::Host,
        Self::Cancelled,
    ];

    /// The name of a class for it, as languages with classes have it.
    #[must_use]
    pub const fn class(self) -> &'static str {
        match self {
            Self::Conversation => "ConversationError",
            Self::Option => "OptionError",
            Self::Strategy => "StrategyError",
            Self::Config => "ConfigError",
            Self::Archive => "ArchiveError",
            Self::Host => "HostError",
            Self::Cancelled => "CancelledError",
        }
    }
}

/// What the caller can do about an error, where that reads otherwise in each language.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Remedy {
    /// Grant a strategy the model that the host has.
    GrantModel,
    /// Give the host a model.
    GiveModel,
    /// Load a strategy from a file.
    LoadFile,
    /// Give the host an archive.
    GiveArchive,
}

/// What went wrong.
#[derive(Debug, Clone)]
pub struct Error {
    /// The kind.
    pub kind: Kind,
    /// The option that it is about, if it is about one.
    pub option: Option<String>,
    /// What was expected and what was found.
    pub message: String,
    /// What to do, in the words of the language.
    pub remedy: Option<Remedy>,
}

impl Error {
    /// Creates an error.
    #[must_use]
    pub const fn new(kind: Kind, message: String) -> Self {
        Self {
            kind,
            option: None,
            message,
            remedy: None,
        }
    }

    /// An error about an option.
    #[must_use]
    pub fn option(name: &str, message: impl fmt::Display) -> Self {
        Self {
            option: Some(name.to_owned()),
            ..Self::new(Kind::Option, message.to_string())
        }
    }

    pub(crate) const fn strategy(message: String) -> Self {
        Self::new(Kind::Strategy, message)
    }

    pub(crate) const fn host(message: String) -> Self {
        Self::new(Kind::Host, message)
    }
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if let Some(option) = &self.option {
            write!(f, "`{option}`: ")?;
        }
        f.write_str(&self.message)
    }
}

impl std::error::Error for Error {}

impl From<ReadError> for Error {
    fn from(error: ReadError) -> Self {
        Self::new(Kind::Conversation, error.to_string())
    }
}

impl From<HostError> for Error {
    fn from(error: HostError) -> Self {
        match error {
            HostError::Archive(error) => error.into(),
            HostError::NoSuchUnit { .. } => Self::new(Kind::Option, error.to_string()),
            error => Self::host(baler_host::with_causes(&error)),
        }
    }
}

impl From<ArchiveError> for Error {
    fn from(error: ArchiveError) -> Self {
        Self::new(Kind::Archive, error.to_string())
    }
}

impl From<ConfigError> for Error {
    fn from(error: ConfigError) -> Self {
        Self::new(Kind::Config, baler_host::with_causes(&error))
    }
}

impl From<IntrospectError> for Error {
    fn from(error: IntrospectError) -> Self {
        match error {
            IntrospectError::Host(error) => error.into(),
            error => Self::strategy(baler_host::with_causes(&error)),
        }
    }
}

impl From<OptionError> for Error {
    fn from(error: OptionError) -> Self {
        Self::new(Kind::Option, error.to_string())
    }
}

impl From<ResumeError> for Error {
    fn from(error: ResumeError) -> Self {
        Self::new(Kind::Conversation, baler_host::with_causes(&error))
    }
}
