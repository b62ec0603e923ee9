import { expect, test } from "vitest";
import { actionSchemaByKind } from "./actions/action.ts";
import { extensionActionSchemaByKind } from "./extensions/extension-actions.ts";
import { toParameters } from "./parameters.ts";

const kinds = [...Object.keys(actionSchemaByKind), ...Object.keys(extensionActionSchemaByKind)];
const keywords = new Set(["type", "description", "properties", "required", "items", "enum"]);

test.each(kinds)("%s: the model sees plain schemas, without kind, choices or references", (kind) => {
  const parameters = toParameters(kind);
  expect(Object.keys(parameters.properties as object)).not.toContain("kind");
  expect(strangeKeywords(parameters)).toEqual([]);
});

test.each([
  "TerminalAction",
  "FileEditorAction",
  "GlobAction",
  "GrepAction",
  "TaskTrackerAction",
  "ThinkAction",
])("%s: every argument is explained", (kind) => {
  const properties = Object.values(toParameters(kind).properties as Record<string, { description?: string }>);
  for (const property of properties) expect(property.description).toMatch(/^.{10,}\.$|^[^.]+$/);
});

test("nullable arguments are described by what they are otherwise, lists of objects in place", () => {
  expect(toParameters("TerminalAction")).toMatchObject({
    type: "object",
    properties: {
      command: { type: "string" },
      is_input: { type: "boolean" },
      timeout: { type: "number" },
      reset: { type: "boolean" },
    },
    required: ["command"],
  });
  expect(toParameters("TaskTrackerAction")).toMatchObject({
    properties: {
      command: { type: "string", enum: ["view", "plan"] },
      task_list: {
        type: "array",
        items: {
          type: "object",
          properties: {
            title: { type: "string" },
            notes: { type: "string" },
            status: { enum: expect.anything() },
          },
          required: ["title"],
        },
      },
    },
  });
  expect(toParameters("TaskTrackerAction")).not.toHaveProperty("required");
});

test("a kind that is no action is refused", () => {
  expect(() => toParameters("toString")).toThrow('There is no action kind "toString".');
});

function strangeKeywords(schema: Record<string, unknown>): string[] {
  const parts = [
    ...Object.values((schema["properties"] ?? {}) as Record<string, Record<string, unknown>>),
    ...(schema["items"] === undefined ? [] : [schema["items"] as Record<string, unknown>]),
  ];
  return [
    ...Object.keys(schema).filter((keyword) => !keywords.has(keyword)),
    ...parts.flatMap(strangeKeywords),
  ];
}
