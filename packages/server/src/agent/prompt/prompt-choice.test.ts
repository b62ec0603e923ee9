import { expect, test } from "vitest";
import { startTestServer } from "../../testing/start-server.ts";
import { promptRefusal, staticPrompt } from "./prompt-choice.ts";
import { promptSections } from "./sections.ts";

test("the names of the built-in texts, and the values that reference clients send, select the built-in text", () => {
  const agent = {
    system_prompt_filename: "system_prompt.j2",
    security_policy_filename: "security_policy.j2",
    system_prompt_kwargs: { cli_mode: true, llm_security_analyzer: true },
  };
  expect(promptRefusal(agent)).toBeNull();
  expect(staticPrompt(agent)).toBe(promptSections.join("\n\n"));
});

test("an agent without a policy has no safety section; one with a soul is somebody else", () => {
  const agent = {
    security_policy_filename: "",
    system_prompt_kwargs: { soul_content: "You are a gardener." },
  };
  expect(promptRefusal(agent)).toBeNull();
  const text = staticPrompt(agent);
  expect(text).not.toContain("<safety>");
  expect(text.startsWith("<role>\nYou are a gardener.\n</role>\n\n<working>")).toBe(true);
});

test.each([
  ["system_prompt_filename", "/etc/passwd"],
  ["security_policy_filename", "own.j2"],
  ["system_prompt_kwargs.soul_content", { soul_content: 7 }],
])("P55: %s %j is refused", (field, value) => {
  expect(promptRefusal({ [field.split(".")[0]!]: value })).toMatchObject({ field });
});

test("P55: a conversation with a template of its own is a 422 that names the field", async () => {
  await using server = await startTestServer({});
  const body = {
    agent: { llm: { model: "openai/scripted" }, tools: [], system_prompt_filename: "mine.j2" },
    workspace: { working_dir: server.workspaceDir },
  };
  const reply = await server.call("POST", "/api/conversations", body);
  expect(reply.status).toBe(422);
  expect(reply.text).toContain("system_prompt_filename");
});
