import { readFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { clientVersion, readPaths, readSurface } from "./client-surface.ts";
import { renderClientTable, servedRoutes, withClientTable } from "./client-table.ts";
import { ClientWorld } from "./client-world.ts";
import { absentPaths, localClasses, refusedCalls } from "./refused-calls.ts";
import { scenarios } from "./scenarios.ts";

let world: ClientWorld;
beforeAll(async () => {
  world = await ClientWorld.open();
});
afterAll(() => world[Symbol.asyncDispose]());

test.each(Object.keys(scenarios))("the official client, unmodified: %s", async (name) => {
  await scenarios[name]!(world);
});

test("every public method of every class that asks a server has been called, and works or has a reason", () => {
  const found: Record<string, string> = {};
  const expected: Record<string, string> = {};
  const surface = readSurface(world.client);
  for (const [name, methods] of surface) {
    if (localClasses[name] !== undefined) continue;
    for (const key of methods.map((method) => `${name}.${method}`)) {
      const refusal = refusedCalls.get(key);
      const outcome = world.record.outcomes.get(key);
      expected[key] = refusal === undefined ? "works" : `refused with ${refusal.status}`;
      found[key] = outcome?.hasWorked === true ? "works" : `refused with ${outcome?.refusedWith}`;
    }
  }
  expect(found).toEqual(expected);
  expect(Object.keys(found).length).toBeGreaterThan(200);
  expect([...refusedCalls.keys()].filter((key) => found[key] === undefined)).toEqual([]);
  expect(Object.keys(localClasses).filter((name) => surface.get(name) === undefined)).toEqual([]);
});

test("every address in the client's code is served, or its absence is explained", () => {
  const served = new Set(servedRoutes.map(({ path }) => path.replaceAll(/\{\w+\}/g, "{}")));
  const patterns = Object.keys(absentPaths).map((text) => [text, toPattern(text)] as const);
  const missing = readPaths().filter((path) => !served.has(path));
  expect(missing.filter((path) => !patterns.some(([, pattern]) => pattern.test(path)))).toEqual([]);
  const unused = patterns.filter(([, pattern]) => !missing.some((path) => pattern.test(path)));
  expect(unused.map(([text]) => text)).toEqual([]);
  expect(readPaths().length).toBeGreaterThan(100);
});

test("docs/compatibility-tables.md says what the client gets; write-client-table.ts writes it", () => {
  const page = readFileSync(join(import.meta.dirname, "../..", "docs/compatibility-tables.md"), "utf8");
  const table = renderClientTable(readSurface(world.client), world.record.outcomes, readPaths());
  expect(page).toBe(withClientTable(page, table));
  expect(page).toContain(`@openhands/typescript-client\` ${clientVersion()}`);
});

function toPattern(text: string): RegExp {
  return new RegExp(`^${text.replaceAll("{}", "\\{\\}")}$`);
}
