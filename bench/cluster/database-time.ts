import { readdir, readFile } from "node:fs/promises";
import { openConnection } from "../../packages/server/src/database/postgres/postgres-connection.ts";

type Connection = Awaited<ReturnType<typeof openConnection>>;

const microsPerTick = 10_000;

/** The processor time of all processes of a local PostgreSQL. */
export class DatabaseTime implements AsyncDisposable {
  readonly #client: Connection;
  readonly #parent: number;

  private constructor(client: Connection, parent: number) {
    this.#client = client;
    this.#parent = parent;
  }

  static async open(url: string): Promise<DatabaseTime> {
    const client = await openConnection({ url, name: "bench" });
    const { rows } = await client.query<{ pid: number }>("SELECT pg_backend_pid() AS pid");
    const own = await readTimes(rows[0]!.pid);
    return new DatabaseTime(client, own?.parent ?? 0);
  }

  /** In microseconds. */
  async read(): Promise<number> {
    const pids = (await readdir("/proc")).filter((name) => /^\d+$/.test(name)).map(Number);
    const all = await Promise.all(pids.map(async (pid) => ({ pid, times: await readTimes(pid) })));
    let ticks = 0;
    for (const { pid, times } of all) {
      if (times === null) continue;
      if (pid === this.#parent) ticks += times.own + times.ofEnded;
      else if (times.parent === this.#parent) ticks += times.own;
    }
    return ticks * microsPerTick;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#client.end();
  }
}

/** Null for a process that has ended. */
async function readTimes(
  pid: number,
): Promise<{ readonly parent: number; readonly own: number; readonly ofEnded: number } | null> {
  try {
    const text = await readFile(`/proc/${pid}/stat`, "utf8");
    // The program's name comes before and may contain anything.
    const fields = text
      .slice(text.lastIndexOf(")") + 2)
      .split(" ")
      .map(Number);
    return { parent: fields[1]!, own: fields[11]! + fields[12]!, ofEnded: fields[13]! + fields[14]! };
  } catch {
    return null;
  }
}
