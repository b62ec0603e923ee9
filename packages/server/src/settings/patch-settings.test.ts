import { assert, constantFrom, dictionary, integer, option, property, record, string } from "fast-check";
import { expect, test } from "vitest";
import { requireAgentProfile, saveAgentProfile, withActiveAgentProfile } from "./agent-profiles.ts";
import { resolveAgentProfile } from "./resolve-agent-profile.ts";
import { addServer, patchServer, patchSettings, removeServer } from "./patch-settings.ts";
import { saveProfile } from "./profiles.ts";
import { secretMask } from "./secret-fields.ts";
import { toSettings } from "./settings-views.ts";
import { defaultSettings } from "./stored-settings.ts";

const start = saveProfile(
  patchSettings(defaultSettings, {
    agent_settings_diff: {
      llm: { model: "openai/m", api_key: "canary-key", temperature: 0.5 },
      mcp_config: { docs: { url: "https://mcp.example", env: { A: "canary-env" } } },
    },
  }),
  "other",
  { llm: { model: "openai/other", api_key: "canary-other" } },
);

test("P33: what is read and sent back changes nothing, masks and all", () => {
  const { agent_settings: agent, conversation_settings: conversation } = toSettings(start);
  const patch = { agent_settings_diff: agent, conversation_settings_diff: conversation };
  expect(patchSettings(start, patch)).toEqual(start);
});

test("newer clients take no null for an agent's name or a condenser's size: what is not set is left out", () => {
  const { agent_settings: agent } = toSettings(defaultSettings);
  expect(agent).not.toHaveProperty("agent");
  expect(agent).toMatchObject({ condenser: { enabled: true } });
  expect(agent?.["condenser"]).not.toHaveProperty("max_size");
  const set = patchSettings(start, { agent_settings_diff: { agent: "Mine", condenser: { max_size: 30 } } });
  expect(toSettings(set).agent_settings).toMatchObject({ agent: "Mine", condenser: { max_size: 30 } });
});

test("P33: any sequence of patches changes only what it names, and never stores a mask", () => {
  const patch = record(
    {
      llm: record(
        {
          temperature: option(integer({ min: 0, max: 2 })),
          api_key: constantFrom("new-key", secretMask),
          seed: integer(),
        },
        { requiredKeys: [] },
      ),
      enable_sub_agents: constantFrom(true, false),
    },
    { requiredKeys: [] },
  );
  const misc = dictionary(string({ minLength: 1, maxLength: 5 }), integer(), { maxKeys: 3 });
  assert(
    property(patch, misc, (agent, extra) => {
      const after = patchSettings(start, { agent_settings_diff: agent, misc_settings_diff: extra });
      const { api_key: key } = agent.llm ?? {};
      expect(after.llm["api_key"]).toBe(key === "new-key" ? "new-key" : "canary-key");
      expect(after.mcpServers).toEqual(start.mcpServers);
      expect(after.profiles).toEqual(start.profiles);
      expect(JSON.stringify(after)).not.toContain(secretMask);
      for (const [name, value] of Object.entries(extra)) expect(after.misc[name]).toBe(value);
    }),
    { numRuns: 100 },
  );
});

test("a key is only removed explicitly: by null in a patch", () => {
  const removed = patchSettings(start, { agent_settings_diff: { llm: { api_key: null } } });
  expect(removed.llm).toEqual({ model: "openai/m", temperature: 0.5 });
  expect(patchSettings(start, { agent_settings_diff: { llm: null } }).llm).toEqual({});
});

test("naming a stored model takes it over, unless the patch has a model of its own", () => {
  const taken = patchSettings(start, { active_profile: "other" });
  expect(taken).toMatchObject({
    activeProfile: "other",
    llm: { model: "openai/other", api_key: "canary-other" },
  });
  const own = patchSettings(start, { active_profile: "other", agent_settings_diff: { llm: { seed: 1 } } });
  expect(own).toMatchObject({ activeProfile: "other", llm: { model: "openai/m", seed: 1 } });
  expect(() => patchSettings(start, { active_profile: "nobody" })).toThrow(/no profile/);
  expect(() => patchSettings(start, { active_agent_profile_id: "nobody" })).toThrow(/no agent profile/);
});

test("one MCP server is added, changed and removed beside the others", () => {
  const added = addServer(start, "files", { command: "files", env: { K: "canary" } });
  expect(() => addServer(added, "files", { command: "x" })).toThrow(/already/);
  const patched = patchServer(added, "files", { env: { L: "2" }, args: ["a"] });
  expect(patched.mcpServers?.["files"]).toMatchObject({ args: ["a"], env: { K: "canary", L: "2" } });
  expect(patchServer(patched, "files", { env: { K: null } }).mcpServers?.["files"]).toMatchObject({
    env: { L: "2" },
  });
  expect(removeServer(patched, "files").mcpServers).toEqual(start.mcpServers);
});

test("P55: every field of an agent profile comes back, and its id outlives edits", () => {
  const given = {
    agent_kind: "openhands" as const,
    llm_profile_ref: "other",
    mcp_server_refs: ["docs"],
    disabled_skills: ["a"],
    system_message_suffix: "x",
    condenser: { max_size: 30 },
    verification: { critic_enabled: false },
    enable_sub_agents: true,
    tool_concurrency_limit: 3,
  };
  const first = saveAgentProfile(start, "p", given);
  expect(first.agentProfiles["p"]).toMatchObject({ ...given, name: "p", revision: 0 });
  const second = saveAgentProfile(first, "p", { agent_kind: "openhands", llm_profile_ref: "other" });
  expect(second.agentProfiles["p"]).toMatchObject({ id: first.agentProfiles["p"]!["id"], revision: 1 });
});

test("changing_the_model_in_settings_keeps_the_active_profile; removing the model does not", () => {
  const active = patchSettings(start, { active_profile: "other" });
  const changed = patchSettings(active, { agent_settings_diff: { llm: { temperature: 0.1 } } });
  expect(changed).toMatchObject({ activeProfile: "other", llm: { temperature: 0.1 } });
  expect(patchSettings(active, { agent_settings_diff: { llm: null } }).activeProfile).toBeNull();
});

test("an_agent_profile_is_one_for_the_sdk: what says nothing is left out, and a profile of before is shown as one of now", () => {
  const nulls = { condenser: null, verification: null, secret_refs: null, enable_sub_agents: false };
  const saved = saveAgentProfile(start, "p", { agent_kind: "openhands", llm_profile_ref: "other", ...nulls });
  for (const field of Object.keys(nulls)) expect(saved.agentProfiles["p"]).not.toHaveProperty(field);
  const old = { ...saved.agentProfiles["p"], ...nulls, llm_profile_ref: null };
  const shown = requireAgentProfile({ ...saved, agentProfiles: { p: old } }, "p");
  for (const field of Object.keys(nulls)) expect(shown).not.toHaveProperty(field);
  expect(shown).toMatchObject({ llm_profile_ref: "default" });
});

test("the first agent profile is made of the settings, and one is active always", () => {
  const changed = patchSettings(start, {
    active_profile: "other",
    agent_settings_diff: {
      agent_context: { system_message_suffix: "Be brief." },
      tools: [{ name: "terminal" }],
    },
  });
  const seeded = withActiveAgentProfile(changed);
  const first = seeded.agentProfiles["default"]!;
  expect(first).toMatchObject({
    llm_profile_ref: "other",
    system_message_suffix: "Be brief.",
    tools: [{ name: "terminal" }],
    revision: 0,
  });
  expect(seeded.activeAgentProfileId).toBe(first["id"]);
  const two = saveAgentProfile(seeded, "p", { agent_kind: "openhands", llm_profile_ref: "other" });
  const left = withActiveAgentProfile({ ...two, activeAgentProfileId: "gone" });
  expect(left.activeAgentProfileId).toBe(first["id"]);
  // Nothing is stored under the name: the reference means the model of the settings, whatever becomes of it.
  const own = withActiveAgentProfile(start);
  const resolved = resolveAgentProfile(own, own.agentProfiles["default"]!);
  expect(resolved).toMatchObject({ ok: true, settings: { llm: start.llm } });
});
