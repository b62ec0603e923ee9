import assert from "node:assert/strict";
import type { ClientWorld } from "../client-world.ts";

/** What the server says about itself. */
export async function serverItself(world: ClientWorld): Promise<void> {
  const { client, record, options } = world;
  const server = record.watch(new client.ServerClient(options));
  assert.ok(await server.getRoot());
  assert.ok(await server.getAlive());
  assert.ok(await server.getHealth());
  assert.ok(await server.getReady());
  assert.equal(typeof (await server.getServerInfo()).uptime, "number");
  server.close();

  const tools = record.watch(new client.ToolClient(options));
  assert.ok((await tools.listTools()).includes("terminal"));
  tools.close();
  const code = record.watch(new client.VSCodeClient(options));
  const { enabled, running } = await code.getStatus();
  assert.deepEqual([enabled, running], [false, false]);
  await assert.rejects(code.getUrl(), { status: 503 });
  code.close();
  const desktop = record.watch(new client.DesktopClient(options));
  await assert.rejects(desktop.getUrl(), { status: 503 });
  desktop.close();
}

/** The requests below all others, in both of the client's forms. */
export async function plainRequests(world: ClientWorld): Promise<void> {
  const { client, record } = world;
  const http = record.watch(
    new client.HttpClient({ baseUrl: world.server.url, apiKey: world.server.key, timeout: 20_000 }),
  );
  const name = { name: "PLAIN", value: "canary" };
  assert.equal((await http.request({ method: "GET", url: "/alive" })).status, 200);
  assert.equal((await http.put("/api/settings/secrets", name)).status, 200);
  assert.equal((await http.get("/api/settings/secrets/PLAIN", { responseType: "text" })).data, "canary");
  assert.equal((await http.patch("/api/settings", { misc_settings_diff: { a: 1 } })).status, 200);
  assert.equal((await http.delete("/api/settings/secrets/PLAIN")).status, 200);
  assert.equal((await http.post("/api/skills", {})).status, 200);
  await assert.rejects(http.get("/api/nothing"), { status: 404 });
  http.close();

  const all = record.watch(new client.AgentServerClient(world.options));
  assert.ok(await all.server.getServerInfo());
  assert.ok(await all.request({ method: "GET", path: "/alive", authMode: "none" }));
  assert.ok(await all.get("/api/settings", { authMode: "session-api-key", sessionApiKey: world.server.key }));
  assert.ok(await all.put("/api/settings/secrets", name));
  assert.ok(await all.patch("/api/settings", { misc_settings_diff: { a: 2 } }));
  assert.ok(await all.delete("/api/settings/secrets/PLAIN"));
  assert.ok(await all.post("/api/skills", {}));
  all.close();
}
