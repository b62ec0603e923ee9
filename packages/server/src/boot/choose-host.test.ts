import { tmpdir } from "node:os";
import type { NetworkPolicy } from "@convoke/protocol";
import { createInProcessHost } from "@convoke/tool-host";
import { expect, test } from "vitest";
import type { Sandboxes } from "../app-conversations/sandbox-service.ts";
import type { ConversationConfig } from "../engine/conversation-config.ts";
import { silentLogger } from "../lib/logger.ts";
import type { Policy } from "../settings/policy-store.ts";
import type { WalledHost, WallOrder, Walls } from "../walls/wall.ts";
import { DiskWatch } from "../workspaces/disk-watch.ts";
import { createMachinePolicy } from "../workspaces/machine-policy.ts";
import { createBoundSecretRegistry } from "../egress/bound-secret-registry.ts";
import { Hosts, type ChooseHostDeps } from "./choose-host.ts";

const toolHost = createInProcessHost({ tools: [], environment: {} });

function open(changes: Partial<ChooseHostDeps> = {}, isAsRoot = false) {
  const orders: WallOrder[] = [];
  const removed: string[] = [];
  const walls: Walls = {
    summary: "walls of a test",
    kind: "bubblewrap",
    open: async (order) => {
      orders.push(order);
      const openHost = async () => toolHost;
      return { catalogue: ["terminal"], stateDir: "/state", openHost } as unknown as WalledHost;
    },
    isRefused: async (folder) => folder === "/home/ada",
    isAsRoot: async () => isAsRoot,
    findLeftBehind: async (rootId) => (rootId === "one" ? { files: [], count: 3, is_complete: true } : null),
    countLeftBehind: (rootId) => (rootId === "one" ? 3 : null),
    limits: async () => ({ kind: "per-process", detail: "of a test" }),
    countRunning: () => 0,
    remove: async (rootId) => void removed.push(rootId),
    [Symbol.asyncDispose]: async () => {},
  };
  const hosts = new Hosts({
    toolHost,
    sandboxes: null,
    walls,
    network: "registries",
    sandboxNetwork: "registries",
    boundSecrets: createBoundSecretRegistry(),
    requireMachine: createMachinePolicy({ users: ["local"], isSandboxed: true }),
    disk: new DiskWatch({ folders: [] }),
    copies: { make: async (userId) => `/data/extensions/${userId}`, folderOf: async () => null },
    policyOf: () => ({}),
    isMachineUser: (userId) => userId === "local",
    workspaceRoot: "/home/ada/work",
    home: "/home/ada",
    logger: silentLogger,
    ...changes,
  });
  return { hosts, orders, removed };
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
      kind: "bubblewrap",
      network: "registries",
      limitedBy: [{ source: "server", policy: "registries" }],
      granted: [],
      hide: [],
      unlocked: [],
      extraFolders: [],
      copies: { folder: "/data/extensions/bob", targets: ["/data/extensions/bob"] },
    },
  ]);
});

test("a request may name a container as its wall", async () => {
  const { hosts, orders } = open();
  const config = { wall: { kind: "docker" as const } };
  await hosts.choose(conversation("bob", config));
  expect(orders).toMatchObject([{ rootId: "one", kind: "docker" }]);
  expect(await hosts.describe(conversation("bob", config).config, "two")).toMatchObject({ kind: "docker" });
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

test("other folders show for users of the machine only, and only known names are unlocked", async () => {
  const { hosts, orders } = open();
  const wall = { unlocked: [".vscode"], extra_folders: [{ path: "/srv/docs" }] };
  await hosts.choose(conversation("local", { wall }));
  expect(orders[0]).toMatchObject({
    unlocked: [".vscode"],
    extraFolders: [{ path: "/srv/docs", isWritable: false }],
  });
  expect(await hosts.describe(conversation("local", { wall }).config, "two")).toMatchObject(wall);
  await expect(hosts.choose(conversation("bob", { wall }))).rejects.toMatchObject({
    code: "machine_refused",
  });
  const wrong = { unlocked: [".vscode", ".git"] };
  await expect(hosts.choose(conversation("local", { wall: wrong }))).rejects.toThrow("body.wall.unlocked.1");
});

test("a program that belongs to no conversation runs in a wall of its own, which ends with it", async () => {
  const { hosts, orders, removed } = open({ workspaceRoot: tmpdir() });
  const failing = hosts.inPassing("bob", async (place) => {
    expect(place).toEqual({ toolHost, folder: tmpdir(), isWalled: true });
    expect(removed).toEqual([]);
    throw new Error("It does not answer.");
  });
  await expect(failing).rejects.toThrow("does not answer");
  expect(orders).toMatchObject([{ ownerId: "bob", folder: tmpdir() }]);
  expect(orders[0]?.limitedBy).toEqual([{ source: "server", policy: "registries" }]);
  expect(removed).toEqual([orders[0]?.rootId]);
});

test("without walls, or in one that is root, such a program is for users of the machine only", async () => {
  for (const { hosts } of [open({ walls: null }), open({ workspaceRoot: tmpdir() }, true)]) {
    await expect(hosts.inPassing("bob", async () => 1)).rejects.toMatchObject({ code: "machine_refused" });
    expect(await hosts.inPassing("local", async () => 1)).toBe(1);
  }
});

test("the network of a request is bounded by that of the server, but for users of the machine", async () => {
  const wide = { wall: { network: "all" as const } };
  const { hosts, orders } = open();
  await hosts.choose(conversation("bob", wide));
  await hosts.choose(conversation("local", wide));
  expect(orders).toMatchObject([
    { network: "all", limitedBy: [{ source: "server", policy: "registries" }] },
    { network: "all", limitedBy: [] },
  ]);
  await expect(
    hosts.choose(conversation("local", { wall: { network: { allow: ["https://x"] } } })),
  ).rejects.toThrow("body.wall.network.allow.0");
});

test("the policy of a user bounds the network and asks for a wall, also of users of the machine", async () => {
  const policy: Policy = { max_network: "none", may_turn_off: false };
  const { hosts, orders } = open({ policyOf: (userId) => (userId === "eve" ? {} : policy) });
  await hosts.choose(conversation("local", { wall: { network: "all" } }));
  await hosts.choose(conversation("bob"));
  const user = { source: "user", policy: "none" };
  expect(orders.map(({ limitedBy }) => limitedBy)).toEqual([
    [user],
    [{ source: "server", policy: "registries" }, user],
  ]);
  const off = { wall: { kind: "off" as const } };
  await expect(hosts.choose(conversation("local", off))).rejects.toMatchObject({ code: "policy_refused" });
});

test("the least wall of a user is one that is there, and with bubblewrap one that is not root", async () => {
  const policyOf = (): Policy => ({ least_wall: "bubblewrap" });
  const asRoot = open({ policyOf }, true);
  const refused = { code: "policy_refused" };
  await expect(asRoot.hosts.choose(conversation("local"))).rejects.toMatchObject(refused);
  await expect(asRoot.hosts.inPassing("local", async () => 1)).rejects.toMatchObject(refused);
  expect((await open({ policyOf }).hosts.choose(conversation("local"))).kind).toBe("wall");
  const asRootAllowed = open({ policyOf: () => ({ least_wall: "as_root" }) }, true);
  expect((await asRootAllowed.hosts.choose(conversation("local"))).kind).toBe("wall");
  const none = open({ policyOf, walls: null });
  await expect(none.hosts.choose(conversation("local"))).rejects.toMatchObject(refused);
  await expect(none.hosts.inPassing("local", async () => 1)).rejects.toMatchObject(refused);
});

test("a server without walls refuses a request for one, and says what conversations have", async () => {
  const { hosts } = open({ walls: null });
  for (const wall of [{ kind: "bubblewrap" as const }, { network: "none" as const }, { hide: [".env"] }])
    await expect(hosts.choose(conversation("local", { wall }))).rejects.toThrow("has no walls");
  expect((await hosts.choose(conversation("local"))).kind).toBe("process");
  expect(await hosts.describe(conversation("local").config, "one")).toMatchObject({ kind: "none" });
  const { config } = conversation("local", { wall: { hide: [".env"] } });
  const wall = {
    kind: "bubblewrap",
    network: "registries",
    as_root: false,
    limits: "per-process",
    hide: [".env"],
  };
  expect(await open().hosts.describe(config, "one")).toEqual({ ...wall, left_behind: 3 });
  expect(await open().hosts.describe(config, "two")).toEqual(wall);
});

test("what an agent leaves in its folder is known where it has a wall, also for its sub-agents", async () => {
  const { hosts } = open();
  expect(await hosts.findLeftBehind(conversation("local"))).toMatchObject({ count: 3 });
  const child = conversation("local", { wall_of: { conversation_id: "one", working_dir: "/srv/shop" } });
  expect(await hosts.findLeftBehind({ ...child, id: "child" })).toMatchObject({ count: 3 });
  const off = conversation("local", { wall: { kind: "off" } });
  await expect(hosts.findLeftBehind(off)).rejects.toMatchObject({ code: "no_wall" });
});

function openSandboxed(network: NetworkPolicy, hasWayOut = true) {
  const granted: unknown[] = [];
  const sandboxes = {
    openHost: async () => ({ toolHost, workspaceDir: "/workspace", stateDir: "/state" }),
    hasWayOut: () => hasWayOut,
    setGrants: async (...given: unknown[]) => void granted.push(given),
    refusalsSince: async (id: string, mark: number) => ({ mark: mark + 1, text: `of ${id}` }),
  } as unknown as Sandboxes;
  return { ...open({ sandboxes, sandboxNetwork: network }), granted };
}

const inSandbox = { sandbox_id: "box", wall: { granted: ["a.example"] } };

test("in a sandbox, refusals are told and grants are made again, but not those of users who lost the machine", async () => {
  const { hosts, granted } = openSandboxed("registries");
  const host = await hosts.choose(conversation("local", inSandbox));
  expect(await host.refusalsSince?.(4)).toEqual({ mark: 5, text: "of box" });
  await hosts.choose(conversation("bob", inSandbox));
  expect(granted).toEqual([["box", "one", ["a.example"]]]);
  await hosts.sandboxes.endGrants("one", conversation("local", inSandbox).config);
  expect(granted.at(-1)).toEqual(["box", "one", []]);
});

test("agents in sandboxes may ask for hosts where an answer could count", () => {
  const canWiden = (hosts: Hosts, ownerId = "local", more: Partial<ConversationConfig> = {}): boolean =>
    hosts.grants.canWiden(conversation(ownerId, { ...inSandbox, ...more }));
  const { hosts } = openSandboxed("registries");
  expect(canWiden(hosts)).toBe(true);
  expect(canWiden(hosts, "bob")).toBe(false);
  expect(canWiden(hosts, "local", { wall_of: { conversation_id: "x", working_dir: "/" } })).toBe(false);
  expect(canWiden(openSandboxed("registries", false).hosts)).toBe(false);
  for (const network of ["none", "all"] as const) expect(canWiden(openSandboxed(network).hosts)).toBe(false);
});

test("a sandbox without a way out has no refusals to tell", async () => {
  const host = await openSandboxed("registries", false).hosts.choose(conversation("local", inSandbox));
  expect(host.refusalsSince).toBeUndefined();
});

test("the folder that the page offers is one that a wall can stand around", async () => {
  expect(await open().hosts.defaultFolder()).toBe("/home/ada/work");
  expect(await open({ workspaceRoot: "/home/ada" }).hosts.defaultFolder()).toBe("/home/ada/convoke");
  expect(await open({ workspaceRoot: "/home/ada", walls: null }).hosts.defaultFolder()).toBe("/home/ada");
});
