import { mkdtempDisposable } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Action } from "@convoke/protocol";
import { createInProcessHost, type ExecutionRequest } from "@convoke/tool-host";
import { expect, onTestFinished, test } from "vitest";
import { SkillSet } from "../../extensions/skills/skill-set.ts";
import { silentLogger } from "../../lib/logger.ts";
import { openClock } from "../../testing/example-clock.ts";
import { createQuickTools } from "../../testing/quick-tools.ts";
import { toolPlace, type ToolPlaceOptions } from "../../testing/tool-place.ts";
import { testToolSource } from "../contract.ts";
import type { OpenToolSource, ToolSource } from "../tool-source.ts";
import { openClientTools } from "./client-tool-source.ts";
import { createHostSource } from "./host-source.ts";
import { openMcpTools } from "./mcp-tools.ts";
import { openNetworkTool } from "./network-source.ts";
import { openOracle } from "./oracle-source.ts";
import { createSkillSource } from "./skill-source.ts";
import { openTasks, type TaskAccess } from "./task-source.ts";
import { openWorkflows } from "./workflow-source.ts";

async function makeFolder(): Promise<string> {
  const folder = await mkdtempDisposable(join(tmpdir(), "convoke-source-"));
  onTestFinished(() => folder[Symbol.asyncDispose]());
  return folder.path;
}

async function openIn(
  open: OpenToolSource,
  options: Omit<ToolPlaceOptions, "folder"> = {},
): Promise<ToolSource | null> {
  return await open(toolPlace({ ...options, folder: await makeFolder() }));
}

function call(tool: string, action: object): ExecutionRequest {
  return { actionId: "a", tool, action: action as Action, secrets: [] };
}

const tasks: TaskAccess = { children: {} as TaskAccess["children"], skills: null, logger: silentLogger };
const sources: Record<
  string,
  {
    readonly open: OpenToolSource;
    readonly options: Omit<ToolPlaceOptions, "folder">;
    readonly request: ExecutionRequest;
  }
> = {
  "client tools": {
    open: openClientTools,
    options: { config: { client_tools: [{ name: "beep", description: "Beeps." }] } },
    request: call("beep", { kind: "ClientAction_beep" }),
  },
  oracle: {
    open: openOracle({ find: async () => null }),
    options: { agent: { tools: [{ name: "ask_oracle" }] } },
    request: call("ask_oracle", { kind: "AskOracleAction", question: "Which?" }),
  },
  tasks: {
    open: openTasks(tasks),
    options: { agent: { tools: [{ name: "task_tool_set" }] } },
    request: call("task", { kind: "TaskAction", prompt: "Count.", subagent_type: "nobody" }),
  },
  workflows: {
    open: openWorkflows(tasks),
    options: { agent: { tools: [{ name: "workflow_tool_set" }] } },
    request: call("workflow", {
      kind: "WorkflowAction",
      name: "one",
      script: "async function main() { return 1; }",
    }),
  },
  "MCP servers": {
    open: openMcpTools({
      fetch: async () => Promise.reject(new Error("No network.")),
      clientVersion: "1",
      firstWaitMs: 0,
    }),
    options: { secrets: { mcp: { docs: { url: "http://127.0.0.1:1/mcp" } } } },
    request: call("find", { kind: "MCPToolAction", data: {} }),
  },
  network: {
    open: openNetworkTool({ canWiden: ({ config }) => config.wall !== undefined, apply: async () => {} }),
    options: { config: { wall: { network: "registries" } } },
    request: call("request_network", {
      kind: "MCPToolAction",
      data: { hosts: ["files.example.com"], reason: "The data is there." },
    }),
  },
  "the example of the guide": {
    open: openClock,
    options: { agent: { tools: [{ name: "clock" }] } },
    request: call("clock", { kind: "MCPToolAction", data: {} }),
  },
};

for (const [name, { open, options, request }] of Object.entries(sources)) {
  testToolSource(name, async () => {
    const source = await openIn(open, options);
    if (source === null) throw new Error("It was not opened.");
    return { source, request };
  });

  test(`${name}: a conversation that does not want it has none`, async () => {
    expect(await openIn(open)).toBeNull();
  });
}

testToolSource("workspace", async () => {
  const folder = await makeFolder();
  const { tools } = createQuickTools();
  const host = createInProcessHost({ tools, environment: {} });
  onTestFinished(() => host[Symbol.asyncDispose]());
  const session = await host.openSession({
    sessionId: "c",
    workspaceDir: folder,
    stateDir: folder,
    tools: [{ name: "terminal" }],
  });
  return {
    source: createHostSource(session),
    request: call("terminal", { kind: "TerminalAction", command: "ls" }),
  };
});

testToolSource("skills", async () => ({
  source: createSkillSource(new SkillSet([{ name: "deploy", content: "Push the button." }])),
  request: call("invoke_skill", { kind: "InvokeSkillAction", name: "deploy" }),
}));
