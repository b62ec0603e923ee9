import { spawn, spawnSync } from "node:child_process";
import { once } from "node:events";
import { chownSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Client } from "pg";
import { findDatabaseUser } from "./start-postgres.ts";
import { until } from "./until.ts";

/** A pooler in transaction mode in front of a database: each transaction may run in another backend process. */
export type TestPgbouncer = AsyncDisposable & {
  /** URL of the given database through the pooler. */
  readonly url: string;
};

/** What is missing for {@link startPgbouncer}; null for nothing. */
export function whyNoPgbouncer(): string | null {
  const { error } = spawnSync(program, ["--version"]);
  return error === undefined ? null : "pgbouncer is not installed: apt-get install pgbouncer";
}

/** Starts a pooler for the database of `url`, which is at a socket, with few connections to it. */
export async function startPgbouncer(url: string): Promise<TestPgbouncer> {
  const folder = mkdtempSync(join(tmpdir(), "convoke-pgbouncer-"));
  const target = new URL(url);
  const settings = join(folder, "settings.ini");
  const users = join(folder, "users");
  writeFileSync(users, `"${target.username}" ""\n`);
  writeFileSync(
    settings,
    `[databases]
* = host=${target.searchParams.get("host")} port=5432
[pgbouncer]
listen_addr =
listen_port = 5432
unix_socket_dir = ${folder}
auth_type = trust
auth_file = ${users}
pool_mode = transaction
default_pool_size = 8
server_login_retry = 1
`,
  );
  // It refuses to run as root.
  const user = process.getuid?.() === 0 ? findDatabaseUser() : null;
  if (user !== null) for (const file of [folder, settings, users]) chownSync(file, user.uid, user.gid);
  const pooler = spawn(program, [settings], { cwd: folder, stdio: ["ignore", "ignore", "pipe"], ...user });
  const errorOutput: string[] = [];
  pooler.stderr.setEncoding("utf8").on("data", (text: string) => errorOutput.push(text));
  const ended = once(pooler, "exit");
  const stop = async (): Promise<void> => {
    pooler.kill("SIGKILL");
    await ended;
    rmSync(folder, { recursive: true, force: true });
  };
  target.searchParams.set("host", folder);
  try {
    await until(async () => {
      if (pooler.exitCode !== null) throw new Error(`pgbouncer did not start: ${errorOutput.join("")}`);
      return await answers(target.href);
    });
  } catch (error) {
    await stop();
    throw error;
  }
  return { url: target.href, [Symbol.asyncDispose]: stop };
}

const program = "pgbouncer";

async function answers(url: string): Promise<boolean> {
  const client = new Client({ connectionString: url });
  client.on("error", () => {});
  try {
    await client.connect();
    await client.query("SELECT 1");
    return true;
  } catch {
    return false;
  } finally {
    await client.end();
  }
}
