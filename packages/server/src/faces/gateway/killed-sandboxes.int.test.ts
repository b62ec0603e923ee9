import { existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import type { ConversationInfo, SandboxInfo } from "@convoke/protocol";
import { listProcesses, readCommandLine } from "@convoke/tool-host";
import { expect, test, vi } from "vitest";
import { findBubblewrap } from "../../sandboxes/find-bubblewrap.ts";
import { ConvokeProcess } from "../../testing/convoke-process.ts";
import { startScriptedModel } from "../../testing/index.ts";

const unprivileged = { uid: 65_534, gid: 65_534 };
const self = { uid: process.getuid?.() ?? 0, gid: process.getgid?.() ?? 0 };
const bubblewrap = await findBubblewrap({ self, unprivileged, environment: process.env });

const waiting = { timeout: 150_000, interval: 20 };
/** Starts of a server, of a sandbox and of a server again, each as slow as the machine is. */
const testTimeout = 600_000;

/** A sandbox whose agent runs a command that waits for the file `go`. */
async function openBench(sandbox: string) {
  await using scope = new AsyncDisposableStack();
  const command = "echo run >> runs; until [ -e go ]; do sleep 0.05; done; echo the-end";
  const model = scope.use(
    await startScriptedModel({
      script: {
        turns: [
          { text: "I wait.", tool_calls: [{ name: "terminal", arguments: { command, timeout: 60 } }] },
          { text: "I look.", tool_calls: [{ name: "terminal", arguments: { command: "echo next-one" } }] },
          { text: "Done." },
        ],
      },
    }),
  );
  const server = scope.use(await ConvokeProcess.start({ sandbox }));
  const { id } = (await server.call("POST", "/api/v1/sandboxes")).json as SandboxInfo;
  const statusOf = async () =>
    ((await server.call("GET", `/api/v1/sandboxes?id=${id}`)).json as SandboxInfo[])[0]?.status;
  await vi.waitUntil(async () => (await statusOf()) === "RUNNING", waiting);
  const folder = join(server.dataDir, "sandboxes", id);
  // A directory that the agent's user may write to.
  mkdirSync(join(folder, "workspace"), { recursive: true });
  const path = `/sandboxes/${id}/api/conversations`;
  const started = await server.call("POST", path, {
    agent: {
      kind: "Agent",
      llm: { model: "openai/scripted", base_url: `${model.url}/v1`, api_key: "llm-key", num_retries: 0 },
      tools: [{ name: "terminal" }],
    },
    workspace: { kind: "LocalWorkspace", working_dir: "." },
    initial_message: { content: [{ type: "text", text: "Wait." }], run: true },
  });
  expect(started.status, started.text).toBe(201);
  const conversation = (started.json as ConversationInfo).id;
  const runs = join(folder, "workspace", "runs");
  // The file is there before the line is.
  await vi.waitUntil(() => existsSync(runs) && readFileSync(runs, "utf8") === "run\n", waiting);
  const owned = scope.move();
  return {
    server,
    folder,
    sandboxId: id,
    runs,
    go: () => writeFileSync(join(folder, "workspace", "go"), ""),
    untilFinished: async () => {
      const isFinished = async () =>
        ((await server.call("GET", `${path}/${conversation}`)).json as ConversationInfo).execution_status ===
        "finished";
      await vi.waitUntil(isFinished, waiting);
    },
    log: async () => (await server.call("GET", `${path}/${conversation}/events/search`)).text,
    [Symbol.asyncDispose]: () => owned.disposeAsync(),
  };
}

test.for([
  { sandbox: "process", missing: null },
  { sandbox: "bubblewrap", missing: bubblewrap.isUsable ? null : bubblewrap.detail },
])(
  "P4: kill -9 of the server while a command runs in $sandbox: it runs once, its end arrives after the restart",
  { timeout: testTimeout },
  async ({ sandbox, missing }, context) => {
    if (missing !== null) return context.skip(missing);
    await using bench = await openBench(sandbox);
    await bench.server.end("SIGKILL");
    bench.go();
    await bench.server.restart();
    await bench.untilFinished();
    expect(readFileSync(bench.runs, "utf8")).toBe("run\n");
    const log = await bench.log();
    expect(log).toContain("the-end");
    expect(log).toContain("next-one");
    expect(log).not.toContain("AgentErrorEvent");
  },
);

test.skipIf(!bubblewrap.isUsable)(
  "P23: kill -9 of the tool host: the action is answered with a clear error, the next one works; deleting leaves nothing",
  { timeout: testTimeout },
  async () => {
    await using bench = await openBench("bubblewrap");
    const status = JSON.parse(readFileSync(join(bench.folder, "status.json"), "utf8")) as {
      "child-pid": number;
    };
    process.kill(status["child-pid"], "SIGKILL");
    await bench.untilFinished();
    const log = await bench.log();
    expect(log).toContain("AgentErrorEvent");
    expect(log).toContain("next-one");
    expect(readFileSync(bench.runs, "utf8")).toBe("run\n");
    const { status: deleted } = await bench.server.call("DELETE", `/api/v1/sandboxes/${bench.sandboxId}`);
    expect(deleted).toBe(200);
    expect(existsSync(bench.folder)).toBe(false);
    const left = () => listProcesses().filter(({ pid }) => readCommandLine(pid)?.includes(bench.sandboxId));
    await expect.poll(left).toEqual([]);
  },
);
