import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { Event, ToolDefinition } from "@convoke/protocol";
import { compileForeignSchema, createValidator } from "@convoke/protocol/validate";
import { findChromium } from "@convoke/tool-host";
import { expect, test } from "vitest";
import { contractKinds, definitionsIn, families, foundKinds } from "./found-kinds.ts";
import { renderKindsTable, withKindsTable } from "./kinds-table.ts";
import { playEveryKind } from "./play-every-kind.ts";

const facts = join(import.meta.dirname, "../../../..", "protocol/src/golden/agent-server-0.1.0.facts.json");
const { schemas } = JSON.parse(readFileSync(facts, "utf8")) as {
  schemas: Record<string, Record<string, string>>;
};
const contract = contractKinds(schemas);
const validator = createValidator();

const isBrowsers = (kind: string): boolean => kind.startsWith("Browser");

test("the contract has 14 kinds of events, 28 of actions, 14 of observations and 28 of tools", () => {
  expect(families.map((family) => contract[family].size)).toEqual([14, 28, 14, 28]);
  expect(Object.keys(schemas["BrowserAction"]!)).toEqual(["(form)", "kind"]);
});

test("P57: every kind of the contract that needs no browser is in one log, as the contract types it", async () => {
  const log = await playEveryKind({ withBrowser: false });
  expect(faultsOf(log)).toEqual([]);
  const found = foundKinds(log);
  for (const family of families) {
    const wanted = [...contract[family]].filter((kind) => !isBrowsers(kind));
    expect([...found[family]].toSorted()).toEqual(wanted.toSorted());
  }
});

const chromium = findChromium(process.env);

test.skipIf(chromium === null)(
  "P57: needs Chromium: every kind of the contract is in one log, and docs/compatibility-tables.md has the table; CONVOKE_WRITE_TABLES=1 writes it",
  async () => {
    const log = await playEveryKind({ withBrowser: true });
    expect(faultsOf(log)).toEqual([]);
    const found = foundKinds(log);
    const missing = families.flatMap((family) =>
      [...contract[family]].filter((kind) => !found[family].has(kind)),
    );
    expect(missing).toEqual([]);
    for (const family of families)
      expect([...found[family]].filter((kind) => !contract[family].has(kind))).toEqual([]);
    // Everything in the browser succeeded: no kind occurs only because of an error.
    expect(log.filter((event) => event.kind === "ObservationEvent" && event.observation.is_error)).toEqual(
      [],
    );
    const place = join(import.meta.dirname, "../../../../..", "docs/compatibility-tables.md");
    const page = readFileSync(place, "utf8");
    const written = withKindsTable(page, renderKindsTable(log, found, contract));
    if (process.env["CONVOKE_WRITE_TABLES"] === "1") writeFileSync(place, written);
    else expect(page).toBe(written);
  },
);

/**
 * Deviations of a log from the contract. Our schemas of these components are those of agent server 0.1.0, which a test of the protocol
 * compares. With its document in CONVOKE_CONTRACT_DOCUMENT, the log is checked against that too.
 */
function faultsOf(log: readonly Event[]): unknown[] {
  const definitions = definitionsIn(log);
  const own = [
    ...log.map((event) => validator.check(Event, structuredClone(event))),
    ...definitions.map((definition) => validator.check(ToolDefinition, structuredClone(definition))),
  ].flatMap((checked) => (checked.ok ? [] : checked.errors));
  const path = process.env["CONVOKE_CONTRACT_DOCUMENT"];
  if (path === undefined) return own;
  const { components } = JSON.parse(readFileSync(path, "utf8")) as { components: object };
  const check = (component: string) =>
    compileForeignSchema({ components, $ref: `#/components/schemas/${component}` });
  const [checkEvent, checkDefinition] = [check("Event"), check("ToolDefinition")];
  // A document that was not understood would find no deviations.
  if (checkEvent({ ...log[0], extra: 1 }).length === 0) throw new Error(`${path} does not refuse a field.`);
  return [
    ...own,
    ...log.flatMap((event) => checkEvent(event)),
    ...definitions.flatMap((definition) => checkDefinition(definition)),
  ];
}
