import { expect, test } from "vitest";
import { openGatedConversation } from "../../testing/gated-conversation.ts";

test("P34: each run records the version of the settings that it works with", async () => {
  await using world = await openGatedConversation({ settings_version: 7 });
  const runs = world.metas().flatMap(({ run }) => (run === undefined ? [] : [run]));
  expect(runs).toEqual([{ approved: [], settingsVersion: 7 }]);
});

test("P34: each run records the revisions of the profiles that it works with,", async () => {
  const model = { id: "m", name: "fast", revision: 3, digest: "d", is_pinned: true };
  const used = { settings_version: 7, agent_profile: null, model_profile: model };
  await using world = await openGatedConversation({ settings_version: 7, settings_used: used });
  const runs = world.metas().flatMap(({ run }) => (run === undefined ? [] : [run]));
  expect(runs).toEqual([{ approved: [], settingsVersion: 7, settingsUsed: used }]);
});

test("P36: the version in full_state frames is the place in the log, so it never goes backwards", async () => {
  await using world = await openGatedConversation();
  const { conversation } = world;
  const versionOf = (): number =>
    (JSON.parse(conversation.published.fullFrame()) as { value: { version: number } }).value.version;
  const before = versionOf();
  expect(before).toBe(conversation.state.lastSeq);
  await conversation.titling.set("new");
  expect(versionOf()).toBe(before + 1);
});
