import { expect, test } from "vitest";
import { promptSections } from "./sections.ts";
import { systemPromptEvent } from "./system-prompt.ts";

const context = {
  tools: [],
  workspaceDir: "/w",
  secrets: [{ name: "API_TOKEN", description: "for the shop", hosts: [] }],
  suffix: " Speak plainly. ",
  now: new Date("2026-01-31T12:00:00Z"),
};

const textsOf = (given: typeof context) => {
  const event = systemPromptEvent(given) as {
    system_prompt: { text: string };
    dynamic_context: { text: string };
  };
  return [event.system_prompt.text, event.dynamic_context.text] as const;
};

test("L21.15: the static part is the same in every conversation", () => {
  const other = { ...context, workspaceDir: "/other", secrets: [], suffix: "", now: new Date(0) };
  expect(textsOf(context)[0]).toBe(textsOf(other)[0]);
  expect(textsOf(context)[0]).toBe(promptSections.join("\n\n"));
});

test("the dynamic part has the workspace, the suffix, the names of secrets, and the date last", () => {
  const [, dynamic] = textsOf(context);
  expect(dynamic).toContain("/w");
  expect(dynamic).toContain("Speak plainly.");
  expect(dynamic).toContain("$API_TOKEN: for the shop");
  expect(dynamic.endsWith("<date>2026-01-31T12:00Z</date>")).toBe(true);
});

test("an agent with a system prompt of its own has it word for word, and the dynamic part behind it", () => {
  const event = systemPromptEvent({ ...context, replacement: "Only this." });
  expect(event).toMatchObject({
    system_prompt: { text: "Only this." },
    dynamic_context: { text: expect.stringContaining("/w") as string },
  });
});

test("L21.15: the static part names no date, no folder and no machine", () => {
  const [fixed] = textsOf(context);
  expect(fixed).not.toMatch(/\b20\d\d\b|\/(?:home|root|tmp|Users|w)\b/u);
  // Paid with every request that no cache answers.
  expect(fixed.length).toBeLessThan(9000);
});
