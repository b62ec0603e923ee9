import { mkdirSync, mkdtempDisposableSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { expect, test } from "vitest";
import { checkLayers } from "./check-layers.ts";
import { type LayerTable, layerRules, layerTable } from "./layer-table.ts";

type Tree = Readonly<Record<string, string>>;

/** Package manifests and files that a lawful tree has, so that planted imports have something to point at. */
const lawful: Tree = {
  ...manifest("protocol", { ".": "./src/index.ts", "./validate": "./src/validate.ts" }),
  ...manifest("client", { ".": "./src/index.ts" }),
  ...manifest("tool-host", { ".": "./src/index.ts" }),
  ...manifest("server", { ".": "./src/index.ts", "./testing": "./src/testing/index.ts" }),
  ...manifest("cli", { ".": "./src/index.ts" }),
  "packages/protocol/src/index.ts": `export * from "./event.ts";`,
  "packages/protocol/src/event.ts": `import { Type } from "typebox";`,
  "packages/protocol/src/validate.ts": `import { Ajv } from "ajv";`,
  "packages/protocol/src/event.test.ts": `import { readFileSync } from "node:fs"; import { event } from "./index.ts";`,
  "packages/protocol/scripts/write.ts": `import { event } from "../src/event.ts"; import fs from "node:fs"; process.env.CI;`,
  "packages/client/src/index.ts": `import { event } from "@convoke/protocol";`,
  "packages/tool-host/src/index.ts": `import { event } from "@convoke/protocol/validate"; import fs from "node:fs";`,
  "packages/server/src/index.ts": `export * from "./faces/agent-server/events/routes.ts"; export { config } from "./boot/config.ts";`,
  "packages/server/src/boot/config.ts": `export const config = process.env;`,
  "packages/server/src/keys.ts": `import "./boot/config.ts";`,
  "packages/server/src/lib/fault.ts": `export class Fault {}`,
  "packages/server/src/lib/ids.ts": `import { Fault } from "./fault.ts";`,
  "packages/server/src/models/model.ts": `import type { Fault } from "../lib/fault.ts";`,
  "packages/server/src/security/policy.ts": `import type { Fault } from "../lib/fault.ts";`,
  "packages/server/src/journal/journal.ts": `import type { Fault } from "../lib/fault.ts"; new URL("./worker.ts", import.meta.url);`,
  "packages/server/src/journal/worker.ts": `import { Fault } from "../lib/fault.ts";`,
  "packages/server/src/journal/contract.ts": `import { test } from "vitest"; import type { Journal } from "./journal.ts";`,
  "packages/server/src/journal/sqlite.test.ts": `import "./contract.ts"; import "../testing/script.ts"; import { a } from "@convoke/client"; process.env.CI;`,
  "packages/server/src/journal/contract-search.ts": `import "vitest"; import "fast-check"; import "./contract.ts";`,
  "packages/tool-host/src/terminal/testing/fake-shell.ts": `import "../shell.ts"; process.env.PATH;`,
  "packages/tool-host/src/terminal/shell.test.ts": `import "./testing/fake-shell.ts";`,
  "packages/tool-host/src/terminal/shell.ts": `import "node:fs";`,
  "packages/server/src/engine/conversation.ts": `import type { Journal } from "../journal/journal.ts";`,
  "packages/server/src/http/mount.ts": `import "../lib/fault.ts";`,
  "packages/server/src/faces/agent-server/events/routes.ts": `import "../../../http/mount.ts"; import "../../../engine/conversation.ts";`,
  "packages/server/src/faces/agent-server/sockets/y.ts": `export const y = 1;`,
  "packages/server/src/testing/index.ts": `export * from "./script.ts";`,
  "packages/server/src/testing/script.ts": `import { serve } from "../index.ts"; import "../journal/contract.ts"; process.env.PATH;`,
  "packages/cli/src/index.ts": `import { script } from "@convoke/server/testing"; process.env.HOME;`,
  "bench/append.ts": `import "../packages/server/src/journal/journal.ts"; import "@convoke/server/testing"; process.env.CI;`,
  "e2e/start.e2e.test.ts": `import { client } from "@convoke/client"; import { script } from "@convoke/server/testing";`,
};

function manifest(name: string, exports: Readonly<Record<string, string>>): Tree {
  return { [`packages/${name}/package.json`]: JSON.stringify({ name: `@convoke/${name}`, exports }) };
}

/** Checks the lawful tree with `planted` files put in or over; gives `rule file:line`, one per violation. */
function violationsWith(planted: Tree, exceptions: LayerTable["exceptions"] = []): string[] {
  using root = mkdtempDisposableSync(path.join(tmpdir(), "convoke-layers-"));
  for (const [file, source] of Object.entries({ ...lawful, ...planted })) {
    mkdirSync(path.join(root.path, path.dirname(file)), { recursive: true });
    writeFileSync(path.join(root.path, file), source);
  }
  const table = { ...layerTable, exceptions };
  return checkLayers(root.path, table).violations.map(({ rule, file, line }) => `${rule} ${file}:${line}`);
}

test("a lawful tree passes", () => {
  expect(violationsWith({})).toEqual([]);
});

const planted: readonly (readonly [rule: string, title: string, file: string, source: string])[] = [
  ["package-order", "up", "packages/protocol/src/x.ts", `import "@convoke/client";`],
  ["package-order", "up in a test", "packages/client/src/x.test.ts", `import "@convoke/server";`],
  ["package-order", "sideways", "packages/client/src/x.ts", `import type { A } from "@convoke/tool-host";`],
  ["package-order", "out of the packages", "packages/client/src/x.ts", `import "../../../bench/append.ts";`],
  ["folder-order", "up", "packages/server/src/lib/x.ts", `import "../models/model.ts";`],
  [
    "folder-order",
    "up, types only",
    "packages/server/src/journal/x.ts",
    `import type { A } from "../engine/conversation.ts";`,
  ],
  ["folder-order", "up, lazily", "packages/server/src/lib/x.ts", `await import("../models/model.ts");`],
  ["folder-order", "up, by export", "packages/server/src/lib/x.ts", `export * from "../models/model.ts";`],
  [
    "folder-order",
    "up, as a worker",
    "packages/server/src/lib/x.ts",
    `new URL("../journal/worker.ts", import.meta.url);`,
  ],
  ["folder-order", "up, in a test", "packages/server/src/lib/x.test.ts", `import "../models/model.ts";`],
  ["folder-order", "up to the composition", "packages/server/src/http/x.ts", `import "../keys.ts";`],
  ["folder-order", "sideways", "packages/server/src/models/x.ts", `import "../security/policy.ts";`],
  [
    "folder-order",
    "sideways against the exception",
    "packages/server/src/http/x.ts",
    `import "../faces/agent-server/events/routes.ts";`,
  ],
  ["subfolder-order", "up", "packages/server/src/engine/state/x.ts", `import "../conversation.ts";`],
  [
    "subfolder-order",
    "from a file with a rank of its own",
    "packages/server/src/engine/refusals.ts",
    `import type { A } from "./conversation.ts";`,
  ],
  [
    "subfolder-order",
    "two folders deep",
    "packages/server/src/faces/agent-server/events/x.ts",
    `import "../../../lib/ids.ts"; import "../sockets/y.ts";`,
  ],
  ["unknown-folder", "inside a ranked one", "packages/server/src/engine/drawer/x.ts", `export {};`],
  ["late-cycle", "by a file that loads itself", "packages/server/src/lib/x.ts", `await import("./x.ts");`],
  ["unknown-folder", "in a package", "packages/server/src/drawer/x.ts", `export {};`],
  ["unknown-folder", "a package", "packages/drawer/src/x.ts", `export {};`],
  ["testing-only", "in the package", "packages/server/src/models/x.ts", `import "../testing/script.ts";`],
  ["testing-only", "in the composition", "packages/server/src/x.ts", `import "./testing/script.ts";`],
  [
    "testing-only",
    "deep in a folder",
    "packages/tool-host/src/terminal/x.ts",
    `import "./testing/fake-shell.ts";`,
  ],
  [
    "test-file",
    "a part of a suite imported",
    "packages/server/src/journal/x.ts",
    `import "./contract-search.ts";`,
  ],
  ["test-file", "a test imported", "packages/protocol/src/x.ts", `import "./event.test.ts";`],
  ["test-file", "a suite imported", "packages/server/src/journal/x.ts", `import "./contract.ts";`],
  ["test-file", "the test runner imported", "packages/server/src/lib/x.ts", `import { vi } from "vitest";`],
  ["browser-safe", "node: in protocol", "packages/protocol/src/x.ts", `import "node:fs";`],
  [
    "browser-safe",
    "a bare name in client",
    "packages/client/src/x.ts",
    `import type { Buffer } from "buffer";`,
  ],
  ["environment", "in a folder", "packages/server/src/lib/x.ts", `process.env.HOME;`],
  ["environment", "in another package", "packages/tool-host/src/x.ts", `import { env } from "node:process";`],
  ["system-table", "a path", "packages/server/src/lib/x.ts", "readFileSync(`/proc/${pid}/stat`);"],
  ["own-place", "a folder", "packages/server/src/lib/x.ts", `import.meta.dirname;`],
  ["own-place", "a computed name", "packages/cli/src/x.ts", "new URL(`./${a}.md`, import.meta.url);"],
  ["index-at-root", "in a folder", "packages/server/src/lib/index.ts", `export {};`],
  ["named-file", "a folder imported", "packages/server/src/journal/x.ts", `import "../lib";`],
  [
    "named-file",
    "the own entry imported",
    "packages/protocol/src/x.ts",
    `import { event } from "./index.ts";`,
  ],
  [
    "named-file",
    "itself by name",
    "packages/protocol/src/x.ts",
    `import { event } from "@convoke/protocol";`,
  ],
  [
    "deep-import",
    "past the exports",
    "packages/server/src/lib/x.ts",
    `import "@convoke/protocol/src/event.ts";`,
  ],
  ["deep-import", "by path", "packages/server/src/lib/x.ts", `import "../../../protocol/src/event.ts";`],
  ["deep-import", "by path from e2e", "e2e/x.e2e.test.ts", `import "../packages/protocol/src/event.ts";`],
  ["unresolved", "a missing module", "packages/server/src/lib/x.ts", `import "./missing.ts";`],
  [
    "unresolved",
    "a missing worker",
    "packages/server/src/lib/x.ts",
    `new URL("./missing-worker.ts", import.meta.url);`,
  ],
];

test.each(planted)("%s is reported: %s", (rule, _title, file, source) => {
  expect(violationsWith({ [file]: `// first line\n${source}\n` })).toEqual([
    `${rule} ${file}:${rule === "unknown-folder" || rule === "index-at-root" ? 0 : 2}`,
  ]);
});

test("a cycle of a late import and a type is reported, with the files on its way", () => {
  const [open, store] = ["packages/server/src/boot/open.ts", "packages/server/src/boot/store.ts"];
  const cycle = { [open]: `await import("./store.ts");`, [store]: `import type { Deps } from "./open.ts";` };
  expect(violationsWith(cycle)).toEqual([`late-cycle ${open}:1`]);
  expect(violationsWith({ ...cycle, [store]: `import type { Deps } from "./config.ts";` })).toEqual([]);
});

test("test doubles of another package are reported outside the command line", () => {
  const file = "packages/web/src/x.ts";
  expect(violationsWith({ ...manifest("web", {}), [file]: `import "@convoke/server/testing";` })).toEqual([
    `testing-only ${file}:1`,
    `package-order ${file}:1`,
  ]);
});

test("an exception allows one import, and is reported when nothing needs it", () => {
  const file = "packages/server/src/engine/state/x.ts";
  const entry = "server/src/engine/state/x.ts -> server/src/engine/conversation.ts";
  const source = `import "../conversation.ts";`;
  expect(violationsWith({ [file]: source }, [entry])).toEqual([]);
  expect(violationsWith({ [file]: source }, ["server/src/lib/x.ts -> server/src/lib/y.ts"])).toEqual([
    `subfolder-order ${file}:1`,
    "unused-exception scripts/layer-table.ts:0",
  ]);
});

test("the table has no exceptions", () => {
  expect(layerTable.exceptions).toEqual([]);
});

test("files of a folder may import each other where they have one rank, and lower sub-folders", () => {
  const folder = "packages/server/src/engine";
  const tree = {
    [`${folder}/actor.ts`]: `import "./conversation.ts"; import "./run/run.ts"; import "./refusals.ts";`,
    [`${folder}/conversation-config.ts`]: `import "./refusals.ts";`,
    [`${folder}/refusals.ts`]: `export {};`,
    [`${folder}/run/run.ts`]: `import "../state/fold.ts"; import "../refusals.ts"; import "./steps/step.ts";`,
    [`${folder}/run/steps/step.ts`]: `export {};`,
    [`${folder}/state/fold.ts`]: `export {};`,
    [`${folder}/state/fold.test.ts`]: `import "../actor.ts";`,
  };
  expect(violationsWith(tree)).toEqual([]);
});

test("every rule has a planted violation", () => {
  const seen = new Set<string>(planted.map(([rule]) => rule)).add("unused-exception");
  expect([...seen].toSorted()).toEqual(layerRules.toSorted());
});

test("a tree without imports is told apart from a tree that passes", () => {
  using root = mkdtempDisposableSync(path.join(tmpdir(), "convoke-layers-"));
  mkdirSync(path.join(root.path, "packages"));
  const table = { ...layerTable, exceptions: [] };
  expect(checkLayers(root.path, table)).toEqual({ fileCount: 0, referenceCount: 0, violations: [] });
});

test("this repository obeys its own table", () => {
  const report = checkLayers(path.resolve(import.meta.dirname, ".."));
  expect(report.violations).toEqual([]);
  expect(report.referenceCount).toBeGreaterThan(50);
}, 60_000);
