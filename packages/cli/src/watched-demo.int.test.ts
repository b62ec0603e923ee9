import { existsSync } from "node:fs";
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import type { DemoStarted, KeyList } from "@convoke/protocol";
import { startTestServer } from "@convoke/server/testing";
import { allowedEnvironment, defaultTools } from "@convoke/tool-host";
import { expect, test } from "vitest";
import { watchedDemo } from "./watched-demo.ts";

const start = () =>
  startTestServer({
    demo: watchedDemo,
    tools: defaultTools(),
    environment: allowedEnvironment(process.env),
  });

test("S17, J1: the demo asks once, repairs for real, costs nothing, survives a restart, and goes with its conversation", async () => {
  await using server = await start();
  expect((await server.call("GET", "/api/start")).json).toMatchObject({ can: { demo: true } });
  const begun = await server.call("POST", "/api/demo");
  expect(begun.status).toBe(201);
  const { conversation_id: id } = begun.json as DemoStarted;
  const project = join(server.dataDir, "conversations", id, "project");
  const asking = await server.waitForStatus(id, "waiting_for_confirmation", 60_000);
  expect(asking).toMatchObject({ title: "Repair the failing test", tags: { demo: "true" } });
  const again = await server.call("POST", "/api/demo");
  expect([again.status, again.json]).toMatchObject([409, { code: "demo_in_progress" }]);
  expect(await readFile(join(project, "total.js"), "utf8")).toContain("index = 1");
  await server.restart();
  await server.waitForStatus(id, "waiting_for_confirmation", 60_000);
  const path = `/api/conversations/${id}/events/respond_to_confirmation`;
  expect((await server.call("POST", path, { accept: true })).status).toBe(200);
  await server.waitForStatus(id, "finished", 60_000);
  expect(await readFile(join(project, "total.js"), "utf8")).toContain("index = 0");
  const events = await server.events(id);
  const asked = events.filter((event) => JSON.stringify(event).includes("waiting_for_confirmation"));
  expect(asked.length).toBeGreaterThan(0);
  const spend = (await server.call("GET", `/api/conversations/${id}/spend`)).json;
  expect(spend).toMatchObject({ cost: 0 });
  const next = await server.call("POST", "/api/demo");
  expect(next.status).toBe(201);
  const { conversation_id: second } = next.json as DemoStarted;
  for (const gone of [id, second])
    expect((await server.call("DELETE", `/api/conversations/${gone}`)).status).toBe(200);
  expect(existsSync(join(server.dataDir, "conversations", id))).toBe(false);
  expect(existsSync(join(server.dataDir, "conversations", second))).toBe(false);
});

test("S17: agents on this machine are not for everybody, and without a demo there is none", async () => {
  await using server = await start();
  await server.restart({ areConversationsSandboxed: true, machineUsers: ["local"] });
  const made = await server.call("POST", "/api/keys", { user: "ada" });
  const key = (made.json as { key: string }).key;
  const refused = await server.call("POST", "/api/demo", undefined, { "X-Session-API-Key": key });
  expect([refused.status, refused.json]).toMatchObject([403, { code: "machine_refused" }]);
  const hers = await server.call("GET", "/api/start", undefined, { "X-Session-API-Key": key });
  expect(hers.json).toMatchObject({ can: { demo: false, keys: true } });
  expect(((await server.call("GET", "/api/keys")).json as KeyList).keys).toHaveLength(1);
  await using plain = await startTestServer();
  const none = await plain.call("POST", "/api/demo");
  expect([none.status, none.json]).toMatchObject([404, { code: "no_demo" }]);
});
