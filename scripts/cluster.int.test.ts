import { spawn } from "node:child_process";
import { once } from "node:events";
import { createServer } from "node:net";
import path from "node:path";
import { createInterface } from "node:readline";
import { expect, test } from "vitest";
import { probePostgres } from "../packages/server/src/testing/start-postgres.ts";

const probe = probePostgres();
/** Timeout for steps that take seconds on an idle machine. */
const longMs = 120_000;

test.skipIf(!probe.isUsable)(
  `npm run cluster starts servers that know each other, and leaves nothing (${probe.detail})`,
  async () => {
    const port = await findPorts(3);
    const script = path.join(import.meta.dirname, "cluster.ts");
    const cluster = spawn(process.execPath, [script, `--port=${port}`, "--count=2"], {
      stdio: ["ignore", "pipe", "pipe"],
    });
    const exit = once(cluster, "exit");
    let output = "";
    cluster.stderr.setEncoding("utf8").on("data", (text: string) => (output += text));
    const ready = Promise.withResolvers<string>();
    createInterface({ input: cluster.stdout }).on("line", (line) => {
      output += `${line}\n`;
      if (line.startsWith("{")) ready.resolve((JSON.parse(line) as { ready: string }).ready);
    });
    try {
      const url = await Promise.race([ready.promise, exit.then(() => "it has ended")]);
      expect(url, output).toMatch(/^http:/);
      const ids = async (): Promise<number> => {
        const reply = await fetch(`${url}/api/nodes`);
        if (reply.status !== 200) return 0;
        return ((await reply.json()) as { nodes: unknown[] }).nodes.length;
      };
      await expect.poll(ids, { timeout: longMs }).toBe(2);
    } finally {
      // Like Ctrl-C under npm: one signal from the terminal, a second one from npm.
      cluster.kill("SIGINT");
      cluster.kill("SIGINT");
    }
    expect(await exit, output).toEqual([0, null]);
    await expect(fetch(`http://127.0.0.1:${port + 1}/alive`)).rejects.toThrow("fetch failed");
  },
  4 * longMs,
);

/** The first of `count` free ports, below the range from which systems assign ports. */
async function findPorts(count: number): Promise<number> {
  for (;;) {
    const first = 20_000 + Math.floor(Math.random() * 12_000);
    const ports = Array.from({ length: count }, (_, index) => first + index);
    if ((await Promise.all(ports.map(isFree))).every(Boolean)) return first;
  }
}

async function isFree(port: number): Promise<boolean> {
  const server = createServer().listen(port, "127.0.0.1");
  try {
    await once(server, "listening");
  } catch {
    // The port is in use.
    return false;
  }
  server.close();
  await once(server, "close");
  return true;
}
