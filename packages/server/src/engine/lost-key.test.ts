import { randomBytes } from "node:crypto";
import { rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { expect, test } from "vitest";
import { startTestServer } from "../testing/start-server.ts";

test("P8: with another master key conversations are listed and read, and only working with them is refused", async () => {
  await using server = await startTestServer();
  const { id } = await server.createConversation();
  await server.close();
  await writeFile(join(server.dataDir, "master-key"), `${randomBytes(32).toString("base64")}\n`);
  await server.restart();
  expect((await server.client.searchConversations()).items.map((item) => item.id)).toEqual([id]);
  expect((await server.client.searchEvents(id)).items).toBeDefined();
  await expect(server.client.run(id)).rejects.toMatchObject({ status: 503, code: "secrets_unreadable" });
});

test("F14: with another master key, what needs a stored secret says so, and everything else goes on", async () => {
  await using server = await startTestServer();
  const put = await server.call("PUT", "/api/settings/secrets", { name: "TOKEN", value: "canary-value" });
  expect(put.status).toBe(200);
  await server.close();
  await rm(join(server.dataDir, "master-key"));
  await server.restart();
  const refused = { status: 503, json: { code: "secrets_unreadable" } };
  expect(await server.call("GET", "/api/settings/secrets/TOKEN")).toMatchObject(refused);
  const bash = { command: "echo here" };
  expect(await server.call("POST", "/api/bash/execute_bash_command", bash)).toMatchObject(refused);
  expect(await server.call("GET", "/api/settings/secrets")).toMatchObject({
    status: 200,
    json: { secrets: [{ name: "TOKEN" }] },
  });
  expect((await server.call("DELETE", "/api/settings/secrets/TOKEN")).status).toBe(200);
});
