import { once } from "node:events";
import { mkdtempSync, rmSync } from "node:fs";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { WebSocketServer } from "ws";

/** The minimum for a durable stream here: all events of one turn of the event loop are one commit, then `ws` sends them to everyone. */
export class BarePipeline implements Disposable {
  readonly port: number;
  readonly #server: WebSocketServer;
  readonly #folder = mkdtempSync(join(tmpdir(), "convoke-bench-"));
  readonly #database = new DatabaseSync(join(this.#folder, "bare.db"));
  #group: { readonly json: string; readonly onStored: () => void }[] = [];

  private constructor(server: WebSocketServer) {
    this.#server = server;
    this.port = (server.address() as AddressInfo).port;
    this.#database.exec(
      "PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL; CREATE TABLE events (seq INTEGER PRIMARY KEY, json TEXT)",
    );
  }

  static async open(): Promise<BarePipeline> {
    const server = new WebSocketServer({ port: 0, host: "127.0.0.1", perMessageDeflate: false });
    await once(server, "listening");
    return new BarePipeline(server);
  }

  /** Resolves when it is stored; then it is being sent to everyone. */
  append(json: string): Promise<void> {
    if (this.#group.length === 0) queueMicrotask(() => this.#commit());
    return new Promise((resolve) => {
      this.#group.push({ json, onStored: resolve });
    });
  }

  #commit(): void {
    const group = this.#group;
    this.#group = [];
    const insert = this.#database.prepare("INSERT INTO events (json) VALUES (?)");
    this.#database.exec("BEGIN IMMEDIATE");
    for (const { json } of group) insert.run(json);
    this.#database.exec("COMMIT");
    for (const { onStored } of group) onStored();
    for (const { json } of group) {
      const frame = Buffer.from(json);
      for (const client of this.#server.clients) client.send(frame, { binary: false });
    }
  }

  [Symbol.dispose](): void {
    for (const client of this.#server.clients) client.terminate();
    this.#server.close();
    this.#database.close();
    rmSync(this.#folder, { recursive: true, force: true });
  }
}
