import { mkdirSync } from "node:fs";
import { join } from "node:path";
import type { ConversationInfo, SandboxInfo } from "@convoke/protocol";
import { expect, test, vi } from "vitest";
import { findBubblewrap } from "../../sandboxes/find-bubblewrap.ts";
import { ConvokeProcess } from "../../testing/convoke-process.ts";
import { startScriptedModel } from "../../testing/scripted-model/scripted-model-server.ts";

const unprivileged = { uid: 65_534, gid: 65_534 };
const self = { uid: process.getuid?.() ?? 0, gid: process.getgid?.() ?? 0 };
const bubblewrap = await findBubblewrap({ self, unprivileged, environment: process.env });

const pollOptions = { timeout: 150_000, interval: 20 };
const order = "Have one made.";
const prompt = "Make one.";
const toParent = { match: { last_user_contains: order } };
const toChild = { match: { last_user_contains: prompt } };
const say = (name: string, given: object) => ({ tool_calls: [{ name, arguments: { ...given } }] });
const begin =
  "git init -q -b main && git config user.name T && git config user.email t@example.org && echo first > a.txt && git add . && git commit -qm first";

test.for([
  { sandbox: "process", missing: null },
  { sandbox: "bubblewrap", missing: bubblewrap.isUsable ? null : bubblewrap.detail },
])(
  "issue 11.5: in a sandbox, $sandbox, a sub-agent works in a worktree there, and it is merged there",
  { timeout: 600_000 },
  async ({ sandbox, missing }, context) => {
    if (missing !== null) return context.skip(missing);
    await using model = await startScriptedModel({
      script: {
        turns: [
          { ...toParent, ...say("terminal", { command: begin }) },
          { ...toParent, ...say("task", { prompt, description: prompt }) },
          {
            ...toParent,
            ...say("terminal", {
              command: "cat one.txt; git branch --format=%\\(refname\\); git log --format=%s -1",
            }),
          },
          { ...toParent, ...say("finish", { message: "Made." }) },
          {
            ...toChild,
            ...say("terminal", { command: "pwd; git branch --show-current; echo won > one.txt" }),
          },
          { ...toChild, ...say("finish", { message: "Made one." }) },
        ],
      },
    });
    await using server = await ConvokeProcess.start({ sandbox });
    const { id } = (await server.call("POST", "/api/v1/sandboxes")).json as SandboxInfo;
    const statusOf = async () =>
      ((await server.call("GET", `/api/v1/sandboxes?id=${id}`)).json as SandboxInfo[])[0]?.status;
    await vi.waitUntil(async () => (await statusOf()) === "RUNNING", pollOptions);
    // A directory that the agent's user may write to.
    mkdirSync(join(server.dataDir, "sandboxes", id, "workspace"), { recursive: true });
    const path = `/sandboxes/${id}/api/conversations`;
    const started = await server.call("POST", path, {
      agent: {
        kind: "Agent",
        llm: { model: "openai/scripted", base_url: `${model.url}/v1`, api_key: "llm-key", num_retries: 0 },
        tools: [{ name: "terminal" }, { name: "task_tool_set", params: { worktrees: true } }],
      },
      workspace: { kind: "LocalWorkspace", working_dir: "." },
      initial_message: { content: [{ type: "text", text: order }], run: true },
    });
    expect(started.status, started.text).toBe(201);
    const conversation = (started.json as ConversationInfo).id;
    const isFinished = async () =>
      ((await server.call("GET", `${path}/${conversation}`)).json as ConversationInfo).execution_status ===
      "finished";
    await vi.waitUntil(isFinished, pollOptions);
    const log = (await server.call("GET", `${path}/${conversation}/events/search`)).text;
    expect(log).toMatch(/Its changes are merged into [^ ]+: one\.txt\./);
    expect(log).toContain("won\\nrefs/heads/main\\nMake one.");
  },
);
