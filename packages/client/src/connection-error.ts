/** The server gave no answer: it is unreachable, or the connection broke. Whether the request had an effect is unknown. */
export class ConnectionError extends Error {
  override readonly name = "ConnectionError";

  constructor(baseUrl: string, cause: unknown) {
    super(`The server at ${baseUrl} gave no answer (${reasonOf(cause)}).`, { cause });
  }
}

/** `fetch` puts the reason into `cause`. A refused connection on several addresses has no message there, only a code. */
function reasonOf(cause: unknown): string {
  if (!(cause instanceof Error)) return String(cause);
  const inner = cause.cause;
  if (!(inner instanceof Error)) return cause.message;
  return "code" in inner ? String(inner.code) : inner.message;
}
