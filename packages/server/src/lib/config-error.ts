/** A setting with a value that cannot be used; the message names the setting and the fix. */
export class ConfigError extends Error {
  override readonly name = "ConfigError";
}
