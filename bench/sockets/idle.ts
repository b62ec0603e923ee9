import type { BenchResult } from "../bench-result.ts";
import { startServerProcess, type ServerProcess } from "../node/server-process.ts";
import { startClients } from "./start-clients.ts";

/** B11: what the server holds for a socket on which nothing happens. */
export async function run(): Promise<BenchResult[]> {
  await using server = await startServerProcess();
  const id = await startConversation(server);
  const plan = {
    port: server.port,
    path: `/sockets/events/${id}?session_api_key=${server.key}`,
    greetingFrames: 1,
    eventCount: 0,
    reportEvery: 1,
    arrivals: null,
  };
  // The first ones bring code and tables that later ones share.
  await using _warm = await startClients({ ...plan, socketCount: warmUpCount });
  const before = (await server.read({ isCollected: true })).residentMegabytes;
  await using _idle = await startClients({ ...plan, socketCount });
  const after = (await server.read({ isCollected: true })).residentMegabytes;
  return [
    {
      id: "B11",
      name: `resident memory of an idle WebSocket, mean of ${socketCount}`,
      value: ((after - before) * 1024) / socketCount,
      unit: "KB",
    },
  ];
}

const warmUpCount = 500;
const socketCount = 3_000;

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
