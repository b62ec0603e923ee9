import { expect, test } from "vitest";
import { defaultTools, facesOf, listTool, type ToolListing } from "@convoke/tool-host";
import { startTestServer } from "../../testing/start-server.ts";
import { until } from "../../testing/until.ts";
import { claimOf, startable, type Claim } from "./claims.ts";

const context = {
  sessionId: "s",
  workspaceDir: "/w",
  stateDir: "/s",
  environment: {},
  params: {},
  canSee: false,
};
const listings: ReadonlyMap<string, ToolListing> = new Map(
  defaultTools()
    .flatMap((tool) => facesOf(tool).map((face) => listTool(face, context)))
    .map((listing) => [listing.name, listing]),
);

const call = (id: string, toolName: string, path?: string): Claim =>
  claimOf(
    {
      id,
      toolName,
      action: path === undefined ? null : { kind: "FileEditorAction", command: "view", path },
    },
    listings.get(toolName),
  );

test("without a limit reads run side by side, and whatever may write waits for all before it", () => {
  const claims = [call("r1", "grep"), call("r2", "glob"), call("w", "terminal"), call("r3", "grep")];
  expect(startable(claims, new Set(), undefined)).toEqual(["r1", "r2"]);
  expect(startable(claims.slice(1), new Set(["r2"]), undefined)).toEqual([]);
  expect(startable(claims.slice(2), new Set(), undefined)).toEqual(["w"]);
  expect(startable(claims.slice(3), new Set(), undefined)).toEqual(["r3"]);
});

test("with a limit the same shell and the same file are one after another, other things side by side", () => {
  const claims = [
    call("a", "file_editor", "/w/a"),
    call("b", "file_editor", "/w/x/../a"),
    call("c", "file_editor", "/w/c"),
    call("t1", "terminal"),
    call("t2", "terminal"),
    call("end", "finish"),
  ];
  expect(startable(claims, new Set(), 8)).toEqual(["a", "c", "t1"]);
  expect(startable(claims, new Set(), 2)).toEqual(["a", "c"]);
  expect(startable(claims, new Set(), 1)).toEqual(["a"]);
  expect(startable(claims.slice(3), new Set(["t1"]), 8)).toEqual([]);
  expect(startable(claims.slice(5), new Set(), 8)).toEqual(["end"]);
});

test("P6, L23.16: parallel results are stored as they land, and the next request has them in the order of the calls", async () => {
  const script = {
    turns: [
      {
        tool_calls: [
          { name: "grep", arguments: { pattern: "hold first" } },
          { name: "grep", arguments: { pattern: "second" } },
          { name: "terminal", arguments: { command: "third" } },
        ],
      },
      { text: "Done." },
    ],
  };
  await using server = await startTestServer({ script });
  const { id } = await server.createConversation({ text: "go" });
  const observed = async (): Promise<string[]> =>
    (await server.events(id)).flatMap((event) =>
      event.kind === "ObservationEvent" ? [JSON.stringify(event.observation.content)] : [],
    );
  await until(async () => (await observed()).length === 1);
  expect((await observed())[0]).toContain("second");
  expect(server.quickTools.started).toEqual(["hold first", "second"]);
  server.quickTools.release();
  await server.waitForStatus(id, "finished");
  expect((await observed()).map((text) => /second|hold first|third/.exec(text)?.[0])).toEqual([
    "second",
    "hold first",
    "third",
  ]);
  const { messages } = server.model.requests[1]!.body as { messages: { role: string; content: unknown }[] };
  const results = messages
    .filter(({ role }) => role === "tool")
    .map(({ content }) => JSON.stringify(content));
  expect(results.map((text) => /second|hold first|third/.exec(text)?.[0])).toEqual([
    "hold first",
    "second",
    "third",
  ]);
});

test("P43, L23.15: a stop ends every call in progress, and each has one answer", async () => {
  const patterns = ["hold a", "hold b", "hold c"];
  const script = {
    turns: [{ tool_calls: patterns.map((pattern) => ({ name: "grep", arguments: { pattern } })) }],
  };
  await using server = await startTestServer({ script });
  const { id } = await server.createConversation({ text: "go" });
  await until(() => server.quickTools.started.length === 3);
  await server.client.stop(id);
  await server.waitForStatus(id, "paused");
  const log = await server.events(id);
  expect(log.filter(({ kind }) => kind === "AgentErrorEvent")).toHaveLength(3);
  expect(log.filter(({ kind }) => kind === "ObservationEvent")).toHaveLength(0);
});
