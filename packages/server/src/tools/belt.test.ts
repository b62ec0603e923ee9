import type { Action } from "@convoke/protocol";
import { browserToolSetName, type ExecutionState, type ToolListing } from "@convoke/tool-host";
import { mkdtempDisposable } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import type { ToolBelt } from "../engine/tool-belt.ts";
import { noSkills } from "../extensions/skills/skill-set.ts";
import { silentLogger } from "../lib/logger.ts";
import { Observer } from "../observability/observer.ts";
import { waitBeforeStart } from "./around/before-start.ts";
import { leaveToHost } from "./around/hand-over.ts";
import { observeCalls } from "./around/observe.ts";
import { giveFilesToOwner } from "./around/owned-files.ts";
import { Belt } from "./belt.ts";
import { browserOnDemand } from "./filters/browser-on-demand.ts";
import { onlyPlanning } from "./filters/plan-mode.ts";
import { askForResponses } from "./filters/response-fields.ts";
import { forward, type ToolSource } from "./tool-source.ts";

function listing(name: string, actionKind = "MCPToolAction"): ToolListing {
  return { name, actionKind, isReadOnly: true, definition: {} as ToolListing["definition"] };
}

type Recorder = ToolSource & {
  readonly asked: string[];
  known: ExecutionState;
  list: readonly ToolListing[];
};

/** A source that notes what it is asked, as `name.method`. */
function record(name: string, ...tools: readonly string[]): Recorder {
  const asked: string[] = [];
  const recorder: Recorder = {
    asked,
    known: { type: "unknown" },
    list: tools.map((tool) => listing(tool, tool.startsWith("browser") ? "BrowserAction" : undefined)),
    tools: () => recorder.list,
    owns: (tool) => {
      asked.push(`${name}.owns`);
      return tools.includes(tool);
    },
    ready: async () => void asked.push(`${name}.ready`),
    execute: async () => {
      asked.push(`${name}.execute`);
      return { type: "error", text: name };
    },
    state: async () => {
      asked.push(`${name}.state`);
      return recorder.known;
    },
    announce: () => void asked.push(`${name}.announce`),
    cancel: async () => void asked.push(`${name}.cancel`),
    [Symbol.asyncDispose]: async () => void asked.push(`${name}.close`),
  };
  return recorder;
}

const request = (tool: string) => ({ actionId: "a", tool, action: {} as Action, secrets: [] });
const signal = new AbortController().signal;

/** A new method of sources belongs here too: its type says so. */
const calls: Record<Exclude<keyof ToolSource, "tools">, (source: ToolSource) => unknown> = {
  owns: (source) => source.owns("look"),
  ready: (source) => source.ready(signal, () => {}),
  execute: (source) => source.execute(request("look")),
  state: (source) => source.state("a"),
  announce: (source) => source.announce("a", "look"),
  cancel: (source) => source.cancel("a"),
  [Symbol.asyncDispose]: (source) => source[Symbol.asyncDispose](),
};
const everyMethod = ["owns", "ready", "execute", "state", "announce", "cancel", "close"];

const agent = {
  kind: "Agent" as const,
  llm: { model: "none" },
  tools: [{ name: "terminal", params: { response_schema: { type: "object", properties: { why: {} } } } }],
};
const wrappers: Record<string, (source: ToolSource) => ToolSource | Promise<ToolSource>> = {
  forward,
  "plan mode": onlyPlanning,
  "response fields": (source) => askForResponses(source, agent),
  "a browser on demand": (source) => browserOnDemand(source, { hasAskedForBrowser: false }),
  "hand-over": (source) => leaveToHost(source, signal),
  "ownership of files": async (source) => {
    const folder = await mkdtempDisposable(join(tmpdir(), "convoke-belt-"));
    onTestFinished(() => folder[Symbol.asyncDispose]());
    return await giveFilesToOwner(
      source,
      { directory: folder.path, owner: { uid: 4711, gid: 4711 } },
      silentLogger,
    );
  },
  soundness: (source) => waitBeforeStart(source, { untilSound: async () => {} }),
  observation: (source) => observeCalls(source, "c", new Observer()),
};

test.each(Object.entries(wrappers))("%s forwards every method", async (_, wrap) => {
  const source = record("one", "look", "browser_navigate");
  const wrapped = await wrap(source);
  for (const method of Reflect.ownKeys(calls)) await calls[method as keyof typeof calls](wrapped);
  expect(source.asked).toEqual(everyMethod.map((method) => `one.${method}`));
  expect(wrapped.tools().map(({ name }) => name)).toContain("look");
  source.list = [listing("look"), listing("later")];
  expect(wrapped.tools().map(({ name }) => name)).toContain("later");
  expect(wrapped.tools()).toBe(wrapped.tools());
});

test("a tool that a filter shows in place of others is answered by the filter", async () => {
  const source = record("one", "browser_navigate");
  const outcome = await browserOnDemand(source, { hasAskedForBrowser: false }).execute(
    request(browserToolSetName),
  );
  expect(JSON.stringify(outcome)).toContain("browser_navigate");
  expect(source.asked).toEqual([]);
});

function beltOf(...sources: readonly [ToolSource, ...ToolSource[]]): ToolBelt {
  const workspace = {
    terminals: async () => [{ name: "main" } as never],
    attach: async function* () {},
    attachBrowser: async function* () {},
  };
  return new Belt({ sources, workspace, skills: noSkills });
}

test("a call goes to the last source that owns its tool, and to the first where none does", async () => {
  const [host, one, two] = [record("host", "look"), record("one", "find", "both"), record("two", "both")];
  const belt = beltOf(host, one, two);
  const owner = async (tool: string) => (await belt.execute(request(tool))) as { text: string };
  expect((await owner("look")).text).toBe("host");
  expect((await owner("find")).text).toBe("one");
  expect((await owner("both")).text).toBe("two");
  expect((await owner("nobody's")).text).toBe("host");
  belt.announce("a", "find");
  expect(one.asked).toContain("one.announce");
  expect([...host.asked, ...two.asked].filter((text) => text.endsWith("announce"))).toEqual([]);
});

test("its list has the tools of all sources in their order, and is the same array until one of them changes", () => {
  const [host, one] = [record("host", "look"), record("one", "find")];
  const belt = beltOf(host, one);
  const { tools } = belt;
  expect(tools.map(({ name }) => name)).toEqual(["look", "find"]);
  expect(belt.tools).toBe(tools);
  host.list = [listing("look"), listing("later")];
  expect(belt.tools.map(({ name }) => name)).toEqual(["look", "later", "find"]);
});

test("every source is waited for, and asked to cancel; the last one that knows a call tells its state", async () => {
  const [host, one, two] = [record("host"), record("one"), record("two")];
  const belt = beltOf(host, one, two);
  await belt.ready(signal, () => {});
  await belt.cancel("a");
  for (const { asked } of [host, one, two])
    expect(asked.map((text) => text.split(".")[1])).toEqual(["ready", "cancel"]);
  expect(await belt.state("a")).toEqual({ type: "unknown" });
  host.known = { type: "lost" };
  one.known = { type: "running" };
  expect(await belt.state("a")).toEqual({ type: "running" });
  expect(await belt.terminals()).toEqual([{ name: "main" }]);
});

test("its sources are closed in reverse, also where one of them fails", async () => {
  const order: string[] = [];
  const closing = (name: string, error?: Error): ToolSource => ({
    ...forward(record(name)),
    [Symbol.asyncDispose]: async () => {
      order.push(name);
      if (error !== undefined) throw error;
    },
  });
  const belt = beltOf(closing("host"), closing("one", new Error("It does not end.")), closing("two"));
  await expect(belt[Symbol.asyncDispose]()).rejects.toThrow("It does not end.");
  expect(order).toEqual(["two", "one", "host"]);
});
