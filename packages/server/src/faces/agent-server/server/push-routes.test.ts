import type { PushStatus } from "@convoke/protocol";
import { expect, test, vi } from "vitest";
import { startTestServer } from "../../../testing/start-server.ts";
import { TestPushService } from "../../../testing/test-push-service.ts";

const pushTo = ({ origin }: TestPushService) => ({
  contact: "mailto:ann@example.org",
  services: (endpoint: URL) => endpoint.origin === origin,
});

test("S21: a subscribed browser is notified of a run's approval and end, across restarts, until it unsubscribes", async () => {
  await using service = await TestPushService.start();
  const push = pushTo(service);
  await using server = await startTestServer({
    config: { push },
    script: {
      turns: [{ tool_calls: [{ name: "terminal", arguments: { command: "echo hi" } }] }, { text: "Done." }],
      loop: true,
    },
  });
  const status = (await server.call("GET", "/api/push")).json as PushStatus;
  expect(status.is_on).toBe(true);
  service.publicKey = status.public_key!;
  const added = await server.call("POST", "/api/push/subscriptions", {
    ...service.subscribe("phone"),
    kinds: ["asks", "done"],
  });
  expect([added.status, added.json]).toMatchObject([
    201,
    { service: new URL(service.origin).host, kinds: ["asks", "done"] },
  ]);
  expect(added.text).not.toContain("/push/phone");
  await server.restart();
  expect((await server.call("GET", "/api/push")).json).toEqual(status);

  const id = await server.runTo("waiting_for_confirmation", "go", {
    confirmation_policy: { kind: "AlwaysConfirm" },
  });
  await vi.waitFor(() =>
    expect(service.pushed.map(({ news }) => news)).toEqual([{ conversation_id: id, kind: "asks" }]),
  );
  await server.call("POST", `/api/conversations/${id}/events/respond_to_confirmation`, { accept: true });
  await vi.waitFor(() =>
    expect(service.pushed.map(({ news }) => news)).toContainEqual({ conversation_id: id, kind: "done" }),
  );

  const list = await server.call("GET", "/api/push/subscriptions");
  expect(list.json).toEqual({ subscriptions: [added.json] });
  const path = `/api/push/subscriptions/${(added.json as { id: string }).id}`;
  expect((await server.call("DELETE", path)).status).toBe(204);
  const again = await server.call("DELETE", path);
  expect([again.status, again.json]).toMatchObject([404, { code: "push_subscription_not_found" }]);
});

test("S21: addresses and keys that are none are refused by name", async () => {
  await using service = await TestPushService.start();
  const push = pushTo(service);
  await using server = await startTestServer({ config: { push } });
  const good = service.subscribe("phone");
  for (const [change, field] of [
    [{ endpoint: "https://example.org/elsewhere" }, "endpoint"],
    [{ endpoint: "no address" }, "endpoint"],
    [{ keys: { ...good.keys, p256dh: "AAAA" } }, "keys"],
    [{ keys: { ...good.keys, p256dh: Buffer.alloc(65, 4).toString("base64url") } }, "keys"],
    [{ keys: { ...good.keys, auth: "AAAA" } }, "keys"],
    [{ kinds: ["all"] }, "kinds"],
  ] as const) {
    const refused = await server.call("POST", "/api/push/subscriptions", { ...good, ...change });
    expect(refused.status, refused.text).toBe(422);
    expect(JSON.stringify((refused.json as { detail: unknown }).detail)).toContain(`"${field}"`);
  }
  expect((await server.call("GET", "/api/push/subscriptions")).json).toEqual({ subscriptions: [] });
});

test("S21: it is off unless it is switched on", async () => {
  await using server = await startTestServer({});
  expect((await server.call("GET", "/api/push")).json).toEqual({ is_on: false, public_key: null });
  expect((await server.call("GET", "/api/push/subscriptions")).json).toEqual({ subscriptions: [] });
  const refused = await server.call("POST", "/api/push/subscriptions", {
    endpoint: "https://fcm.googleapis.com/a",
    keys: { p256dh: "a", auth: "a" },
  });
  expect([refused.status, refused.json]).toMatchObject([409, { code: "push_off" }]);
});
