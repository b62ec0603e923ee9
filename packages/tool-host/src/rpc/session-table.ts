import { randomUUID } from "node:crypto";
import { readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import type { SessionSpec, ToolHost, ToolSession } from "../host.ts";

/** A session as one client holds it. `owner` is its latest connection, undefined once that is lost. */
type Held = {
  readonly sessionId: string;
  readonly opening: Promise<OpenedSession>;
  owner: object | undefined;
};

export type OpenedSession = { readonly session: ToolSession; readonly recordsId: string };

export type SessionTableDeps = {
  readonly host: Promise<ToolHost>;
  readonly onWarning: (text: string) => void;
  /** Directory for records instead of the ones in specs, with one directory per session id. */
  readonly stateDir: string | undefined;
};

/**
 * Which client holds which session. A lost connection releases nothing: the client reconnects and takes its hold over. Closing the
 * last hold with a connection ends the session, together with the holds of clients that never reconnected.
 */
export class SessionTable {
  readonly #deps: SessionTableDeps;
  readonly #held = new Map<string, Held>();

  constructor(deps: SessionTableDeps) {
    this.#deps = deps;
  }

  async open(handle: string, spec: SessionSpec, owner: object): Promise<OpenedSession> {
    const known = this.#held.get(handle);
    if (known !== undefined) {
      known.owner = owner;
      return known.opening;
    }
    const opening = this.#open(spec);
    const held: Held = { sessionId: spec.sessionId, opening, owner };
    this.#held.set(handle, held);
    try {
      return await opening;
    } catch (error) {
      if (this.#held.get(handle) === held) this.#held.delete(handle);
      throw error;
    }
  }

  /** The session behind a handle of this connection. */
  async session(handle: string): Promise<ToolSession> {
    const held = this.#held.get(handle);
    if (held === undefined) throw new Error("The tool session is closed.");
    return (await held.opening).session;
  }

  async close(handle: string): Promise<void> {
    const held = this.#held.get(handle);
    if (held === undefined) return;
    this.#held.delete(handle);
    const same = [...this.#held].filter(([, other]) => other.sessionId === held.sessionId);
    const isLast = same.every(([, other]) => other.owner === undefined);
    const ended = isLast ? [held, ...same.map(([, other]) => other)] : [held];
    if (isLast) for (const [orphan] of same) this.#held.delete(orphan);
    await Promise.all(ended.map(async ({ opening }) => (await opening).session[Symbol.asyncDispose]()));
  }

  /** The connection is lost; executions continue. */
  detach(owner: object): void {
    for (const held of this.#held.values()) if (held.owner === owner) held.owner = undefined;
  }

  async #open(requested: SessionSpec): Promise<OpenedSession> {
    const spec = this.#place(requested);
    const host = await this.#deps.host;
    const session = await host.openSession(spec);
    return { session, recordsId: await this.#readRecordsId(spec.stateDir) };
  }

  #place(spec: SessionSpec): SessionSpec {
    if (this.#deps.stateDir === undefined) return spec;
    if (!/^(?!\.)[\w.-]{1,200}$/.test(spec.sessionId)) {
      throw new Error("A session id may hold letters, digits, '.', '_' and '-' only.");
    }
    return { ...spec, stateDir: join(this.#deps.stateDir, spec.sessionId) };
  }

  /** Without a lasting id, a client would have to assume after every restart that the records were lost. */
  async #readRecordsId(stateDir: string): Promise<string> {
    const path = join(stateDir, "records-id");
    try {
      await writeFile(path, randomUUID(), { flag: "wx", mode: 0o600, flush: true });
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== "EEXIST") {
        this.#deps.onWarning(`The file ${path} cannot be written: ${String(error)}`);
        return randomUUID();
      }
    }
    return readFile(path, "utf8");
  }
}
