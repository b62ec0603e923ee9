import { createHmac } from "node:crypto";
import type { WebhookTrigger } from "@convoke/protocol";
import { openTemporaryDirectory } from "@convoke/tool-host/testing";
import { expect, test } from "vitest";
import { samplePlan } from "../automations/contract.ts";
import { AutomationStore } from "../automations/automation-store.ts";
import type { Occurrence, TriggerPort } from "../automations/trigger-port.ts";
import { createSecretBox } from "../security/seal.ts";
import { openTestDatabase } from "../testing/test-database.ts";
import { DeliveryStore } from "./delivery-store.ts";
import { HookReceiver } from "./hook-receiver.ts";

const secret = "It's a Secret to Everybody";
const github: WebhookTrigger = { kind: "webhook", form: "github" };

async function open(trigger: WebhookTrigger = github) {
  await using scope = new AsyncDisposableStack();
  const directory = scope.use(await openTemporaryDirectory());
  const database = scope.use(await openTestDatabase(directory.path));
  let nowMs = 1_700_000_000_000;
  const clock = { nowMs: () => nowMs };
  const secretBox = createSecretBox(Buffer.alloc(32, 1));
  const store = new AutomationStore({ database, secretBox, clock });
  const state = { isPaused: false, nextDueMs: null };
  const { id } = await store.create("ada", { ...samplePlan, trigger }, state, secret);
  const triggered: Occurrence[] = [];
  const port: TriggerPort = {
    async trigger(automationId, occurrence) {
      const recorded = await store.record(automationId, "n1", () => ({
        runs: [
          {
            dueKey: `webhook:${occurrence.key}`,
            origin: "webhook",
            state: "claimed",
            dueAtMs: nowMs,
            payload: JSON.stringify(occurrence.payload),
          },
        ],
        replaced: [],
        claimed: [],
        nextDueMs: null,
      }));
      if (recorded === null) return null;
      triggered.push(occurrence);
      const [run] = recorded.runs;
      return run === undefined ? { run: recorded.known[0]!, isRepeated: true } : { run, isRepeated: false };
    },
  };
  const deliveries = new DeliveryStore({ database, clock });
  const receiver = (over: Partial<TriggerPort> = {}) =>
    new HookReceiver({ store, deliveries, port: { ...port, ...over }, clock });
  const owned = scope.move();
  return {
    id,
    store,
    port,
    deliveries,
    clock,
    triggered,
    receiver,
    wait: (ms: number) => (nowMs += ms),
    [Symbol.asyncDispose]: () => owned.disposeAsync(),
  };
}

function post(delivery: string, body: object, event = "push", signedWith = secret) {
  const bytes = Buffer.from(JSON.stringify(body));
  const signature = createHmac("sha256", signedWith).update(bytes).digest("hex");
  return {
    headers: {
      "x-github-event": event,
      "x-github-delivery": delivery,
      "x-hub-signature-256": `sha256=${signature}`,
    },
    body: bytes,
  };
}

async function deliver(receiver: HookReceiver, id: string, request: ReturnType<typeof post>) {
  const verified = await receiver.verify(id, request);
  return verified === null ? null : await receiver.receive(verified, JSON.parse(request.body.toString()));
}

test("a delivery starts one run, and comes again without starting another", async () => {
  await using world = await open();
  const { id, triggered } = world;
  const receiver = world.receiver();
  const first = await deliver(receiver, id, post("d1", { ref: "refs/heads/main" }));
  expect(first).toEqual({ run_id: expect.any(String), is_repeated: false, detail: null });
  expect(triggered).toEqual([
    { origin: "webhook", key: "id:d1", payload: { event_name: "push", ref: "refs/heads/main" } },
  ]);
  const again = { run_id: first?.run_id, is_repeated: true, detail: "This delivery came before." };
  expect(await deliver(receiver, id, post("d1", { ref: "refs/heads/main" }))).toEqual(again);
  // The id of a delivery is not signed: a recorded post does not start again under another one.
  expect(await deliver(receiver, id, post("d2", { ref: "refs/heads/main" }))).toEqual(again);
  expect(await deliver(world.receiver(), id, post("d2", { ref: "refs/heads/other" }))).toEqual(again);
  expect(triggered).toHaveLength(1);
  const other = await deliver(receiver, id, post("d3", { ref: "refs/heads/other", n: 2 }));
  expect(other).toMatchObject({ is_repeated: false });
  expect(triggered).toHaveLength(2);
});

test("of the same delivery at several nodes at once one starts a run", async () => {
  await using world = await open();
  const results = await Promise.all(
    Array.from({ length: 5 }, () => deliver(world.receiver(), world.id, post("d1", { n: 1 }))),
  );
  expect(new Set(results.map((result) => result?.run_id)).size).toBe(1);
  expect(results.filter((result) => result?.is_repeated === false)).toHaveLength(1);
});

test("after a crash before or after the run was recorded the next attempt starts it once", async () => {
  await using world = await open();
  const fails = world.receiver({ trigger: () => Promise.reject(new Error("killed")) });
  await expect(deliver(fails, world.id, post("d1", { n: 1 }))).rejects.toThrow("killed");
  const unsettled = new HookReceiver({
    ...world,
    deliveries: {
      claim: (...given) => world.deliveries.claim(...given),
      settle: () => Promise.reject(new Error("killed")),
    },
  });
  await expect(deliver(unsettled, world.id, post("d1", { n: 1 }))).rejects.toThrow("killed");
  const settled = await deliver(world.receiver(), world.id, post("d1", { n: 1 }));
  expect(settled).toMatchObject({ is_repeated: true });
  const page = { beforeId: null, limit: 10, state: null };
  expect(await world.store.runs(world.id, page)).toHaveLength(1);
});

test("a wrong signature, a missing automation and another kind of trigger look the same", async () => {
  await using world = await open();
  const receiver = world.receiver();
  const request = post("d1", { n: 1 });
  expect(await receiver.verify(world.id, post("d1", { n: 1 }, "push", "another secret"))).toBeNull();
  expect(await receiver.verify("11111111-1111-4111-8111-111111111111", request)).toBeNull();
  const state = { isPaused: false, nextDueMs: null };
  const scheduled = await world.store.create("ada", samplePlan, state, secret);
  expect(await receiver.verify(scheduled.id, request)).toBeNull();
  expect(await receiver.verify(world.id, request)).not.toBeNull();
});

test("a secret that was replaced is accepted for a day", async () => {
  await using world = await open();
  await world.store.change(world.id, 1, { hookSecret: "the secret of tomorrow" });
  const receiver = world.receiver();
  const old = post("d1", { n: 1 });
  expect(await receiver.verify(world.id, old)).not.toBeNull();
  expect(await receiver.verify(world.id, post("d2", {}, "push", "the secret of tomorrow"))).not.toBeNull();
  world.wait(24 * 60 * 60 * 1_000);
  expect(await receiver.verify(world.id, old)).toBeNull();
});

test("what the filter refuses starts nothing and says why; nor does a ping", async () => {
  await using world = await open({ ...github, events: ["push"], branches: ["main"] });
  const receiver = world.receiver();
  const detailOf = async (event: string, body: object) =>
    (await deliver(receiver, world.id, post(crypto.randomUUID(), body, event)))?.detail;
  expect(await detailOf("issues", { action: "opened" })).toBe(
    "The event issues is not among the wanted ones.",
  );
  expect(await detailOf("push", { ref: "refs/heads/side" })).toBe("The branch is not wanted.");
  expect(await detailOf("ping", { zen: "Keep it logically awesome." })).toMatch(/ping/);
  expect(world.triggered).toEqual([]);
  expect(await detailOf("push", { ref: "refs/heads/main" })).toBeNull();
});
