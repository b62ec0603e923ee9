import { beforeAll, describe, expect, test } from "vitest";
import type { AutomationPlan } from "./automation.ts";
import { type AutomationStore } from "./automation-store.ts";
import { maxStoredRuns, type Decision, type NewRun } from "./decision.ts";

export const samplePlan: AutomationPlan = {
  name: "nightly",
  trigger: { kind: "interval", every_seconds: 60, starts_at: "2026-01-01T00:00:00.000Z" },
  prompt: "Look for broken links.",
  conversation: { tags: { team: "docs" } },
  approvals: { on_ask: "reject" },
  overlap: { mode: "skip" },
  catchUp: { max_runs: 1, max_age_seconds: 3600 },
};

const none: Decision = { runs: [], replaced: [], claimed: [], nextDueMs: null };

function newRun(dueKey: string, state: NewRun["state"] = "claimed"): NewRun {
  return { dueKey, origin: "schedule", state, dueAtMs: 5 };
}

/** What every store of automations must do; `open` opens the same tables once more. */
export function describeAutomationStore(name: string, open: () => Promise<AutomationStore>): void {
  describe(`automation store contract: ${name}`, () => {
    let one: AutomationStore;
    let other: AutomationStore;
    beforeAll(async () => {
      [one, other] = [await open(), await open()];
    });

    const create = async (owner: string, nextDueMs: number | null = 100, secret: string | null = null) =>
      await one.create(owner, samplePlan, { isPaused: false, nextDueMs }, secret);

    test("an automation comes back as it was created, and belongs to its owner's list", async () => {
      const made = await create("ada");
      expect(made).toMatchObject({ ...samplePlan, ownerId: "ada", version: 1, nextDueMs: 100 });
      expect(await other.find(made.id)).toEqual(made);
      const second = await create("ada");
      await create("bob");
      expect(await other.list("ada", { beforeId: null, limit: 10 })).toEqual([second, made]);
      expect(await other.list("ada", { beforeId: second.id, limit: 10 })).toEqual([made]);
      expect(await other.count("ada")).toBe(2);
      expect(await one.ofKind("interval")).toContainEqual(made);
      expect(await one.ofKind("event")).toEqual([]);
    });

    test("a change needs the version that was read, and leaves the rest", async () => {
      const made = await create("carl");
      const changed = await other.change(made.id, 1, {
        name: "weekly",
        isPaused: true,
        nextDueMs: null,
      });
      expect(changed).toMatchObject({ name: "weekly", prompt: made.prompt, version: 2, nextDueMs: null });
      expect(await one.change(made.id, 1, { name: "lost" })).toBeNull();
      expect(await one.find(made.id)).toEqual(changed);
      expect((await one.ofKind("interval")).map(({ id }) => id)).not.toContain(made.id);
    });

    test("a hook secret is stored apart from the automation, and can be removed", async () => {
      const { id, hasHookSecret } = await create("dora", null, "a secret of a sender");
      expect(hasHookSecret).toBe(true);
      expect(await other.hookSecrets(id)).toEqual(["a secret of a sender"]);
      expect(JSON.stringify(await other.find(id))).not.toContain("a secret of a sender");
      await one.change(id, 1, { hookSecret: "another secret of it" });
      expect(await other.hookSecrets(id)).toEqual(["another secret of it", "a secret of a sender"]);
      await one.change(id, 2, { hookSecret: null });
      expect(await other.hookSecrets(id)).toEqual([]);
    });

    test("due automations are found by their due time, the earliest first", async () => {
      const [late, early] = [await create("eve", -10), await create("eve", -20)];
      expect((await other.due(-10, 10)).map(({ id }) => id)).toEqual([early.id, late.id]);
      expect((await other.due(-11, 10)).map(({ id }) => id)).toEqual([early.id]);
      expect((await other.due(-10, 1)).map(({ id }) => id)).toEqual([early.id]);
      expect(await other.earliestDueMs()).toBe(-20);
      await one.delete(early.id);
      await one.delete(late.id);
      expect(await other.earliestDueMs()).toBe(100);
    });

    test("of nodes that record the same due time at the same moment one stores a run", async () => {
      const { id } = await create("finn");
      const attempt = async (store: AutomationStore, node: string) =>
        await store.record(id, node, ({ automation }) =>
          automation.nextDueMs === 100 ? { ...none, runs: [newRun("a")], nextDueMs: 160 } : null,
        );
      const results = await Promise.all(
        Array.from({ length: 6 }, (_, index) => attempt(index % 2 ? one : other, `node-${index}`)),
      );
      const recorded = results.filter((result) => result !== null);
      expect(recorded.map(({ runs }) => runs.length)).toEqual([1]);
      expect((await one.find(id))?.nextDueMs).toBe(160);
      const runs = await one.runs(id, { beforeId: null, limit: 10, state: null });
      expect(runs).toEqual(recorded[0]?.runs);
    });

    test("a run whose key exists is not stored again", async () => {
      const { id } = await create("gina");
      const first = await one.record(id, "n1", () => ({ ...none, runs: [newRun("a"), newRun("b")] }));
      const again = await other.record(id, "n2", () => ({ ...none, runs: [newRun("b"), newRun("c")] }));
      expect(again?.known).toEqual([first?.runs[1]]);
      expect(again?.runs.map(({ dueKey, nodeId }) => [dueKey, nodeId])).toEqual([["c", "n2"]]);
    });

    test("a decision sees the active runs, and changes queued and replaced ones", async () => {
      const { id } = await create("hal");
      const made = await one.record(id, "n1", () => ({
        ...none,
        runs: [newRun("a"), newRun("b", "queued"), newRun("c", "skipped")],
      }));
      const [a, b] = made!.runs;
      expect(made?.runs[2]).toMatchObject({ state: "skipped", conversationId: null });
      const next = await other.record(id, "n2", ({ active }) => {
        expect(active).toEqual([a, b]);
        return { ...none, replaced: [a!.id], claimed: [b!.id] };
      });
      expect(next?.runs).toEqual([{ ...b, state: "claimed", nodeId: "n2" }]);
      expect(await one.findRun(a!.id)).toMatchObject({ state: "replaced", endedAtMs: null });
      expect(await one.record(id, "n1", () => null)).toBeNull();
    });

    test("a run changes only from the states that are named", async () => {
      const { id } = await create("ivy");
      const [run] = (await one.record(id, "n1", () => ({ ...none, runs: [newRun("a")] })))!.runs;
      const started = { state: "started", startedAtMs: 7 } as const;
      expect(await other.changeRun(run!.id, ["queued"], started)).toBe(false);
      expect(await other.changeRun(run!.id, ["claimed"], started)).toBe(true);
      expect(await other.changeRun(run!.id, ["claimed"], started)).toBe(false);
      expect(await one.findRun(run!.id)).toEqual({ ...run, ...started });
      expect(await one.findRunOf(run!.conversationId!)).toEqual({ ...run, ...started });
      expect(await one.findRunOf("another conversation")).toBeNull();
      const inState = await one.runsIn("started", { afterId: null, limit: 100 });
      expect(inState.map((each) => each.id)).toContain(run!.id);
      expect(await one.runsIn("started", { afterId: run!.id, limit: 100 })).toEqual([]);
    });

    test("the newest run of several automations is read at once", async () => {
      const [lee, max, ned] = [await create("lee"), await create("max"), await create("ned")];
      const record = async (id: string, key: string) =>
        (await one.record(id, "n1", () => ({ ...none, runs: [newRun(key, "skipped")] })))!.runs[0]!;
      await record(lee.id, "a");
      const [last, only] = [await record(lee.id, "b"), await record(max.id, "a")];
      const found = await other.lastRuns([lee.id, max.id, ned.id]);
      expect(found).toEqual(
        new Map([
          [lee.id, last],
          [max.id, only],
        ]),
      );
      expect(await other.lastRuns([])).toEqual(new Map());
    });

    test("the history is bounded, and active runs stay", async () => {
      const { id } = await create("jan");
      const [first] = (await one.record(id, "n1", () => ({ ...none, runs: [newRun("first")] })))!.runs;
      const many = Array.from({ length: maxStoredRuns + 5 }, (_, index) => newRun(String(index), "skipped"));
      await one.record(id, "n1", () => ({ ...none, runs: many }));
      const skipped = await one.runs(id, { beforeId: null, limit: 2 * maxStoredRuns, state: "skipped" });
      expect(skipped).toHaveLength(maxStoredRuns);
      expect(await one.findRun(first!.id)).toEqual(first);
    });

    test("an automation is deleted with its runs", async () => {
      const { id } = await create("kim");
      const [run] = (await one.record(id, "n1", () => ({ ...none, runs: [newRun("a")] })))!.runs;
      expect(await other.delete(id)).toBe(true);
      expect(await other.delete(id)).toBe(false);
      expect(await one.find(id)).toBeNull();
      expect(await one.findRun(run!.id)).toBeNull();
      expect(await one.record(id, "n1", () => none)).toBeNull();
    });
  });
}
