/** The server gave no answer: it cannot be reached, or the connection broke. Whether the request had an effect is unknown. */
export class ConnectionError extends Error {
  override readonly name = "ConnectionError";

  constructor(baseUrl: string, cause: unknown) {
    super(`The server at ${baseUrl} gave no answer (${reasonOf(cause)}).`, { cause });
  }
}

/** `fetch` hides the reason one level down; a refused connection on several addresses has no message, but a code. */
function reasonOf(cause: unknown): string {
  if (!(cause instanceof Error)) return String(cause);
  const inner = cause.cause;
  if (!(inner instanceof Error)) return cause.message;
  return "code" in inner ? String(inner.code) : inner.message;
}
