import { spawn, type ChildProcess } from "node:child_process";
import { randomBytes } from "node:crypto";
import { once } from "node:events";
import { mkdir, mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import { createInterface } from "node:readline";
import { setTimeout as sleep } from "node:timers/promises";
import { parseArgs } from "node:util";
import { probePostgres, startPostgres } from "../packages/server/src/testing/start-postgres.ts";
import { nginxSettings } from "./cluster-nginx.ts";

/*
 * `npm run cluster`: three servers from the sources on one PostgreSQL, behind nginx where it is installed, to try what happens
 * when one of them is killed. Everything is removed at the end.
 */
const { values } = parseArgs({
  options: {
    port: { type: "string", default: "8100" },
    count: { type: "string", default: "3" },
    sandbox: { type: "string", default: "auto" },
  },
});
const port = Number(values.port);
const count = Number(values.count);
/** Longer than the other servers need to notice that one is dead, so that they take its conversations over. */
const restartMs = 10_000;
const removeMs = 15_000;
const program = path.resolve(import.meta.dirname, "../packages/cli/src/bin.ts");

const closing = new AbortController();
/** Aborted once the sandboxes are empty: containers would outlive their servers. */
const stopping = new AbortController();
// Not `once`: Ctrl-C arrives from the terminal and again from npm, and a second unhandled signal would kill this program before its servers.
for (const signal of ["SIGINT", "SIGTERM"] as const) process.on(signal, () => closing.abort());

const probe = probePostgres();
if (!probe.isUsable) {
  console.error(probe.detail);
  process.exit(2);
}
await using scope = new AsyncDisposableStack();
// A short prefix: the path of the database's socket has a length limit.
const folder = await mkdtemp(path.join(tmpdir(), "convoke-cluster-"));
scope.defer(() => rm(folder, { recursive: true, force: true, maxRetries: 5 }));
const postgres = scope.use(await startPostgres());
const environment = {
  ...process.env,
  CONVOKE_DATABASE: await postgres.createDatabase(),
  CONVOKE_SECRET_KEY: randomBytes(32).toString("base64"),
  CONVOKE_TRUSTED_PROXIES: "127.0.0.1",
};
await mkdir(path.join(folder, "work"));
const ports = Array.from({ length: count }, (_, index) => port + 1 + index);
const servers = ports.map((own) => keepServer(own));
scope.defer(async () => {
  await Promise.all(servers.map(({ ended }) => ended));
});
await Promise.all(servers.map(({ ready }) => ready));
const entry = await startNginx();
if (!closing.signal.aborted) {
  console.log(
    entry === null ? "nginx is not installed: ask any of the servers above." : `All of them: ${entry}`,
  );
  console.log(`Kill one server (kill -9): it is started again after ${restartMs / 1000} seconds.`);
  console.log("Ctrl-C stops everything and removes all files.");
  console.log(JSON.stringify({ ready: entry ?? `http://127.0.0.1:${ports[0]}` }));
  await once(closing.signal, "abort");
  await removeSandboxes(`http://127.0.0.1:${ports[0]}`);
}
stopping.abort();

async function removeSandboxes(url: string): Promise<void> {
  const place = `${url}/api/v1/sandboxes`;
  try {
    const found = await fetch(`${place}/search`, { signal: AbortSignal.timeout(removeMs) });
    const { items = [] } = (await found.json()) as { items?: { id: string }[] };
    for (const { id } of items) {
      const removed = await fetch(`${place}/${id}`, {
        method: "DELETE",
        signal: AbortSignal.timeout(removeMs),
      });
      if (!removed.ok) console.error(`Sandbox ${id} may be left: ${await removed.text()}`);
    }
  } catch (error) {
    console.error(`Sandboxes may be left: ${String(error)}`);
  }
}

/** Starts a server and restarts it whenever it ends. */
function keepServer(own: number): { readonly ready: Promise<void>; readonly ended: Promise<void> } {
  const ready = Promise.withResolvers<void>();
  const keep = async (): Promise<void> => {
    while (!stopping.signal.aborted) {
      const server = startServer(own);
      const exit = once(server, "exit");
      const stop = (): void => void server.kill("SIGTERM");
      stopping.signal.addEventListener("abort", stop);
      const first = await Promise.race([once(createInterface({ input: server.stdout! }), "line"), exit]);
      if (typeof first[0] === "string" && server.exitCode === null)
        console.log(`http://127.0.0.1:${own}  process ${server.pid}`);
      ready.resolve();
      await exit;
      stopping.signal.removeEventListener("abort", stop);
      if (!stopping.signal.aborted) {
        console.log(`http://127.0.0.1:${own}  has ended`);
        // Stopped by Ctrl-C: nothing to wait for.
        await sleep(restartMs, null, { signal: stopping.signal }).catch(() => {});
      }
    }
  };
  return { ready: ready.promise, ended: keep() };
}

function startServer(own: number): ChildProcess {
  const options = [
    "--no-auth",
    `--sandbox=${values.sandbox}`,
    "--json",
    `--port=${own}`,
    `--data-dir=${path.join(folder, `server-${own}`)}`,
    `--workspace-root=${path.join(folder, "work")}`,
  ];
  return spawn(process.execPath, [program, "serve", ...options], {
    env: environment,
    stdio: ["ignore", "pipe", "inherit"],
    // A Ctrl-C reaches the whole foreground process group; these servers are in another group and are stopped by `stopping`.
    detached: true,
  });
}

/** Null when nginx is not installed. */
async function startNginx(): Promise<string | null> {
  const file = path.join(folder, "nginx.conf");
  await writeFile(file, nginxSettings({ folder, port, servers: ports }));
  const nginx = spawn("nginx", ["-p", folder, "-c", file, "-e", "stderr"], { stdio: "inherit" });
  const [failure] = (await Promise.race([once(nginx, "spawn"), once(nginx, "error")]).catch(
    (error: unknown) => [error],
  )) as [unknown];
  if (failure !== undefined) return null;
  const exit = once(nginx, "exit");
  scope.defer(async () => {
    nginx.kill("SIGTERM");
    await exit;
  });
  return `http://127.0.0.1:${port}`;
}
