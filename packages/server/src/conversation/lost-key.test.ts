import { randomBytes } from "node:crypto";
import { writeFile } from "node:fs/promises";
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
