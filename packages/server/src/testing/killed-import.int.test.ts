import { readFileSync } from "node:fs";
import type { ImportReport } from "@convoke/protocol";
import { openTemporaryDirectory } from "@convoke/tool-host/testing";
import { expect, test } from "vitest";
import { ServerProcess } from "./server-process.ts";

const archive = readFileSync(new URL("../imports/golden/openhands-1.58.2.tar.gz", import.meta.url));

async function send(server: ServerProcess): Promise<ImportReport["results"]> {
  const form = new FormData();
  form.set("file", new File([archive], "conversations.tar.gz"));
  const reply = await fetch(`${server.url}/api/conversations/import`, {
    method: "POST",
    headers: { "X-Session-API-Key": server.key },
    body: form,
  });
  return ((await reply.json()) as ImportReport).results;
}

test("Import: kill -9 between the events of a conversation and its end leaves none of it, and those before it whole", async () => {
  await using folder = await openTemporaryDirectory();
  // Each conversation is appended in two: its events, then what makes it visible. This is one of the first five.
  await using first = await ServerProcess.start({ dataDir: folder.path, failPoints: "append.after=kill:7" });
  await expect(send(first)).rejects.toThrow();
  expect(await first.ended).toBe("SIGKILL");
  await using second = await ServerProcess.start({ dataDir: folder.path, port: first.port });
  const whole = (await second.client.searchConversations({ limit: 100 })).items.map((item) => item.id);
  const results = await send(second);
  expect(new Map(results.map(({ conversation_id: id, status }) => [id, status]))).toEqual(
    new Map(results.map(({ conversation_id: id }) => [id, whole.includes(id!) ? "unchanged" : "imported"])),
  );
  expect(whole.length).toBeGreaterThan(1);
  expect(whole.length).toBeLessThan(6);
  expect((await second.client.searchConversations({ limit: 100 })).items.length).toBe(20);
});
