import type { UserRole } from "@convoke/protocol";

/** What a share link shows of its conversation. */
export type Share = {
  readonly expiresAtMs: number | null;
  /** Null: the whole conversation. */
  readonly upTo: SharedEnd | null;
  readonly hasSystemPrompt: boolean;
};

/** The last event that a share link shows. */
export type SharedEnd = { readonly eventId: string; readonly seq: number; readonly micros: number };

/** Who a request acts for. */
export type Caller = {
  readonly userId: string;
  /** What the caller may do; absent where only the user is known, see `roleOf`. */
  readonly role?: UserRole | undefined;
  /** The only conversation that there is for the caller's key, as the store spells it. */
  readonly onlyConversation?: string | undefined;
  /** What the caller reads of that conversation, for the key of a share link. */
  readonly share?: Share | undefined;
  /** The id of the issued key that authenticated the caller; absent for keys that cannot be revoked. */
  readonly keyId?: string | undefined;
  /** The id of the browser login that authenticated the caller. */
  readonly loginId?: string | undefined;
  /** How the caller was authenticated, when it was not by a user's key. */
  readonly means?: "cookie" | "login" | "oidc" | "page" | "sandbox key" | "port key" | undefined;
};

/** The user of configured keys and of the data folder's own key, and of every request where no key is needed. */
export const localUser: Caller = { userId: "local", role: "admin" };
