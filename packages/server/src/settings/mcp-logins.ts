import { createHash, hash } from "node:crypto";
import { setTimeout as sleep } from "node:timers/promises";
import type { NamedLease, NamedLeases } from "../cluster/named-leases.ts";
import { putRow, removalBeyond, rowsWith } from "../database/rows.ts";
import type { SealedStoreDeps } from "./store-deps.ts";
import { unsealOrNull } from "../security/seal.ts";

export type McpLoginsDeps = SealedStoreDeps & { readonly leases: Pick<NamedLeases, "take"> };

/** Tokens and the registration of the client that got them, in the form of `auth.state`. */
export type McpLoginState = Readonly<Record<string, unknown>>;

/** One login of one user, shared by conversations: they all use tokens that one refreshes. */
export interface McpLogin {
  /** Null when nothing is stored, or when it cannot be decrypted. */
  read(): Promise<McpLoginState | null>;
  write(state: McpLoginState): Promise<void>;
  /**
   * Runs exclusively for this login: after earlier jobs in this process, and while no other node runs one. Rejects when
   * another node's job does not end.
   */
  exclusively<Result>(work: () => Promise<Result>): Promise<Result>;
}

const maxLogins = 200;
/** The number of leases that logins share: each may be a permanent file. */
const leaseCount = 64;
const leaseWaitMs = 60_000;
const leasePollMs = 50;

/**
 * The sealed tokens of logins to MCP servers. A login is found by the server's address and the tokens in a
 * configuration, so that a stored configuration still works after its tokens were replaced.
 */
export class McpLogins {
  readonly #deps: McpLoginsDeps;
  readonly #queues = new Map<string, Promise<void>>();

  constructor(deps: McpLoginsDeps) {
    this.#deps = deps;
  }

  /** The login that a configuration with these tokens, or without any, continues. */
  open(userId: string, url: string, configured: McpLoginState): McpLogin {
    const named = loginId(url, configured);
    const found = async (): Promise<string> => {
      const stored = await this.#read(userId, named);
      return typeof stored?.["same_as"] === "string" ? stored["same_as"] : named;
    };
    return {
      read: async () => await this.#read(userId, await found()),
      write: async (state) => await this.#write(userId, await found(), state),
      exclusively: async (work) => {
        const id = `${userId} ${await found()}`;
        return await this.#queue(id, async () => {
          await using _lease = await this.#takeLease(leaseOf(id));
          return await work();
        });
      },
    };
  }

  /** Stores a new login: it applies to configurations without tokens, and to those with these tokens. */
  async begin(userId: string, url: string, state: McpLoginState): Promise<void> {
    const id = loginId(url, {});
    await this.#write(userId, id, state);
    const named = loginId(url, state);
    if (named !== id) await this.#write(userId, named, { same_as: id });
  }

  async #queue<Result>(id: string, work: () => Promise<Result>): Promise<Result> {
    const before = this.#queues.get(id) ?? Promise.resolve();
    const result = before.then(work);
    const settled = result.then(
      () => {},
      () => {}, // The caller of the job gets the error.
    );
    this.#queues.set(id, settled);
    try {
      return await result;
    } finally {
      if (this.#queues.get(id) === settled) this.#queues.delete(id);
    }
  }

  async #takeLease(name: string): Promise<NamedLease> {
    const deadlineMs = performance.now() + leaseWaitMs;
    for (;;) {
      const lease = await this.#deps.leases.take(name);
      if (lease !== null) return lease;
      if (performance.now() > deadlineMs)
        throw new Error("Another server has been refreshing this login for a minute. Try again later.");
      await sleep(leasePollMs);
    }
  }

  async #read(userId: string, id: string): Promise<McpLoginState | null> {
    const { database, secretBox } = this.#deps;
    const row = await rowsWith(database.tables, "mcp_logins", { user_id: userId, id }).executeTakeFirst();
    // Without its key the person must log in again.
    const opened = row === undefined ? null : unsealOrNull(secretBox, row.sealed_state);
    return opened === null ? null : (JSON.parse(opened) as McpLoginState);
  }

  async #write(userId: string, id: string, state: McpLoginState): Promise<void> {
    const { database, secretBox, clock } = this.#deps;
    const values = { sealed_state: secretBox.seal(JSON.stringify(state)), updated_at: clock.nowMs() };
    await database.transaction(async (tables) => {
      await putRow(tables, "mcp_logins", { user_id: userId, id, ...values });
      const newest = { column: "updated_at", max: maxLogins } as const;
      await removalBeyond(tables, "mcp_logins", { user_id: userId }, newest).execute();
    });
  }
}

function leaseOf(id: string): string {
  return `mcp-login-${createHash("sha256").update(id).digest().readUInt32BE() % leaseCount}`;
}

function loginId(url: string, configured: McpLoginState): string {
  const tokens = (configured["tokens"] ?? {}) as Readonly<Record<string, unknown>>;
  const named = tokens["refresh_token"] ?? tokens["access_token"] ?? "";
  return hash("sha256", JSON.stringify([url, named]));
}
