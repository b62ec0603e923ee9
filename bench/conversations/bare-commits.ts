import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";

/** A bare database on the same disk: the cost of a number of durable commits, one after the other, without our code. */
export class BareCommits implements Disposable {
  readonly #folder = mkdtempSync(join(tmpdir(), "convoke-bench-"));
  readonly #database = new DatabaseSync(join(this.#folder, "bare.db"));
  /** Milliseconds of each sample. */
  readonly samplesMs: number[] = [];

  constructor() {
    this.#database.exec(
      "PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL; CREATE TABLE events (json TEXT)",
    );
  }

  sample(commitCount: number): void {
    const insert = this.#database.prepare("INSERT INTO events VALUES (?)");
    const startedAt = performance.now();
    for (let count = 0; count < commitCount; count += 1) insert.run("x".repeat(1000));
    this.samplesMs.push(performance.now() - startedAt);
  }

  [Symbol.dispose](): void {
    this.#database.close();
    rmSync(this.#folder, { recursive: true, force: true });
  }
}
