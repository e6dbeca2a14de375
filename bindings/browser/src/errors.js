/** What can go wrong. The names are those of the npm package `baler`. */

/** An error of baler. `kind`: `ConversationError`, `OptionError`, `StrategyError`, `ConfigError`, `ArchiveError` or `HostError`. */
export class BalerError extends Error {
  /**
   * @param {string} kind
   * @param {string} message
   * @param {string | null} [option] The option that it is about.
   */
  constructor(kind, message, option = null) {
    super(message)
    this.name = kind
    this.kind = kind
    this.option = option
  }
}
