import { fork } from "node:child_process";
import { once } from "node:events";
import type { BenchResult } from "../bench-result.ts";
import { startServerProcess, type ServerProcess } from "../node/server-process.ts";
import { startClients } from "./start-clients.ts";

/**
 * B11: memory of the server per idle socket, compared with bare `ws`. Both free, like a server at rest, what the young heap took for the
 * burst of handshakes: up to a hundred megabytes at random, which belong to no socket.
 */
export async function run(): Promise<BenchResult[]> {
  const bare = await measureBare();
  const ours = await measureServer();
  return [
    {
      id: "B11",
      name: `resident memory of an idle WebSocket, mean of the second ${socketCount}`,
      value: ours,
      unit: "KB",
      baseline: { name: "bare ws", value: bare },
      ratio: ours / bare,
    },
  ];
}

const socketCount = 3_000;

async function measureServer(): Promise<number> {
  await using server = await startServerProcess();
  const id = await startConversation(server);
  const path = `/sockets/events/${id}?session_api_key=${server.key}`;
  return await measure(server.port, path, async () => {
    const { residentMegabytes } = await server.read({ isCollected: true, isAtRest: true });
    return residentMegabytes * 1024;
  });
}

async function measureBare(): Promise<number> {
  const child = fork(new URL("./bare-child.ts", import.meta.url));
  const [port] = (await once(child, "message")) as [number];
  const kilobytes = await measure(port, "/", async () => {
    child.send("read");
    const [bytes] = (await once(child, "message")) as [number];
    return bytes / 1024;
  });
  const ended = once(child, "exit");
  child.disconnect();
  await ended;
  return kilobytes;
}

/** Kilobytes per socket. */
async function measure(port: number, path: string, readKilobytes: () => Promise<number>): Promise<number> {
  const plan = { port, path, socketCount, greetingFrames: 1, eventCount: 0, reportEvery: 1, arrivals: null };
  // The first sockets load code and tables, and make V8 grow for the burst, which later ones share.
  await using _first = await startClients(plan);
  const before = await readKilobytes();
  await using _idle = await startClients(plan);
  return ((await readKilobytes()) - before) / socketCount;
}

async function startConversation(server: ServerProcess): Promise<string> {
  const llm = { model: "openai/scripted", base_url: "http://127.0.0.1:9/v1", api_key: "bench-key" };
  const reply = await fetch(`${server.url}/api/conversations`, {
    method: "POST",
    headers: { "content-type": "application/json", "x-session-api-key": server.key },
    body: JSON.stringify({
      agent: { kind: "Agent", llm, tools: [] },
      workspace: { kind: "LocalWorkspace", working_dir: server.workDir },
    }),
  });
  if (reply.status !== 201) throw new Error(await reply.text());
  return ((await reply.json()) as { id: string }).id;
}
