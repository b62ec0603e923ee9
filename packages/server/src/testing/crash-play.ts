import { mkdir } from "node:fs/promises";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { ApiError, type ConvokeClient } from "@convoke/client";
import type { Event, StartConversationRequest } from "@convoke/protocol";
import { replayConversation, type ReplayReport } from "../admin/replay.ts";
import { readIfThere } from "../lib/read-if-there.ts";
import type { Script } from "./scripted-model/script.ts";
import { startScriptedModel } from "./scripted-model/scripted-model-server.ts";
import { ServerProcess } from "./server-process.ts";

/** What to play, and on which servers. */
export type CrashScenario = {
  readonly script: Script;
  /** Script of the model that answers when the first one is down; absent: no second model. */
  readonly fallback?: Script;
  /** Whether the server is killed while an approval is pending, which the next server then gets. */
  readonly restartsAtApproval?: boolean;
};

export type CrashResult = {
  readonly wasKilled: boolean;
  /** Milliseconds from the second server's start to listen until the end of the run, without the approval. */
  readonly recoveredMs: number;
  readonly status: string;
  readonly events: readonly Event[];
  /** The stored log, and what a client got that followed across the crash. */
  readonly stored: readonly string[];
  readonly followed: readonly string[];
  /** Ids of the pending actions at each time that a server was asked. */
  readonly approvals: readonly (readonly string[])[];
  /** Lines that the commands left behind. */
  readonly marks: readonly string[];
  /** Whether the model requests can be rebuilt from the stored log. */
  readonly replay: ReplayReport | null;
};

const conversationId = "11111111-1111-4111-8111-111111111111";
/** Generous timeout: starts share their processors with everything else. */
const longestPlayMs = 240_000;

type Play = CrashScenario & {
  readonly folder: string;
  /** Fail points of the first server, the second, and so on. */
  readonly failPoints?: readonly string[];
  readonly traceFiles?: readonly string[];
  readonly killAfterMs?: number;
};

/** Plays a scenario to its end, with a new server over the same data and port whenever the previous one has died. */
export async function playCrash(given: Play): Promise<CrashResult> {
  const { folder, failPoints = [], killAfterMs } = given;
  const workspace = join(folder, "work");
  const dataDir = join(folder, "data");
  await mkdir(workspace);
  await using model = await startScriptedModel({ script: given.script, vars: { workspace } });
  await using fallback = await startScriptedModel({
    script: given.fallback ?? { turns: [] },
    vars: { workspace },
  });
  await using servers = new AsyncDisposableStack();
  let starts = 0;
  const start = async (port?: number): Promise<ServerProcess> => {
    const index = starts++;
    const points = failPoints[index] ?? "";
    const traceFile = given.traceFiles?.[index] ?? null;
    const options = { dataDir, failPoints: points, traceFile, ...(port === undefined ? {} : { port }) };
    return servers.use(await ServerProcess.start(options));
  };
  let server = await start();
  const victim = server;
  const { client, port, url, key } = victim;
  if (given.fallback !== undefined) await saveModel(server, fallback.url);
  await client.startConversation(startRequest(workspace, model.url, given.fallback !== undefined));
  const following = follow(client, conversationId);
  let isKillSent = false;
  const kill = (): void => {
    isKillSent = true;
    victim.signal("SIGKILL");
  };
  const killing = setTimeout(kill, killAfterMs ?? 2 * longestPlayMs);
  servers.defer(() => clearTimeout(killing));
  let wasKilled = false;
  let wasRestarted = given.restartsAtApproval !== true;
  let readyMs = performance.now();
  let isSent = false;
  let status = "";
  const approvals: string[][] = [];
  for (const startMs = readyMs; status !== "finished" && performance.now() - startMs < longestPlayMs;) {
    if (server.hasEnded) {
      wasKilled = true;
      server = await start(port);
      readyMs = performance.now();
    }
    try {
      isSent ||= await send(client);
      status = (await client.getConversation(conversationId)).execution_status ?? "";
      if (status === "waiting_for_confirmation") {
        approvals.push(await listApprovals(server));
        if (!wasRestarted) {
          wasRestarted = true;
          await server.kill();
          // The answer is for the next server; its fail points are distinguished from this kill by their passage.
          server = await start(port);
          approvals.push(await listApprovals(server));
        }
        await client.respondToConfirmation(conversationId, true);
        readyMs = performance.now();
      }
    } catch (error) {
      // A request that the crash cut off, or that the full disk refused, is repeated; any other failure is the test's.
      const isRefused =
        error instanceof ApiError && error.status >= 500 && failPoints.join("").includes("error");
      // The sockets of a killed process close before its exit is reported.
      if (!isRefused) await Promise.race([server.ended, sleep(60_000, undefined, { ref: false })]);
      if (!server.hasEnded && !isRefused) throw error;
    }
    if (status !== "finished") await sleep(20);
  }
  clearTimeout(killing);
  const recoveredMs = performance.now() - readyMs;
  if (isKillSent && server === victim) {
    // The end of the run and the kill coincided: the log is read from a second server all the same.
    await victim.ended;
    wasKilled = true;
    server = await start(port);
  }
  const stored = await readLog(url, key);
  const followed = await following.until(stored.length);
  return {
    wasKilled,
    recoveredMs,
    status,
    stored,
    followed,
    approvals,
    replay: await replayConversation(dataDir, conversationId),
    events: stored.map((json) => JSON.parse(json) as Event),
    marks: ((await readIfThere(join(workspace, "side.log"))) ?? "").split("\n").filter((line) => line !== ""),
  };
}

function startRequest(workspace: string, modelUrl: string, hasFallback: boolean): StartConversationRequest {
  const llm = { model: "openai/scripted", base_url: `${modelUrl}/v1`, api_key: "llm-key" };
  // One try each: the second model is asked at once.
  const withFallback = { ...llm, num_retries: 1, fallback_strategy: { fallback_llms: ["second"] } };
  return {
    conversation_id: conversationId,
    agent: {
      kind: "Agent",
      llm: hasFallback ? withFallback : llm,
      tools: [{ name: "terminal" }, { name: "file_editor" }],
      tool_concurrency_limit: 4,
    },
    workspace: { kind: "LocalWorkspace", working_dir: workspace },
    confirmation_policy: { kind: "ConfirmRisky", threshold: "HIGH", confirm_unknown: false },
    security_analyzer: { kind: "LLMSecurityAnalyzer" },
  };
}

async function send(client: ConvokeClient): Promise<true> {
  const content = [{ type: "text" as const, text: "Do everything." }];
  await client.sendMessage(conversationId, { content, run: true, client_message_id: "once" });
  return true;
}

async function saveModel({ url, key }: ServerProcess, modelUrl: string): Promise<void> {
  const llm = { model: "openai/scripted", base_url: `${modelUrl}/v1`, api_key: "llm-key", num_retries: 1 };
  const reply = await fetch(`${url}/api/profiles/second`, {
    method: "POST",
    headers: { "X-Session-API-Key": key, "Content-Type": "application/json" },
    body: JSON.stringify({ llm }),
  });
  if (!reply.ok) throw new Error(`The second model was refused: ${await reply.text()}`);
}

/** Ids of the actions that wait, as any client reads them. */
async function listApprovals({ url, key }: ServerProcess): Promise<string[]> {
  const reply = await fetch(`${url}/api/approvals`, { headers: { "X-Session-API-Key": key } });
  const { items } = (await reply.json()) as { items: { action_id: string }[] };
  return items.map(({ action_id: id }) => id);
}

/** A client that follows from the beginning and does not notice the crash. */
function follow(client: ConvokeClient, id: string) {
  const stopping = new AbortController();
  const items: string[] = [];
  const reading = (async () => {
    const options = { afterEventId: null, signal: stopping.signal, backOffMs: { first: 20, max: 100 } };
    for await (const item of client.follow(id, options)) if (item.type === "event") items.push(item.json);
  })();
  return {
    until: async (count: number): Promise<string[]> => {
      for (let waits = 0; items.length < count && waits < 6_000; waits++) await sleep(20);
      // A moment longer, for events that no client should get.
      await sleep(50);
      stopping.abort();
      await reading;
      return items;
    },
  };
}

/** The stored events as their pages spell them. */
export async function readLog(url: string, key: string, id = conversationId): Promise<string[]> {
  const texts: string[] = [];
  for (let pageId: string | null = ""; pageId !== null;) {
    const query: string = pageId === "" ? "" : `&page_id=${pageId}`;
    const reply = await fetch(`${url}/api/conversations/${id}/events/search?limit=100${query}`, {
      headers: { "X-Session-API-Key": key },
    });
    const page = (await reply.json()) as { items: object[]; next_page_id: string | null };
    // Stored by JSON.stringify, so parsing and writing gives the same bytes.
    texts.push(...page.items.map((item) => JSON.stringify(item)));
    pageId = page.next_page_id;
  }
  return texts;
}
