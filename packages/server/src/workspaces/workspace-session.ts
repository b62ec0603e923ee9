import type { Caller } from "../security/caller.ts";
import type { SecretBox } from "../security/seal.ts";
import type { Clock } from "../lib/clock.ts";

/** The caller that a cookie authenticates, as of its creation. */
export type SessionHolder = Pick<Caller, "userId" | "keyId" | "loginId">;

/** A cookie that is good: who it speaks for, and the page that asked for it; null where that was none of another site. */
export type WorkspaceSession = { readonly holder: SessionHolder; readonly origin: string | null };

type Sealed = SessionHolder & {
  readonly endsAtMs: number;
  readonly origin?: string | undefined;
  readonly conversationId?: string | undefined;
  readonly port?: number | undefined;
};

/** What an address of a preview opens, and for whom it was made. */
export type Preview = {
  readonly holder: SessionHolder;
  readonly conversationId: string;
  readonly port: number;
};

export type WorkspaceSessionDeps = { readonly secretBox: SecretBox; readonly clock: Clock };

/** The name that clients of this wire know. */
export const workspaceCookie = "oh_workspace_session_key";

/** The TTL of a cookie. */
export const workspaceSessionSeconds = 3_600;

/** The TTL of a page's capability URL: enough to load the page's files. */
const pageSeconds = 900;

/** The TTL of a preview's capability URL. */
export const previewSeconds = 3_600;

const purpose = "workspace-session";
const pagePurpose = "workspace-page";
const previewPurpose = "port-preview";

/**
 * Cookies with which a browser reads the files of its user's conversations, and nothing else. A cookie holds no key: it names its
 * user and its end, sealed, so that only this server can make or read one (W9).
 */
export class WorkspaceSessions {
  readonly #deps: WorkspaceSessionDeps;

  constructor(deps: WorkspaceSessionDeps) {
    this.#deps = deps;
  }

  /** The value of a new cookie, with which a page of `origin` may read as well. */
  create(holder: SessionHolder, origin?: string): string {
    return this.#seal(purpose, holder, workspaceSessionSeconds, { origin });
  }

  /** What opens the files of one conversation for a moment, as a part of an address. */
  createPage(holder: SessionHolder, conversationId: string): string {
    return toAddressPart(this.#seal(pagePurpose, holder, pageSeconds, { conversationId }));
  }

  /** What opens one port of a conversation's workspace for a while, as a part of an address. */
  createPreview({ holder, ...place }: Preview): string {
    return toAddressPart(this.#seal(previewPurpose, holder, previewSeconds, place));
  }

  /** As {@link read}, for the part of a preview's address. */
  readPreview(capability: string): Preview | null {
    const found = this.#read(fromAddressPart(capability), previewPurpose);
    if (found === null || found.conversationId === null || found.port === null) return null;
    return { holder: found.holder, conversationId: found.conversationId, port: found.port };
  }

  /** As {@link read}, for a part of an address, and null for one of another conversation. */
  readPage(capability: string, conversationId: string): SessionHolder | null {
    const found = this.#read(fromAddressPart(capability), pagePurpose);
    return found?.conversationId === conversationId ? found.holder : null;
  }

  /** Null for a foreign, altered or expired cookie. The caller checks whether its key was revoked. */
  read(value: string): WorkspaceSession | null {
    return this.#read(value, purpose);
  }

  /** The purpose stands first. */
  #seal(
    purposeOf: string,
    { userId, keyId, loginId }: SessionHolder,
    seconds: number,
    rest: Partial<Sealed>,
  ): string {
    const { secretBox, clock } = this.#deps;
    const endsAtMs = clock.nowMs() + seconds * 1_000;
    return secretBox.seal(JSON.stringify({ purpose: purposeOf, userId, keyId, loginId, endsAtMs, ...rest }));
  }

  #read(sealed: string, wanted: string): Found | null {
    const text = this.#open(sealed);
    if (text === null) return null;
    const session: unknown = JSON.parse(text);
    if (typeof session !== "object" || session === null || !("purpose" in session)) return null;
    // Other things are sealed with this key too.
    if (session.purpose !== wanted) return null;
    const {
      userId,
      keyId,
      loginId,
      endsAtMs,
      origin = null,
      conversationId = null,
      port = null,
    } = session as unknown as Sealed;
    if (this.#deps.clock.nowMs() >= endsAtMs) return null;
    return { holder: { userId, keyId, loginId }, origin, conversationId, port };
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

type Found = WorkspaceSession & {
  readonly conversationId: string | null;
  readonly port: number | null;
};

function toAddressPart(sealed: string): string {
  return sealed.replaceAll("+", "-").replaceAll("/", "_").replaceAll("=", "~");
}

function fromAddressPart(part: string): string {
  return part.replaceAll("-", "+").replaceAll("_", "/").replaceAll("~", "=");
}
