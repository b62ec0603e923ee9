import { hash, randomBytes } from "node:crypto";
import { putRow, removalBeyond } from "../database/rows.ts";
import type { SealedStoreDeps } from "./store-deps.ts";
import { unsealOrNull } from "../security/seal.ts";

/** What a login at an identity provider needs again when the browser comes back. */
export type LoginState = {
  readonly issuer: string;
  /** Where the provider sends the browser back to. */
  readonly redirectUri: string;
  /** The secret of PKCE, whose digest the provider was sent. */
  readonly verifier: string;
  readonly nonce: string;
  /** The path on the page where the browser goes afterwards. */
  readonly returnTo: string;
};

/** How long a person may take at the provider. */
export const loginStateMs = 600_000;

/** Of one address; above it the oldest end, so that nobody pushes out those of others. */
const maxOfAddress = 100;
const maxWaiting = 10_000;

/**
 * Logins at the identity provider that wait for the browser to come back, to whichever node. Each is found once, by the
 * state in the address and by a secret in a cookie: the state alone, which the provider and the browser's history know, is of
 * no use in another browser. Verifier and nonce are sealed.
 */
export class LoginStates {
  readonly #deps: SealedStoreDeps;

  constructor(deps: SealedStoreDeps) {
    this.#deps = deps;
  }

  /** Null when so many wait that none is added. */
  async begin(
    state: LoginState,
    address: string,
  ): Promise<{ readonly state: string; readonly browserSecret: string } | null> {
    const { database, secretBox, clock } = this.#deps;
    const [given, browserSecret] = [secret(), secret()];
    const nowMs = clock.nowMs();
    const isAdded = await database.transaction(async (tables) => {
      await tables.deleteFrom("login_states").where("ends_at", "<=", nowMs).execute();
      const newest = { column: "ends_at", max: maxOfAddress - 1 } as const;
      await removalBeyond(tables, "login_states", { address }, newest).execute();
      const { count } = await tables
        .selectFrom("login_states")
        .select((select) => select.fn.countAll<number>().as("count"))
        .executeTakeFirstOrThrow();
      if (count >= maxWaiting) return false;
      await putRow(tables, "login_states", {
        digest: digestOf(given, browserSecret),
        sealed_state: secretBox.seal(JSON.stringify(state)),
        address,
        ends_at: nowMs + loginStateMs,
      });
      return true;
    });
    return isAdded ? { state: given, browserSecret } : null;
  }

  /** Consumes a login; null when it is unknown, used, expired or of another browser, which leaves it to that one. */
  async take(state: string, browserSecret: string): Promise<LoginState | null> {
    const { database, secretBox, clock } = this.#deps;
    const row = await database.tables
      .deleteFrom("login_states")
      .where("digest", "=", digestOf(state, browserSecret))
      .returningAll()
      .executeTakeFirst();
    if (row === undefined || row.ends_at <= clock.nowMs()) return null;
    // Without its key the person begins again.
    const opened = unsealOrNull(secretBox, row.sealed_state);
    return opened === null ? null : (JSON.parse(opened) as LoginState);
  }
}

function secret(): string {
  return randomBytes(24).toString("base64url");
}

function digestOf(state: string, browserSecret: string): string {
  return hash("sha256", JSON.stringify([state, browserSecret]));
}
