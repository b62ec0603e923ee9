import { openTemporaryDirectory } from "@convoke/tool-host/testing";
import { expect, test } from "vitest";
import { createSecretBox } from "../security/seal.ts";
import type { Caller } from "../security/caller.ts";
import { openTestDatabase } from "../testing/test-database.ts";
import { saveAgentProfile } from "./agent-profiles.ts";
import { originOf, ProfileHistory } from "./profile-history.ts";
import { deleteProfile, renameProfile, saveProfile } from "./profiles.ts";
import { maxRevisions } from "./revision-store.ts";
import { SettingsStore } from "./settings-store.ts";
import { completeSettings, type JsonObject, type StoredSettings } from "./stored-settings.ts";

const ada: Caller = { userId: "ada", keyId: "k1" };
const fast = { userId: "ada", kind: "model", name: "fast" } as const;
const model = { kind: "model", name: "fast" } as const;

async function openWorld() {
  await using scope = new AsyncDisposableStack();
  const folder = scope.use(await openTemporaryDirectory());
  const database = scope.use(await openTestDatabase(folder.path));
  const secretBox = createSecretBox(Buffer.alloc(32, 1));
  let nowMs = 1_000;
  const clock = { nowMs: () => (nowMs += 1_000) };
  const settings = new SettingsStore({ database, secretBox, clock });
  const history = new ProfileHistory({ settings, database, clock });
  const change = (apply: (stored: StoredSettings) => StoredSettings) =>
    settings.change("ada", apply, originOf(ada));
  const save = (llm: JsonObject) => change((stored) => saveProfile(stored, "fast", { llm }));
  /** Stored as a release without revisions did. */
  const storeEarlier = async (earlier: Partial<StoredSettings>) => {
    const sealed = secretBox.seal(JSON.stringify(completeSettings(earlier)));
    await database.tables
      .insertInto("settings")
      .values({ user_id: "ada", version: 4, sealed_document: sealed, updated_at: 1 })
      .execute();
  };
  const owned = scope.move();
  return {
    database,
    settings,
    history,
    change,
    save,
    storeEarlier,
    use: async (number: number | null) =>
      (await history.use("ada", await settings.load("ada"), model, number, ["body"])).used,
    [Symbol.asyncDispose]: () => owned.disposeAsync(),
  };
}

test("P34: each change of a model makes a revision; saving the same again makes none", async () => {
  await using world = await openWorld();
  await world.save({ model: "openai/a", api_key: "canary-1" });
  await world.save({ model: "openai/a", api_key: "canary-1" });
  await world.save({ model: "openai/b", api_key: "canary-2", temperature: 1 });
  const { items, next_page_id: next } = await world.history.list(fast, 10, null);
  expect(items).toMatchObject([
    { number: 2, name: "fast", change: "saved", is_current: true, is_pinned: false },
    { number: 1, change: "saved", is_current: false, created_by: { user_id: "ada", key_id: "k1" } },
  ]);
  expect(next).toBeNull();
  expect(await world.history.get(fast, 1)).toMatchObject({
    content: { model: "openai/a", api_key: "**********" },
  });
  const compared = await world.history.compare(fast, 1, 2);
  expect(compared.differences).toEqual([
    { path: ["api_key"], change: "changed", is_secret: true },
    { path: ["model"], change: "changed", is_secret: false, from: "openai/a", to: "openai/b" },
    { path: ["temperature"], change: "added", is_secret: false, to: 1 },
  ]);
  expect(JSON.stringify([items, compared])).not.toContain("canary");
  const rows = await world.database.tables.selectFrom("profile_revisions").selectAll().execute();
  expect(JSON.stringify(rows)).not.toContain("canary");
});

test("the digest is that of the content without its secrets", async () => {
  await using world = await openWorld();
  await world.save({ model: "openai/a", api_key: "one" });
  await world.save({ model: "openai/a", api_key: "two" });
  const { items } = await world.history.list(fast, 10, null);
  expect(items.map(({ number }) => number)).toEqual([2, 1]);
  expect(items[0]!.digest).toBe(items[1]!.digest);
});

test("pages hold the newest first, and end", async () => {
  await using world = await openWorld();
  for (const name of ["a", "b", "c"]) await world.save({ model: `openai/${name}` });
  const first = await world.history.list(fast, 2, null);
  expect(first.items.map(({ number }) => number)).toEqual([3, 2]);
  const second = await world.history.list(fast, 2, Number(first.next_page_id));
  expect(second.items.map(({ number }) => number)).toEqual([1]);
  expect(second.next_page_id).toBeNull();
});

test("restoring an old revision is a new one, with the secrets of then", async () => {
  await using world = await openWorld();
  await world.save({ model: "openai/a", api_key: "one" });
  await world.save({ model: "openai/b", api_key: "two" });
  const restored = await world.history.restore(ada, "model", "fast", 1);
  expect(restored).toMatchObject({ number: 3, change: "restored", restored_from: 1, is_current: true });
  const { settings } = await world.settings.load("ada");
  expect(settings.profiles["fast"]).toEqual({ model: "openai/a", api_key: "one" });
  expect(await world.history.restore(ada, "model", "fast", 3)).toMatchObject({ number: 3 });
  await expect(world.history.restore(ada, "model", "fast", 9)).rejects.toMatchObject({
    code: "revision_not_found",
  });
});

test("a profile from before there were revisions is revision 1, whether it is read, used or changed first", async () => {
  for (const first of ["read", "use", "change"]) {
    await using world = await openWorld();
    await world.storeEarlier({ profiles: { fast: { model: "openai/a" } } });
    if (first === "read")
      expect(await world.history.list(fast, 9, null)).toMatchObject({
        items: [{ number: 1, change: "found" }],
      });
    if (first === "use") expect(await world.use(null)).toMatchObject({ revision: 1, is_pinned: false });
    await world.save({ model: "openai/b" });
    const { items } = await world.history.list(fast, 9, null);
    expect(items, first).toMatchObject([
      { number: 2, change: "saved" },
      { number: 1, change: "found", created_by: null },
    ]);
  }
});

test("what an older node has stored meanwhile is a revision too", async () => {
  await using world = await openWorld();
  await world.save({ model: "openai/a" });
  const { version, settings } = await world.settings.load("ada");
  await world.database.tables.deleteFrom("settings").execute();
  await world.storeEarlier({ ...settings, profiles: { fast: { model: "openai/older" } } });
  expect(version).toBe(1);
  expect(await world.use(null)).toMatchObject({ revision: 2 });
  await world.save({ model: "openai/c" });
  const { items } = await world.history.list(fast, 9, null);
  expect(items.map(({ number, change }) => [number, change])).toEqual([
    [3, "saved"],
    [2, "found"],
    [1, "saved"],
  ]);
});

test("the revisions follow a renamed model, and the old name begins with 1 again", async () => {
  await using world = await openWorld();
  await world.save({ model: "openai/a" });
  await world.change((stored) => renameProfile(stored, "fast", "quick"));
  await world.save({ model: "openai/new" });
  const quick = await world.history.list({ ...fast, name: "quick" }, 9, null);
  expect(quick.items).toMatchObject([
    { number: 2, name: "quick", change: "renamed" },
    { number: 1, name: "fast", change: "saved" },
  ]);
  expect(await world.history.list(fast, 9, null)).toMatchObject({ items: [{ number: 1, name: "fast" }] });
});

test("an agent profile has the numbers that clients know it by", async () => {
  await using world = await openWorld();
  const agent = { userId: "ada", kind: "agent", name: "coder" } as const;
  const save = (suffix: string) =>
    world.change((stored) =>
      saveAgentProfile(stored, "coder", {
        agent_kind: "openhands",
        llm_profile_ref: "fast",
        system_message_suffix: suffix,
      }),
    );
  await save("one");
  await save("two");
  const { items } = await world.history.list(agent, 9, null);
  expect(items.map(({ number }) => number)).toEqual([1, 0]);
  expect((await world.history.compare(agent, 0, 1)).differences).toContainEqual({
    path: ["system_message_suffix"],
    change: "changed",
    is_secret: false,
    from: "one",
    to: "two",
  });
  expect(await world.history.restore(ada, "agent", "coder", 0)).toMatchObject({
    number: 2,
    restored_from: 0,
  });
  const { settings } = await world.settings.load("ada");
  expect(settings.agentProfiles["coder"]).toMatchObject({ system_message_suffix: "one", revision: 2 });
});

test("only so many revisions stay, and those that conversations name", async () => {
  await using world = await openWorld();
  await world.save({ model: "openai/0" });
  const used = await world.use(1);
  expect(used).toMatchObject({ revision: 1, is_pinned: true });
  await world.history.pin("ada", "c1", "model", used);
  for (let count = 1; count <= maxRevisions + 1; count++) await world.save({ model: `openai/${count}` });
  const numbers = async (): Promise<number[]> =>
    (await world.history.list(fast, 1_000, null)).items.map(({ number }) => number).toReversed();
  expect((await numbers()).slice(0, 2)).toEqual([1, 3]);
  expect(await numbers()).toHaveLength(maxRevisions + 1);
  await world.history.copyPins("ada", "c1", "fork");
  await world.history.unpin("ada", "c1", null);
  await world.save({ model: "openai/once-more" });
  expect((await numbers())[0]).toBe(1);
  await world.history.unpin("ada", "fork", null);
  await world.save({ model: "openai/the-last" });
  expect(await numbers()).toHaveLength(maxRevisions);
});

test("the history of a deleted model is gone, except for what a conversation names", async () => {
  await using world = await openWorld();
  await world.save({ model: "openai/a" });
  await world.save({ model: "openai/b" });
  await world.history.pin("ada", "c1", "model", await world.use(1));
  await world.change((stored) => deleteProfile(stored, "fast"));
  const { items } = await world.history.list(fast, 9, null);
  expect(items).toMatchObject([{ number: 1, is_current: false, is_pinned: true }]);
  await expect(world.history.restore(ada, "model", "fast", 1)).rejects.toMatchObject({
    code: "profile_not_found",
  });
  await world.save({ model: "openai/c" });
  expect(await world.history.list(fast, 9, null)).toMatchObject({ items: [{ number: 1, is_pinned: false }] });
});

test("two servers that change a profile at once number their revisions one after the other", async () => {
  await using world = await openWorld();
  await Promise.all([1, 2, 3, 4].map((count) => world.save({ model: `openai/${count}` })));
  const { items } = await world.history.list(fast, 9, null);
  expect(items.map(({ number }) => number)).toEqual([4, 3, 2, 1]);
});
