/** The connection broke while a request was under way; whether the host acted on it is not known. */
export class ConnectionLostError extends Error {
  override readonly name = "ConnectionLostError";
}

/** The tool host cannot be reached, or stayed away for longer than callers wait. */
export class ToolHostUnreachableError extends Error {
  override readonly name = "ToolHostUnreachableError";
}

/** The tool host does not let this client in: another key, or another release. Trying again does not help. */
export class ToolHostRefusedError extends Error {
  override readonly name = "ToolHostRefusedError";
}
