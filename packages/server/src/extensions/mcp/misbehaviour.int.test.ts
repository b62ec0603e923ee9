import { fileURLToPath } from "node:url";
import type { LeakCheck } from "@convoke/tool-host/testing";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { watchServerLeaks } from "../../testing/check-leaks.ts";
import { startMcpHttpServer, type HttpMode, type McpHttpServer } from "../../testing/mcp/http-server.ts";
import { startTestServer, type TestServer } from "../../testing/start-server.ts";
import { until } from "../../testing/until.ts";

const program = fileURLToPath(new URL("../../testing/mcp/stdio-server.ts", import.meta.url));

/** Long enough that a server which hangs would be noticed by whoever waited for it. */
const connectMs = 12_000;
/** What works in the end may take its time while twenty programs start at once. */
const patientConnectMs = 180_000;

type Case = {
  readonly what: string;
  readonly config: (http: (mode: HttpMode) => Promise<string>) => object | Promise<object>;
  /** A server that works after all makes no event, and its tool is offered under this name. */
  readonly works?: string;
  /** It works, and one event says that not all of its tools can be used. */
  readonly isPartial?: true;
};

const stdio = (mode: string) => (): object => ({ command: process.execPath, args: [program, mode] });
const remote =
  (mode: HttpMode, more: object = {}) =>
  async (http: (mode: HttpMode) => Promise<string>) => ({
    url: await http(mode),
    ...more,
  });

const cases: readonly Case[] = [
  { what: "a program that does not exist", config: () => ({ command: "/no/such/program" }) },
  { what: "a directory that does not exist", config: () => ({ command: "true", cwd: "/no/such/folder" }) },
  { what: "crashes at start", config: stdio("crash-at-start") },
  { what: "never answers", config: stdio("hang") },
  { what: "never reads", config: stdio("deaf") },
  { what: "closes its input", config: stdio("closed-input") },
  { what: "writes a banner first", config: stdio("banner"), works: "echo" },
  { what: "writes junk for ever", config: stdio("junk-forever") },
  { what: "speaks another protocol", config: stdio("old-protocol") },
  { what: "dies before its list", config: stdio("no-list") },
  { what: "never lists", config: stdio("slow-list") },
  { what: "refuses to list", config: stdio("list-error") },
  { what: "lists nothing that is a list", config: stdio("null-list") },
  { what: "lists without end", config: stdio("endless-list"), works: "echo", isPartial: true },
  { what: "lists thousands of tools", config: stdio("huge-list"), works: "tool_0", isPartial: true },
  { what: "announces tools wrongly", config: stdio("bad-schema"), works: "echo", isPartial: true },
  { what: "announces a name twice", config: stdio("twice"), works: "echo" },
  { what: "has a tool of a name that is taken", config: stdio("clash"), works: "broken_terminal" },
  { what: "floods", config: stdio("flood") },
  { what: "refuses connections", config: () => ({ url: "http://127.0.0.1:9/mcp" }) },
  { what: "answers 500", config: remote("error") },
  { what: "answers with a web page", config: remote("page") },
  { what: "takes the request and is silent", config: remote("hang") },
  { what: "refuses the key", config: remote("refuse-key", { auth: "wrong" }) },
  { what: "opens a stream and is silent", config: remote("sse-silent", { transport: "sse" }) },
];

describe("P20: a conversation with an MCP server that", () => {
  const owned = new AsyncDisposableStack();
  const doubles: McpHttpServer[] = [];
  let leaks: LeakCheck;
  const created = new Map<string, { server: TestServer; id: string; tookMs: number }>();

  beforeAll(async () => {
    leaks = await watchServerLeaks();
    const start = async (times: { connectMs: number }): Promise<TestServer> =>
      owned.use(
        await startTestServer({
          script: { turns: [{ text: "hello" }], loop: true, select: "in_order" },
          mcp: { times, firstWaitMs: 2_000 },
          environment: { PATH: "/usr/local/bin:/usr/bin:/bin" },
        }),
      );
    const hasty = await start({ connectMs });
    const patient = await start({ connectMs: patientConnectMs });
    const http = async (mode: HttpMode): Promise<string> => {
      const double = owned.use(await startMcpHttpServer(mode));
      doubles.push(double);
      return double.url;
    };
    for (const { what, config, works } of cases) {
      const server = works === undefined ? hasty : patient;
      const request = server.startRequest({ text: `hi: ${what}` });
      const broken = await config(http);
      const startedAtMs = performance.now();
      const { id } = await server.client.startConversation({
        ...request,
        agent: { ...request.agent, mcp_config: { broken } },
      });
      created.set(what, { server, id, tookMs: performance.now() - startedAtMs });
    }
  }, 300_000);

  afterAll(async () => {
    await owned.disposeAsync();
    await leaks.assertNone();
  });

  test.for(cases)(
    "L23.28: $what: is created at once, and its message is answered",
    async ({ what, works, isPartial }) => {
      const { server, id, tookMs } = created.get(what)!;
      expect(tookMs).toBeLessThan(connectMs);
      await server.waitForStatus(id, "finished", 120_000);
      const events = await server.events(id);
      expect(events.map((event) => event.kind)).toContain("SystemPromptEvent");
      expect(JSON.stringify(events.filter(({ source }) => source === "agent"))).toContain("hello");
      if (works === undefined) await untilFailed(server, id);
      else await untilOffered(server, id, { what, tool: works });
      const failures = (await server.events(id)).filter(({ kind }) => kind === "ConversationErrorEvent");
      const code = works === undefined ? "MCPServerFailed" : "MCPToolsOmitted";
      const isNamed = works === undefined || isPartial === true;
      expect(failures).toMatchObject(isNamed ? [{ code }] : []);
      expect((await server.client.getConversation(id)).execution_status).toBe("finished");
    },
  );
});

/** One event that names the server. */
async function untilFailed(server: TestServer, id: string): Promise<void> {
  const deadlineMs = performance.now() + connectMs + 120_000;
  for (;;) {
    const failure = (await server.events(id)).find(({ kind }) => kind === "ConversationErrorEvent");
    if (failure !== undefined) {
      expect(failure).toMatchObject({ source: "environment", code: "MCPServerFailed" });
      expect(JSON.stringify(failure)).toContain("broken");
      return;
    }
    if (performance.now() > deadlineMs) throw new Error("No event names the server that failed.");
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
}

/** The first answer does not wait long for a server, so a slow one's tool may come only with a later message. */
async function untilOffered(
  server: TestServer,
  id: string,
  asked: { what: string; tool: string },
): Promise<void> {
  const deadlineMs = performance.now() + patientConnectMs;
  const requests = (): string[] =>
    server.model.requests
      .map(({ body }) => JSON.stringify(body))
      .filter((body) => body.includes(JSON.stringify(`hi: ${asked.what}`)));
  while (!requests().some((body) => body.includes(`"name":"${asked.tool}"`))) {
    if (performance.now() > deadlineMs)
      throw new Error(`No request of this conversation offers ${asked.tool}.`);
    const before = requests().length;
    await server.client.sendMessage(id, { content: [{ type: "text", text: "and now?" }], run: true });
    await until(() => requests().length > before);
    await server.waitForStatus(id, "finished", 120_000);
  }
}
