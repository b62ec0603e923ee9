import { expect, test } from "vitest";
import { startTestServer, type TestServer } from "../testing/start-server.ts";
import { TestReceiver } from "../testing/test-receiver.ts";
import { until } from "../testing/until.ts";
import { sign } from "./delivery.ts";
import { webhookDefaults, type WebhookSpec } from "./webhook.ts";

async function startWith(hook: Partial<WebhookSpec> & { base_url: string }): Promise<TestServer> {
  return await startTestServer({
    script: { turns: [{ text: "hello" }], loop: true, select: "in_order" },
    config: {
      webhooks: [hookOf(hook)],
    },
  });
}

function hookOf(hook: Partial<WebhookSpec> & { base_url: string }): WebhookSpec {
  return { ...webhookDefaults, flush_delay: 0, retry_delay: 0.02, num_retries: 1_000, ...hook };
}

async function idsOf(server: TestServer, id: string): Promise<string[]> {
  return (await server.events(id)).map((event) => event.id!);
}

test("P42: a receiver that is down for a while, and a server that restarts meanwhile: every event arrives in order", async () => {
  await using receiver = await TestReceiver.start();
  await using server = await startWith({
    base_url: receiver.url,
    secret: "hook-secret",
    headers: { "X-Own": "1" },
  });
  const first = await server.runTo("finished", "one");
  await until(async () => receiver.eventsOf(first).length === (await idsOf(server, first)).length);
  receiver.isUp = false;
  const second = await server.runTo("finished", "two");
  await server.client.sendMessage(first, { content: [{ type: "text", text: "more" }], run: true });
  await until(() => receiver.refused > 2);
  const status = (await server.call("GET", "/api/webhooks")).json as { webhooks: Record<string, unknown>[] };
  expect(status.webhooks[0]).toMatchObject({
    base_url: receiver.url,
    last_error: "The receiver answered 503.",
  });
  expect(status.webhooks[0]!["lag_events"]).toBeGreaterThan(3);
  await server.waitForStatus(first, "finished");
  await server.restart();
  const third = await server.runTo("finished", "three");
  receiver.isUp = true;
  for (const id of [first, second, third]) {
    const expected = await idsOf(server, id);
    await until(() => new Set(receiver.eventsOf(id)).size === expected.length);
    // At least once: a repetition may only repeat what came last.
    const seen: string[] = [];
    for (const event of receiver.eventsOf(id)) if (!seen.includes(event)) seen.push(event);
    expect(seen).toEqual(expected);
    await until(() => receiver.statusesOf(id).at(-1) === "finished");
  }
  for (const { headers, body } of receiver.posts) {
    const timestamp = String(headers["x-convoke-timestamp"]);
    expect(headers["x-convoke-signature"]).toBe(sign("hook-secret", timestamp, body));
    expect(headers).toMatchObject({ "x-own": "1", "user-agent": "convoke" });
  }
  await until(async () => {
    const { json } = await server.call("GET", "/api/webhooks");
    return (json as typeof status).webhooks[0]!["lag_events"] === 0;
  });
});

test("P42: batches have at most the configured number of events, and a deletion is posted", async () => {
  await using receiver = await TestReceiver.start();
  await using server = await startWith({ base_url: receiver.url, event_buffer_size: 2 });
  const id = await server.runTo("finished", "one");
  const expected = await idsOf(server, id);
  await until(() => receiver.eventsOf(id).length === expected.length);
  const sizes = receiver.posts
    .filter(({ path }) => path.includes("/events/"))
    .map(({ body }) => (JSON.parse(body) as unknown[]).length);
  expect(Math.max(...sizes)).toBeLessThanOrEqual(2);
  receiver.isUp = false;
  await server.call("DELETE", `/api/conversations/${id}`);
  await server.restart();
  receiver.isUp = true;
  await until(() => receiver.statusesOf(id).at(-1) === "deleting");
});

test("W28: events beyond a receiver's maximum lag are dropped and counted, never silently", async () => {
  await using receiver = await TestReceiver.start();
  await using server = await startWith({ base_url: receiver.url, max_queue_size: 3 });
  receiver.isUp = false;
  const id = await server.runTo("finished", "one");
  await server.restart();
  receiver.isUp = true;
  await until(() => receiver.statusesOf(id).includes("finished"));
  // Some may have been left out before the restart; the log tells of all.
  const warnings = server.log.filter(({ message }) => message.includes("left out"));
  const skipped = warnings.reduce((sum, { fields }) => sum + (fields as { events: number }).events, 0);
  expect(skipped).toBeGreaterThan(0);
  const expected = (await idsOf(server, id)).slice(skipped);
  await expect.poll(() => receiver.eventsOf(id)).toEqual(expected);
});

test("one of two nodes on a folder posts for both, and the other one takes over when it ends", async () => {
  await using receiver = await TestReceiver.start();
  await using first = await startWith({ base_url: receiver.url });
  const { dataDir, workspaceDir } = first;
  const webhooks = [hookOf({ base_url: receiver.url })];
  const config = { dataDir, workspaceRoot: workspaceDir, webhooks };
  const script = { turns: [{ text: "hello" }], loop: true, select: "in_order" as const };
  await using second = await startTestServer({ script, config });
  const ids = [await first.runTo("finished", "one"), await second.runTo("finished", "two")];
  const arrive = async (id: string, expected: readonly string[]): Promise<void> => {
    await until(() => receiver.eventsOf(id).length === expected.length);
    expect(receiver.eventsOf(id)).toEqual(expected);
    await until(() => receiver.statusesOf(id).at(-1) === "finished");
  };
  for (const id of ids) await arrive(id, await idsOf(second, id));
  // What it has not posted is left to the other one.
  receiver.isUp = false;
  const left = await first.runTo("finished", "three");
  await until(() => receiver.refused > 0);
  await first.close();
  receiver.isUp = true;
  await arrive(left, await idsOf(second, left));
  const later = await second.runTo("finished", "four");
  await arrive(later, await idsOf(second, later));
  await second.client.deleteConversation(ids[0]!);
  await until(() => receiver.statusesOf(ids[0]!).at(-1) === "deleting");
});
