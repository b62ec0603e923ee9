import { once } from "node:events";
import { Agent, request, type ClientRequest } from "node:http";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import type { BenchResult } from "../bench-result.ts";
import { percentile } from "../journal/percentile.ts";
import { startServerProcess, type ServerProcess } from "../node/server-process.ts";

/** P46: an upload of 1 GiB, and its effect on other requests. */
export async function run(): Promise<BenchResult[]> {
  await using server = await startServerProcess();
  using agent = new DisposableAgent({ keepAlive: true });
  await upload(server, 1);
  await Promise.all(Array.from({ length: 100 }, () => ask(server, agent)));
  const { residentMegabytes: before } = await server.read({ isCollected: true });
  await server.watch();
  const durations: number[] = [];
  const ended = { isEnded: false };
  const uploading = upload(server, 1024).finally(() => (ended.isEnded = true));
  while (!ended.isEnded) {
    durations.push(await ask(server, agent));
    await sleep(10);
  }
  await uploading;
  const { maxResidentMegabytes: maxMegabytes } = await server.read();
  return [
    {
      id: "P46.memory",
      name: "an upload of 1 GiB: growth of resident memory",
      value: maxMegabytes - before,
      unit: "MB",
    },
    {
      id: "P46.health",
      name: "the same: time of /health meanwhile, p99",
      value: percentile(durations, 0.99),
      unit: "ms",
      baseline: { name: "median", value: percentile(durations, 0.5) },
    },
  ];
}

class DisposableAgent extends Agent implements Disposable {
  [Symbol.dispose](): void {
    this.destroy();
  }
}

async function upload({ port, key, workDir }: ServerProcess, mebibytes: number): Promise<void> {
  const sent = request({
    port,
    host: "127.0.0.1",
    method: "POST",
    path: `/api/file/upload?path=${encodeURIComponent(join(workDir, "large"))}`,
    headers: { "x-session-api-key": key, "content-type": "multipart/form-data; boundary=xyz" },
  });
  const answered = once(sent, "response");
  await send(sent, mebibytes);
  const [reply] = (await answered) as [{ statusCode: number; resume(): void }];
  reply.resume();
  if (reply.statusCode !== 200) throw new Error(`The upload answered ${reply.statusCode}.`);
}

/** Waits when the server reads more slowly. */
async function send(sent: ClientRequest, mebibytes: number): Promise<void> {
  sent.write('--xyz\r\ncontent-disposition: form-data; name="file"; filename="x"\r\n\r\n');
  const block = Buffer.alloc(256 * 1024);
  for (let count = 0; count < mebibytes * 4; count += 1) {
    if (!sent.write(block)) await once(sent, "drain");
  }
  sent.end("\r\n--xyz--\r\n");
}

async function ask({ port }: ServerProcess, agent: Agent): Promise<number> {
  const startedAt = performance.now();
  const sent = request({ port, host: "127.0.0.1", path: "/health", agent }).end();
  const [reply] = (await once(sent, "response")) as [AsyncIterable<Buffer>];
  for await (const _bytes of reply);
  return performance.now() - startedAt;
}
