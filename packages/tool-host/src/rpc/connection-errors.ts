/** The connection broke while a request was pending; whether the host acted on it is unknown. */
export class ConnectionLostError extends Error {
  override readonly name = "ConnectionLostError";
}

/** The tool host cannot be reached, or was unavailable for longer than callers wait. */
export class ToolHostUnreachableError extends Error {
  override readonly name = "ToolHostUnreachableError";
}

/** The tool host rejects this client: another key or another release. Retrying does not help. */
export class ToolHostRefusedError extends Error {
  override readonly name = "ToolHostRefusedError";
}
