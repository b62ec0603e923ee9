import { mkdir, mkdtemp, readFile, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { ApiError, type ConvokeClient } from "@convoke/client";
import type { Event, StartConversationRequest } from "@convoke/protocol";
import { replayConversation, type ReplayReport } from "../replay.ts";
import { readIfThere } from "../lib/read-if-there.ts";
import { crashScript } from "./crash-script.ts";
import type { Script } from "./scripted-model/script.ts";
import { startScriptedModel } from "./scripted-model/scripted-model-server.ts";
import { ServerProcess } from "./server-process.ts";

/** The n-th passage of a fail point. */
export type Passage = { readonly point: string; readonly number: number };

export type CrashResult = {
  readonly wasKilled: boolean;
  /** From the moment the second server listened to the end of the run, without the time for the approval. */
  readonly recoveredMs: number;
  readonly status: string;
  readonly events: readonly Event[];
  /** The stored log, and what a client got that followed over the crash. */
  readonly stored: readonly string[];
  readonly followed: readonly string[];
  /** Lines that the commands left behind. */
  readonly marks: readonly string[];
  /** Whether the stored log leads to the model requests that were made. */
  readonly replay: ReplayReport | null;
};

/** Plays the script once without harm and returns every passage of every fail point on the way. */
export async function countPassages(script = crashScript): Promise<Passage[]> {
  const folder = await mkdtemp(join(tmpdir(), "convoke-crash-"));
  try {
    const traceFile = join(folder, "trace");
    await play({ folder, script, traceFile });
    const lines = (await readFile(traceFile, "utf8")).trim().split("\n");
    return lines.map((line) => {
      const [point = "", number = ""] = line.split(" ");
      return { point, number: Number(number) };
    });
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

/** Plays the script on a server that dies at the passage, and on until the end on a second one over the same data. */
export async function crashAt({ point, number }: Passage, script = crashScript): Promise<CrashResult> {
  const folder = await mkdtemp(join(tmpdir(), "convoke-crash-"));
  try {
    return await play({ folder, script, failPoints: `${point}=kill:${number}` });
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

/** The same with a disk that is full once, at the n-th append; the server lives on. */
export async function fillDiskAt(append: number): Promise<CrashResult> {
  const folder = await mkdtemp(join(tmpdir(), "convoke-crash-"));
  try {
    return await play({ folder, failPoints: `append.before=error:ENOSPC:${append}` });
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

/** The same, killed from outside so long after the conversation was made: also in the middle of a write. */
export async function crashAfter(killAfterMs: number): Promise<CrashResult> {
  const folder = await mkdtemp(join(tmpdir(), "convoke-crash-"));
  try {
    return await play({ folder, killAfterMs });
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

const conversationId = "11111111-1111-4111-8111-111111111111";
const longestPlayMs = 30_000;

type Play = {
  readonly folder: string;
  readonly script?: Script;
  readonly failPoints?: string;
  readonly traceFile?: string;
  readonly killAfterMs?: number;
};

async function play({
  folder,
  script = crashScript,
  failPoints = "",
  traceFile,
  killAfterMs,
}: Play): Promise<CrashResult> {
  const workspace = join(folder, "work");
  const dataDir = join(folder, "data");
  await mkdir(workspace);
  await using model = await startScriptedModel({ script, vars: { workspace } });
  await using servers = new AsyncDisposableStack();
  let server = servers.use(await ServerProcess.start({ dataDir, failPoints, traceFile: traceFile ?? null }));
  const victim = server;
  const { client, port, url, key } = victim;
  await client.startConversation(startRequest(workspace, model.url));
  const following = follow(client, conversationId);
  let isKillSent = false;
  const kill = (): void => {
    isKillSent = true;
    victim.signal("SIGKILL");
  };
  const killing = setTimeout(kill, killAfterMs ?? 2 * longestPlayMs);
  servers.defer(() => clearTimeout(killing));
  let wasKilled = false;
  let readyMs = performance.now();
  let isSent = false;
  let status = "";
  for (const startMs = readyMs; status !== "finished" && performance.now() - startMs < longestPlayMs;) {
    if (server.hasEnded) {
      wasKilled = true;
      server = servers.use(await ServerProcess.start({ dataDir, port }));
      readyMs = performance.now();
    }
    try {
      isSent ||= await send(client);
      status = (await client.getConversation(conversationId)).execution_status ?? "";
      if (status === "waiting_for_confirmation") {
        await client.respondToConfirmation(conversationId, true);
        readyMs = performance.now();
      }
    } catch (error) {
      // A request that the crash cut off, or that the full disk refused, is made again; any other failure is the test's.
      await Promise.race([server.ended, sleep(500)]);
      const isRefused = error instanceof ApiError && error.status >= 500 && failPoints.includes("error");
      if (!server.hasEnded && !isRefused) throw error;
    }
    if (status !== "finished") await sleep(20);
  }
  clearTimeout(killing);
  const recoveredMs = performance.now() - readyMs;
  if (isKillSent && server === victim) {
    // The end of the run and the kill fell together: the log is read from a second server all the same.
    await victim.ended;
    wasKilled = true;
    server = servers.use(await ServerProcess.start({ dataDir, port }));
  }
  const stored = await readLog(url, key);
  const followed = await following.until(stored.length);
  return {
    wasKilled,
    recoveredMs,
    status,
    stored,
    followed,
    replay: await replayConversation(dataDir, conversationId),
    events: stored.map((json) => JSON.parse(json) as Event),
    marks: ((await readIfThere(join(workspace, "side.log"))) ?? "").split("\n").filter((line) => line !== ""),
  };
}

function startRequest(workspace: string, modelUrl: string): StartConversationRequest {
  return {
    conversation_id: conversationId,
    agent: {
      kind: "Agent",
      llm: { model: "openai/scripted", base_url: `${modelUrl}/v1`, api_key: "llm-key" },
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

/** A client that follows from the beginning and never hears of a crash. */
function follow(client: ConvokeClient, id: string) {
  const stopping = new AbortController();
  const items: string[] = [];
  const reading = (async () => {
    const options = { afterEventId: null, signal: stopping.signal, backOffMs: { first: 20, most: 100 } };
    for await (const item of client.follow(id, options)) if (item.type === "event") items.push(item.json);
  })();
  return {
    until: async (count: number): Promise<string[]> => {
      for (let waits = 0; items.length < count && waits < 250; waits++) await sleep(20);
      // One more moment for events that nobody should get.
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
