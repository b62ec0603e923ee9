import { createInProcessHost } from "@convoke/tool-host";
import { expect, test } from "vitest";
import type { ConversationConfig } from "../engine/conversation-config.ts";
import type { WalledHost, WallOrder, Walls } from "../walls/wall.ts";
import { DiskWatch } from "../workspaces/disk-watch.ts";
import { createMachinePolicy } from "../workspaces/machine-policy.ts";
import { Hosts, type ChooseHostDeps } from "./choose-host.ts";

const toolHost = createInProcessHost({ tools: [], environment: {} });

function open(changes: Partial<ChooseHostDeps> = {}, isAsRoot = false) {
  const orders: WallOrder[] = [];
  const walls: Walls = {
    summary: "walls of a test",
    open: async (order) => {
      orders.push(order);
      return { catalogue: ["terminal"], stateDir: "/state" } as unknown as WalledHost;
    },
    isRefused: async (folder) => folder === "/home/ada",
    isAsRoot: async () => isAsRoot,
    limits: async () => ({ kind: "per-process", detail: "of a test" }),
    countRunning: () => 0,
    remove: async () => {},
    [Symbol.asyncDispose]: async () => {},
  };
  const hosts = new Hosts({
    toolHost,
    sandboxes: null,
    walls,
    network: "registries",
    requireMachine: createMachinePolicy({ users: ["local"], isSandboxed: true }),
    disk: new DiskWatch({ folders: [] }),
    isMachineUser: (userId) => userId === "local",
    workspaceRoot: "/home/ada/work",
    home: "/home/ada",
    ...changes,
  });
  return { hosts, orders };
}

function conversation(ownerId: string, config: Partial<ConversationConfig> = {}) {
  const workspace = { kind: "LocalWorkspace" as const, working_dir: "shop" };
  return { id: "one", ownerId, config: { workspace, ...config } as ConversationConfig };
}

test("a conversation here is behind a wall around its folder, also for users who may not use the machine", async () => {
  const { hosts, orders } = open();
  expect(await hosts.choose(conversation("bob"))).toMatchObject({ kind: "wall", stateDir: "/state" });
  expect(orders).toEqual([
    {
      rootId: "one",
      ownerId: "bob",
      folder: "/home/ada/work/shop",
      network: "registries",
      limit: "registries",
      granted: [],
      hide: [],
    },
  ]);
});

test("a sub-agent is behind the wall of the conversation that it works for", async () => {
  const { hosts, orders } = open();
  await hosts.choose(
    conversation("bob", { wall_of: { conversation_id: "parent", working_dir: "/srv/shop" } }),
  );
  expect(orders[0]).toMatchObject({ rootId: "parent", folder: "/srv/shop" });
});

test("only users of the machine do without a wall, or have one whose process is root", async () => {
  const off = { wall: { kind: "off" as const } };
  await expect(open().hosts.choose(conversation("bob", off))).rejects.toMatchObject({
    code: "machine_refused",
  });
  expect((await open().hosts.choose(conversation("local", off))).kind).toBe("process");
  await expect(open({}, true).hosts.choose(conversation("bob"))).rejects.toMatchObject({
    code: "machine_refused",
  });
  expect((await open({}, true).hosts.choose(conversation("local"))).kind).toBe("wall");
});

test("the network of a request is bounded by that of the server, but for users of the machine", async () => {
  const wide = { wall: { network: "all" as const } };
  const { hosts, orders } = open();
  await hosts.choose(conversation("bob", wide));
  await hosts.choose(conversation("local", wide));
  expect(orders).toMatchObject([
    { network: "all", limit: "registries" },
    { network: "all", limit: null },
  ]);
  await expect(
    hosts.choose(conversation("local", { wall: { network: { allow: ["https://x"] } } })),
  ).rejects.toThrow("body.wall.network.allow.0");
});

test("a server without walls refuses a request for one, and says what conversations have", async () => {
  const { hosts } = open({ walls: null });
  for (const wall of [{ kind: "bubblewrap" as const }, { network: "none" as const }, { hide: [".env"] }])
    await expect(hosts.choose(conversation("local", { wall }))).rejects.toThrow("has no walls");
  expect((await hosts.choose(conversation("local"))).kind).toBe("process");
  expect(await hosts.describe(conversation("local").config)).toMatchObject({ kind: "none" });
  expect(await open().hosts.describe(conversation("local", { wall: { hide: [".env"] } }).config)).toEqual({
    kind: "bubblewrap",
    network: "registries",
    as_root: false,
    limits: "per-process",
    hide: [".env"],
  });
});

test("the folder that the page offers is one that a wall can stand around", async () => {
  expect(await open().hosts.defaultFolder()).toBe("/home/ada/work");
  expect(await open({ workspaceRoot: "/home/ada" }).hosts.defaultFolder()).toBe("/home/ada/convoke");
  expect(await open({ workspaceRoot: "/home/ada", walls: null }).hosts.defaultFolder()).toBe("/home/ada");
});
