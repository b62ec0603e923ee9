import type { SettingsFieldSchema } from "@convoke/protocol";
import { expect, test } from "vitest";
import { changeOf, drawnSections, translated, valueAt } from "./schema-values.ts";

const field = (key: string, more: Partial<SettingsFieldSchema> = {}): SettingsFieldSchema => ({
  key,
  label: key,
  section: "general",
  section_label: "General",
  value_type: "boolean",
  prominence: "minor",
  depends_on: [],
  secret: false,
  choices: [],
  ...more,
});

test("U19: what has a page of its own, secrets and lists are no fields of a drawn form", () => {
  const section = (key: string, ...fields: SettingsFieldSchema[]) => ({ key, label: key, fields });
  const schema = {
    model_name: "AgentSettings",
    sections: [
      section("general", field("a"), field("tools", { value_type: "array" }), field("key", { secret: true })),
      section("llm", field("llm.model", { value_type: "string" })),
      section("verification", field("verification.critic_enabled"), field("confirmation_mode")),
      section("mcp", field("mcp_config", { value_type: "object" })),
    ],
  };
  expect(drawnSections(schema).map(({ key, fields }) => [key, fields.map((one) => one.key)])).toEqual([
    ["general", ["a"]],
    ["verification", ["confirmation_mode"]],
  ]);
});

test("a field says what is stored, else what is usual, and a change names it alone", () => {
  const size = field("condenser.max_size", { value_type: "integer", default: 80 });
  expect(valueAt({ condenser: { max_size: 12 } }, size)).toBe(12);
  expect(valueAt({ condenser: { max_size: null } }, size)).toBe(80);
  expect(valueAt({}, field("x"))).toBeNull();
  expect(changeOf(size, 40)).toEqual({ condenser: { max_size: 40 } });
  expect(changeOf(field("confirmation_mode"), true)).toEqual({ confirmation_mode: true });
});

test("issue 26: labels of a form are translated by key, and one without a translation stays", () => {
  const choices = [
    { value: "llm", label: "The model" },
    { value: "new", label: "New" },
  ];
  const who = field("who", { choices });
  const shown = translated(who, { who: "Wer", "who=llm": "Das Modell" });
  expect([shown.label, ...shown.choices.map(({ label }) => label)]).toEqual(["Wer", "Das Modell", "New"]);
  expect(translated(who, {})).toEqual(who);
});
