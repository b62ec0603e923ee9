import type { Fixed } from "./fixed.ts";

/** Logins: of browsers, at an identity provider, and at MCP servers. */
export type LoginTables = {
  /** The credentials of one login to an MCP server; `id` says which, without telling anything about them. */
  mcp_logins: {
    readonly user_id: Fixed<string>;
    readonly id: Fixed<string>;
    readonly sealed_state: string;
    readonly updated_at: number;
  };
  /** What logs a browser in, once. */
  login_tickets: {
    /** SHA-256 of the ticket, in hex; see `LoginStore` for what it has in it besides. */
    readonly digest: Fixed<string>;
    readonly user_id: Fixed<string>;
    /** Of the issued key that it was made with. */
    readonly key_id: Fixed<string | null>;
    readonly ends_at: Fixed<number>;
    /** When the login that it makes ends at the latest; null: no such time. */
    readonly login_ends_at: Fixed<number | null>;
    /** Goes on to the login. */
    readonly sealed_id_token: string | null;
  };
  /** A browser that is logged in; the digests are those of its two halves. */
  browser_logins: {
    readonly id: Fixed<string>;
    readonly user_id: Fixed<string>;
    readonly key_id: Fixed<string | null>;
    readonly cookie_digest: Fixed<string>;
    readonly proof_digest: Fixed<string>;
    readonly client: Fixed<string>;
    readonly address: Fixed<string>;
    readonly created_at: Fixed<number>;
    /** To the minute. */
    readonly last_used_at: number;
    readonly ends_at: number;
    /** Use moves `ends_at` no further than this; null: no such time. */
    readonly last_ends_at: Fixed<number | null>;
    /** Of the identity provider, to log out there too; null: it was not made there, or is not logged out there. */
    readonly sealed_id_token: string | null;
  };
  /** A person at an identity provider, and the user that they are here. */
  identities: {
    readonly issuer: Fixed<string>;
    readonly subject: Fixed<string>;
    readonly user_id: Fixed<string>;
    readonly created_at: Fixed<number>;
  };
  /** A login at the identity provider from which the browser has not come back. */
  login_states: {
    /** SHA-256 of the state and the browser's cookie, in hex. */
    readonly digest: Fixed<string>;
    /** JSON: the PKCE verifier, the nonce, and where the browser goes afterwards. */
    readonly sealed_state: string;
    /** The client's address. */
    readonly address: Fixed<string>;
    readonly ends_at: Fixed<number>;
  };
};
