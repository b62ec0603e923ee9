/** The server requires a login, or another one than it was given. */
export class LoginNeededError extends Error {
  override readonly name = "LoginNeededError";

  constructor() {
    super("It wants a person to log in; begin a login at /api/mcp/oauth/start.");
  }
}

/** Whether a failed connection wants a login or another key: its own word (401), that of the library, or ours. */
export function wantsLogin(error: unknown): boolean {
  if (!(error instanceof Error)) return false;
  const { status, code } = error as { status?: unknown; code?: unknown };
  const isRefused = status === 401 || code === 401 || /^(LoginNeeded|Unauthorized)Error$/.test(error.name);
  return isRefused || wantsLogin(error.cause);
}
