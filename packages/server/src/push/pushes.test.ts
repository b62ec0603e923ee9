import { openTemporaryDirectory } from "@convoke/tool-host/testing";
import { join } from "node:path";
import { expect, test, vi } from "vitest";
import { silentLogger } from "../lib/logger.ts";
import { openSecretBox } from "../security/seal.ts";
import { openTestDatabase } from "../testing/test-database.ts";
import { TestPushService } from "../testing/test-push-service.ts";
import { openPushKeys } from "./push-keys.ts";
import { Pushes, type RunOutcome } from "./pushes.ts";
import { maxSubscriptions, SubscriptionStore, type PushOwner } from "./subscription-store.ts";

const id = "11111111-1111-4111-8111-111111111111";
const outcome = (status: string, more: Partial<RunOutcome> = {}): RunOutcome => ({
  ownerId: "ann",
  status,
  isTask: false,
  ...more,
});

async function openWorld() {
  await using scope = new AsyncDisposableStack();
  const directory = scope.use(await openTemporaryDirectory());
  const database = scope.use(await openTestDatabase(directory.path));
  const secretBox = await openSecretBox(join(directory.path, "master-key"));
  const service = scope.use(await TestPushService.start());
  const keys = await openPushKeys({ database, secretBox, logger: silentLogger });
  service.publicKey = keys.publicKey;
  let nowMs = 1_000;
  const subscriptions = new SubscriptionStore({ database, secretBox, clock: { nowMs: () => (nowMs += 1) } });
  const over = new Set<string>();
  const pauses: number[] = [];
  const outcomes = new Map<string, RunOutcome>();
  const pushes = scope.use(
    new Pushes({
      subscriptions,
      sender: { contact: "mailto:ann@example.org", keys },
      runs: { find: async (conversationId) => outcomes.get(conversationId) ?? null },
      owners: { isStillGood: ({ loginId }: PushOwner) => loginId === undefined || !over.has(loginId) },
      fetch,
      wait: async (ms) => void pauses.push(ms),
      logger: silentLogger,
    }),
  );
  const end = (ended: RunOutcome): void => {
    outcomes.set(id, ended);
    pushes.onRunEnd(id);
  };
  const owned = scope.move();
  return {
    database,
    secretBox,
    service,
    keys,
    subscriptions,
    over,
    pauses,
    pushes,
    end,
    [Symbol.asyncDispose]: () => owned.disposeAsync(),
  };
}

test("S21: a browser is notified of approvals, ends and failures, and only it can decrypt that", async () => {
  await using world = await openWorld();
  const { service, subscriptions } = world;
  await subscriptions.add({ userId: "ann" }, service.subscribe("phone"), ["asks", "done", "failed"]);
  await subscriptions.add({ userId: "ann" }, service.subscribe("desk"), ["failed"]);
  await subscriptions.add({ userId: "bob" }, service.subscribe("bobs"), ["asks", "done", "failed"]);
  world.end(outcome("waiting_for_confirmation"));
  await vi.waitFor(() => expect(service.pushed).toHaveLength(1));
  world.end(outcome("paused"));
  world.end(outcome("finished", { isTask: true }));
  world.end(outcome("finished"));
  await vi.waitFor(() => expect(service.pushed).toHaveLength(2));
  world.end(outcome("stuck"));
  await vi.waitFor(() => expect(service.pushed).toHaveLength(4));
  expect(service.pushed.slice(0, 3).map(({ news }) => news)).toEqual(
    ["asks", "done", "failed"].map((kind) => ({ conversation_id: id, kind })),
  );
  expect(service.pushed.map(({ path }) => path).toSorted()).toEqual([
    "/push/desk",
    "/push/phone",
    "/push/phone",
    "/push/phone",
  ]);
  const [{ headers, claims }] = service.pushed as [(typeof service.pushed)[0]];
  expect(headers).toMatchObject({
    "content-encoding": "aes128gcm",
    ttl: "86400",
    urgency: "high",
    topic: expect.stringMatching(/^[\w-]{32}$/),
  });
  expect(new Set(service.pushed.map(({ headers: { topic } }) => topic)).size).toBe(1);
  expect(claims).toMatchObject({ aud: service.origin, sub: "mailto:ann@example.org" });
});

test("S21: an unavailable push service is retried a few times; the subscription of a removed browser is deleted", async () => {
  await using world = await openWorld();
  const { service, subscriptions, pauses } = world;
  await subscriptions.add({ userId: "ann" }, service.subscribe("phone"), ["done"]);
  const answers = [503, 429];
  service.answer = () => answers.shift() ?? 201;
  world.end(outcome("finished"));
  await vi.waitFor(() => expect(service.pushed).toHaveLength(1));
  expect(pauses).toEqual([2_000, 15_000]);
  service.answer = () => 503;
  world.end(outcome("finished"));
  await vi.waitFor(() => expect(pauses).toEqual([2_000, 15_000, 2_000, 15_000, 60_000]));
  await vi.waitFor(() => expect(service.asked).toBe(7));
  service.answer = () => 403;
  world.end(outcome("finished"));
  await vi.waitFor(() => expect(service.asked).toBe(8));
  expect(await subscriptions.list("ann")).toHaveLength(1);
  service.answer = () => 410;
  world.end(outcome("finished"));
  await vi.waitFor(async () => expect(await subscriptions.list("ann")).toEqual([]));
  expect(pauses).toHaveLength(5);
});

test("S21: a subscription ends with the key or login that created it", async () => {
  await using world = await openWorld();
  const { service, subscriptions, over } = world;
  await subscriptions.add({ userId: "ann", loginId: "one" }, service.subscribe("phone"), ["done"]);
  await subscriptions.add({ userId: "ann", loginId: "two" }, service.subscribe("desk"), ["done"]);
  over.add("one");
  world.end(outcome("finished"));
  await vi.waitFor(() => expect(service.pushed.map(({ path }) => path)).toEqual(["/push/desk"]));
  expect((await subscriptions.list("ann")).map(({ owner }) => owner.loginId)).toEqual(["two"]);
});

test("S21: a browser has one subscription, of the user who subscribed last, and a user's subscriptions are limited", async () => {
  await using world = await openWorld();
  const { service, subscriptions } = world;
  const shared = service.subscribe("shared");
  const first = await subscriptions.add({ userId: "ann" }, shared, ["asks"]);
  const second = await subscriptions.add({ userId: "bob" }, shared, ["done"]);
  expect(second).toMatchObject({ id: first.id, kinds: ["done"] });
  expect(await subscriptions.list("ann")).toEqual([]);
  expect(await subscriptions.remove("ann", first.id)).toBe(false);
  for (let number = 0; number < maxSubscriptions; number += 1)
    await subscriptions.add({ userId: "bob" }, service.subscribe(`${number}`), ["done"]);
  const left = await subscriptions.list("bob");
  expect(left).toHaveLength(maxSubscriptions);
  expect(left.some((one) => one.id === first.id)).toBe(false);
});

test("S21: all nodes of a store share one pair of keys; with another master key there is a new pair, and no subscription", async () => {
  await using world = await openWorld();
  await using elsewhere = await openTemporaryDirectory();
  const { database, secretBox, service, subscriptions, keys } = world;
  expect(await openPushKeys({ database, secretBox, logger: silentLogger })).toEqual(keys);
  await subscriptions.add({ userId: "ann" }, service.subscribe("phone"), ["done"]);
  const otherBox = await openSecretBox(join(elsewhere.path, "master-key"));
  const others = await openPushKeys({ database, secretBox: otherBox, logger: silentLogger });
  expect(others.publicKey).not.toBe(keys.publicKey);
  expect(await openPushKeys({ database, secretBox: otherBox, logger: silentLogger })).toEqual(others);
  expect(await subscriptions.list("ann")).toEqual([]);
});
