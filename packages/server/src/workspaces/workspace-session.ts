import type { SecretBox } from "../security/seal.ts";

/** Who a cookie speaks for, as it was when the cookie was given. */
export type SessionHolder = { readonly userId: string; readonly keyId?: string };

export type WorkspaceSessionDeps = { readonly secretBox: SecretBox; readonly nowMs: () => number };

/** The name that clients of this wire know. */
export const workspaceCookie = "oh_workspace_session_key";

/** How long a cookie is good for. */
export const workspaceSessionSeconds = 3_600;

const purpose = "workspace-session";

/**
 * Cookies with which a browser reads the files of its user's conversations, and nothing else. A cookie holds no key: it names its
 * user and its end, sealed, so that only this server can make or read one (W9).
 */
export class WorkspaceSessions {
  readonly #deps: WorkspaceSessionDeps;

  constructor(deps: WorkspaceSessionDeps) {
    this.#deps = deps;
  }

  /** The value of a new cookie. */
  create({ userId, keyId }: SessionHolder): string {
    const { secretBox, nowMs } = this.#deps;
    const endsAtMs = nowMs() + workspaceSessionSeconds * 1_000;
    return secretBox.seal(JSON.stringify({ purpose, userId, keyId, endsAtMs }));
  }

  /** Null for a cookie that is not ours, was altered, or is over. Whether its key was revoked is for the caller to ask. */
  read(value: string): SessionHolder | null {
    const text = this.#open(value);
    if (text === null) return null;
    const session: unknown = JSON.parse(text);
    if (typeof session !== "object" || session === null || !("purpose" in session)) return null;
    // Other things are sealed with this key too.
    if (session.purpose !== purpose) return null;
    const { userId, keyId, endsAtMs } = session as unknown as SessionHolder & { readonly endsAtMs: number };
    if (this.#deps.nowMs() >= endsAtMs) return null;
    return keyId === undefined ? { userId } : { userId, keyId };
  }

  #open(value: string): string | null {
    try {
      const text = this.#deps.secretBox.unseal(value);
      return text.startsWith(`{"purpose"`) ? text : null;
    } catch {
      return null; // Made up, altered, or sealed with a key that was changed since: a stranger's in each case.
    }
  }
}
