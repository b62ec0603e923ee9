import { chmodSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { openLine, type Line } from "./line.ts";

/** A disturbable connection of one server to a PostgreSQL at a socket. */
export type DatabaseLine = Pick<Line, "set"> &
  AsyncDisposable & {
    /** The database's URL through this connection. */
    readonly url: string;
  };

export async function openDatabaseLine(url: string): Promise<DatabaseLine> {
  const folder = mkdtempSync(join(tmpdir(), "convoke-line-"));
  const target = join(new URL(url).searchParams.get("host") ?? "", socketName);
  const line = await openLine(join(folder, socketName), target);
  // A standby uses it too, and runs as another user.
  chmodSync(folder, 0o755);
  chmodSync(join(folder, socketName), 0o777);
  const own = new URL(url);
  own.searchParams.set("host", folder);
  return {
    url: own.href,
    set: line.set,
    [Symbol.asyncDispose]: async () => {
      await line[Symbol.asyncDispose]();
      rmSync(folder, { recursive: true, force: true });
    },
  };
}

const socketName = ".s.PGSQL.5432";
