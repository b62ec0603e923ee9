import { readFileSync } from "node:fs";
import { expect, test } from "vitest";
import { agentServerInterface } from "./openapi-documents.ts";
import { writeOpenApi } from "./openapi.ts";
import { agentServerRoutes } from "./routes/agent-server-routes.ts";
import { contractSchemas } from "./schemas.ts";
import { allowedDifferences } from "./testing/allowed-differences.ts";
import { type Facts, type OpenApiFacts, readFacts } from "./testing/openapi-facts.ts";

const golden = JSON.parse(readText("./golden/agent-server-0.1.0.facts.json")) as OpenApiFacts;
const ours = readFacts(
  writeOpenApi(Object.values(agentServerRoutes), {
    ...agentServerInterface,
    schemas: [...contractSchemas.keys()],
  }),
);

test("every schema of agent server 0.1.0 is a schema of ours", () => {
  expect(Object.keys(golden.schemas)).toHaveLength(221);
  expect([...contractSchemas.keys()].sort()).toEqual(Object.keys(golden.schemas).sort());
});

test("P57: nothing differs from agent server 0.1.0 but what is allowed with a reason", () => {
  const differences = [
    ...differencesOf(golden.schemas, ours.schemas),
    ...differencesOf(golden.operations, ours.operations),
  ];
  const allowed = allowedDifferences.flatMap(({ where, what }) => what.map((part) => `${where} ${part}`));
  expect(differences.sort()).toEqual(allowed.sort());
});

test("the allowed differences are those that the documentation lists", () => {
  const text = readText("../../../docs/compatibility-tables.md");
  const [, section] = /^## Differences from agent server 0\.1\.0$([^]*?)^## /m.exec(text) ?? [];
  const rows = section!
    .split("\n")
    .filter((line) => line.startsWith("| `"))
    .map((line) => {
      const [, where, what, reason] = line.split("|").map((cell) => cell.trim().replaceAll("`", ""));
      return { where, what: what?.split(", "), reason };
    });
  const expected = allowedDifferences.map((row) => ({ ...row, reason: row.reason.replaceAll("`", "") }));
  expect(rows).toEqual(expected);
});

test("the comparison sees a change of a type, a default, a bound, an enum, a required field and a closed object", () => {
  const change = (component: string, property: string, schema: object) => {
    const document = { components: { schemas: { [component]: { type: "object", ...schema } } }, paths: {} };
    const changed = readFacts(document).schemas[component]!;
    return golden.schemas[component]![property] === changed[property];
  };
  const text = (schema: object, required: string[] = []) => ({ properties: { text: schema }, required });
  expect(change("TextContent", "text", text({ type: "string" }, ["text"]))).toBe(true);
  expect(change("TextContent", "text", text({ type: "string" }))).toBe(false);
  expect(change("TextContent", "text", text({ type: "integer" }, ["text"]))).toBe(false);
  expect(change("TextContent", "text", text({ type: "string", maxLength: 9 }, ["text"]))).toBe(false);
  expect(change("TextContent", "text", text({ type: "string", default: "" }, ["text"]))).toBe(false);
  expect(change("TextContent", "text", text({ type: "string", enum: ["a"] }, ["text"]))).toBe(false);
  expect(change("TextContent", "(form)", { additionalProperties: false })).toBe(true);
  expect(change("TextContent", "(form)", {})).toBe(false);
});

function differencesOf(theirs: Record<string, Facts>, own: Record<string, Facts>): string[] {
  const names = [...new Set([...Object.keys(theirs), ...Object.keys(own)])];
  return names.flatMap((name) => {
    const [before, after] = [theirs[name], own[name]];
    if (before === undefined) return [`${name} (added)`];
    if (after === undefined) return [`${name} (absent)`];
    const parts = [...new Set([...Object.keys(before), ...Object.keys(after)])];
    return parts.filter((part) => before[part] !== after[part]).map((part) => `${name} ${part}`);
  });
}

function readText(file: string): string {
  return readFileSync(new URL(file, import.meta.url), "utf8");
}
