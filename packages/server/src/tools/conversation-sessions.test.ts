import type { Agent } from "@convoke/protocol";
import {
  browserToolSetName,
  defaultTools,
  facesOf,
  listTool,
  type ToolHost,
  type ToolListing,
  type ToolSession,
} from "@convoke/tool-host";
import { mkdtempDisposable } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import type { ConversationSecrets } from "../engine/conversation-config.ts";
import { silentLogger } from "../lib/logger.ts";
import { toolPlace } from "../testing/tool-place.ts";
import { processHost } from "./conversation-host.ts";
import { ConversationSessions, type SessionsDeps } from "./conversation-sessions.ts";

type Asked = {
  readonly agent?: Partial<Agent>;
  readonly mcp?: ConversationSecrets["mcp"];
  readonly hasAskedForBrowser?: () => boolean;
};

/** Opens the tools of a conversation over a host that notes what is announced to it. */
async function openTools({ agent = {}, mcp, hasAskedForBrowser = () => false }: Asked) {
  const folder = await mkdtempDisposable(join(tmpdir(), "convoke-sessions-"));
  const announced: unknown[] = [];
  const sessions = new ConversationSessions({
    chooseHost: async () => ({ ...processHost(hostWith(announced)), kind: "sandbox", stateDir: "/state" }),
    models: {
      open: () => {
        throw new Error("No model is called here.");
      },
    },
    cluster: null,
    mcp: { fetch: async () => Promise.reject(new Error("No network.")), clientVersion: "1", firstWaitMs: 0 },
    toolSources: [],
    children: {} as SessionsDeps["children"],
    dataDir: folder.path,
    workspaceRoot: folder.path,
    logger: silentLogger,
  });
  const { config, context } = toolPlace({
    agent,
    secrets: mcp === undefined ? {} : { mcp },
    hasAskedForBrowser,
    folder: folder.path,
  });
  const lease = { conversationId: "c", generation: 1 } as unknown as Parameters<
    ConversationSessions["open"]
  >[0]["lease"];
  const session = await sessions.open({ id: "c", ownerId: "somebody", lease }, config, context);
  onTestFinished(async () => {
    await session[Symbol.asyncDispose]();
    await folder[Symbol.asyncDispose]();
  });
  return { session, announced };
}

function hostWith(announced: unknown[]): ToolHost {
  const place = {
    sessionId: "c",
    workspaceDir: "/work",
    stateDir: "/state",
    environment: {},
    params: {},
    canSee: false,
  };
  const known = defaultTools().filter(({ name }) => ["terminal", browserToolSetName].includes(name));
  const listings = known.flatMap((tool): ToolListing[] => facesOf(tool).map((face) => listTool(face, place)));
  return {
    catalogue: known.map(({ name }) => name),
    openSession: async ({ tools }): Promise<ToolSession> => ({
      tools: listings.filter(({ actionKind }) => {
        const isOfBrowser = actionKind.startsWith("Browser");
        return tools.some(({ name }) => name === (isOfBrowser ? browserToolSetName : "terminal"));
      }),
      execute: async () => ({ type: "error", text: "Nothing runs here." }),
      state: async () => ({ type: "unknown" }),
      announce: (...given) => void announced.push(given),
      cancel: async () => {},
      terminals: async () => [],
      attach: async function* () {},
      attachBrowser: async function* () {},
      [Symbol.asyncDispose]: async () => {},
    }),
    startProcess: () => {
      throw new Error("No process starts here.");
    },
    openShell: async () => Promise.reject(new Error("Nobody has a shell here.")),
    listPorts: async () => [],
    [Symbol.asyncDispose]: async () => {},
  };
}

const skill = { name: "deploy", content: "Push the button." };
const server = { url: "http://127.0.0.1:1/mcp" };

test.each<[string, Asked]>([
  ["nothing else", {}],
  ["a skill", { agent: { agent_context: { skills: [skill] } } }],
  ["an MCP server", { mcp: { docs: server } }],
  ["sub-agents", { agent: { tools: [{ name: "terminal" }, { name: "task_tool_set" }] } }],
  ["workflows", { agent: { tools: [{ name: "terminal" }, { name: "workflow_tool_set" }] } }],
])("a call is announced to the host in a conversation with %s", async (_, asked) => {
  const { session, announced } = await openTools(asked);
  session.announce("action", "terminal");
  expect(announced).toEqual([["action", "terminal"]]);
});

test("the tools of a browser on demand appear beside sub-agents once they were asked for", async () => {
  let isAsked = false;
  const { session } = await openTools({
    agent: {
      tools: [{ name: browserToolSetName, params: { on_demand: true } }, { name: "task_tool_set" }],
    },
    hasAskedForBrowser: () => isAsked,
  });
  const names = (): string[] => session.tools.map(({ name }) => name);
  expect(names()).toEqual([browserToolSetName, "task"]);
  isAsked = true;
  expect(names()).toContain("browser_navigate");
  expect(names()).not.toContain(browserToolSetName);
  expect(names().at(-1)).toBe("task");
});
