import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { parseArgs } from "node:util";
import type { Event } from "@convoke/protocol";
import { readIfThere } from "../../lib/read-if-there.ts";
import { openLoopedDisk, type LoopedDisk } from "../looped-disk.ts";
import { createRandom } from "../random.ts";
import { startScriptedModel } from "../scripted-model/scripted-model-server.ts";
import { ServerProcess } from "../server-process.ts";

/**
 * `npx node nightly/disk-rounds.ts --count 100`: the disk of a server disappears while tools run, by a read-only file system or as after
 * a power cut. The server is killed, the disk comes back without a reboot, and another server continues. No call runs twice, and no
 * call that has run is reported as not run. Exits with 1 when a promise did not hold.
 */
const { values } = parseArgs({
  options: { count: { type: "string", default: "100" }, seed: { type: "string", default: "2026" } },
});
const count = Number(values.count);
const random = createRandom(Number(values.seed));
const calls = 12;
const longestMs = 60_000;

const turns = Array.from({ length: calls }, (_, index) => ({
  tool_calls: [
    { name: "terminal", arguments: { command: `echo c${index} >> side.log`, security_risk: "LOW" } },
  ],
}));
const script = { turns: [...turns, { text: "Done." }] };
const disk = openLoopedDisk({ megabytes: 64 });
if (disk === null) throw new Error("This needs root, loop devices and ext4.");
using mounted = disk;
let wrongRounds = 0;
let ran = 0;
let unknown = 0;
for (let round = 0; round < count; round += 1) {
  const kind = round % 2 === 0 ? "abort" : "cut";
  const afterMs = 30 + random.whole(900);
  const result = await play(mounted, kind, afterMs).catch((error: unknown) => ({
    wrong: [String(error)],
    ran: 0,
    unknown: 0,
  }));
  ran += result.ran;
  unknown += result.unknown;
  if (result.wrong.length > 0) {
    wrongRounds += 1;
    // A failure may have left it without a disk.
    await comeBack(mounted);
    console.log(JSON.stringify({ round, kind, afterMs, wrong: result.wrong }));
  }
  if (round % 10 === 9)
    console.log(`${round + 1} of ${count} rounds, ${ran} calls, ${unknown} unknown, ${wrongRounds} failures`);
}
console.log(
  `${count} rounds: ${ran} calls ran, ${unknown} with an unknown outcome, ${wrongRounds} rounds with failures`,
);
process.exitCode = wrongRounds === 0 ? 0 : 1;

async function play(on: LoopedDisk, kind: "abort" | "cut", afterMs: number) {
  // Files that calls leave are on another disk.
  const workspace = await mkdtemp(join(tmpdir(), "convoke-side-"));
  const dataDir = join(on.path, crypto.randomUUID());
  try {
    await using model = await startScriptedModel({ script });
    const id = crypto.randomUUID();
    {
      await using server = await ServerProcess.start({ dataDir });
      await server.client.startConversation({
        conversation_id: id,
        agent: {
          kind: "Agent",
          llm: { model: "openai/scripted", base_url: `${model.url}/v1`, api_key: "llm-key" },
          tools: [{ name: "terminal" }],
        },
        workspace: { kind: "LocalWorkspace", working_dir: workspace },
      });
      await server.client.sendMessage(id, { content: [{ type: "text", text: "Go." }], run: true });
      await sleep(afterMs);
      if (kind === "cut") server.signal("SIGSTOP");
      on[kind]();
      if (kind === "abort") await sleep(random.whole(60));
      await server.kill();
    }
    await comeBack(on);
    await using server = await ServerProcess.start({ dataDir });
    const events = await finish(server, id);
    const marks = ((await readIfThere(join(workspace, "side.log"))) ?? "")
      .split("\n")
      .filter((line) => line !== "");
    await server[Symbol.asyncDispose]();
    await rm(dataDir, { recursive: true, force: true });
    return judge(events, marks);
  } finally {
    await rm(workspace, { recursive: true, force: true });
  }
}

/** Shells of a killed server end a moment after it. */
async function comeBack(on: LoopedDisk): Promise<void> {
  for (let tries = 0; ; tries += 1) {
    try {
      on.comeBack();
      return;
    } catch (error) {
      if (tries === 1_200) throw error;
      await sleep(50);
    }
  }
}

async function finish({ client, url, key }: ServerProcess, id: string): Promise<Event[]> {
  const startMs = performance.now();
  for (let status = ""; ; await sleep(50)) {
    status = (await client.getConversation(id)).execution_status ?? "";
    if (status !== "running") break;
    if (performance.now() - startMs > longestMs) throw new Error("the run does not end");
  }
  const events: Event[] = [];
  for (let next: string | null = ""; next !== null;) {
    const query: string = next === "" ? "" : `&page_id=${next}`;
    const reply = await fetch(`${url}/api/conversations/${id}/events/search?limit=100${query}`, {
      headers: { "X-Session-API-Key": key },
    });
    const page = (await reply.json()) as { items: Event[]; next_page_id: string | null };
    events.push(...page.items);
    next = page.next_page_id;
  }
  return events;
}

function judge(events: readonly Event[], marks: readonly string[]) {
  const wrong: string[] = [];
  let unknownCount = 0;
  for (const mark of new Set(marks)) {
    const times = marks.filter((line) => line === mark).length;
    const actions = events.filter(
      (event) => event.kind === "ActionEvent" && event.tool_call.arguments.includes(`echo ${mark} `),
    );
    // A call whose action the disk lost is made again: it is another one.
    if (times > actions.length && actions.length > 0)
      wrong.push(`${mark} ran ${times} times for ${actions.length} actions`);
  }
  for (const event of events) {
    if (event.kind === "AgentErrorEvent" && event.error.includes("unknown")) unknownCount += 1;
  }
  return { wrong, ran: marks.length, unknown: unknownCount };
}
