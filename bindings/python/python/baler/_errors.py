"""What can go wrong. All exceptions of baler are an `Error`; wrong types of arguments are a `TypeError`."""


class Error(Exception):
    """Base of all exceptions of baler."""


class ConversationError(Error, ValueError):
    """What was given is not a conversation. The message names the place."""


class OptionError(Error, ValueError):
    """An option has a value that is not allowed. The message says what is."""


class StrategyError(Error):
    """A strategy cannot be used: its file, its contract, or what it wants to do."""


class ConfigError(StrategyError, ValueError):
    """The config of a strategy does not fit its schema."""


class ArchiveError(Error):
    """Removed content could not be archived, so nothing was removed; or it could not be read back."""


class HostError(Error):
    """baler or the machine failed: a folder that cannot be written, no memory, too many calls at once."""


class CancelledError(Error):
    """Another thread cancelled the call."""
