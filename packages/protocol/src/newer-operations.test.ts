import { readFileSync } from "node:fs";
import { expect, test } from "vitest";
import { agentFaceRoutes, appFaceRoutes } from "./routes/face-routes.ts";
import type { Route } from "./routes/route.ts";

/** Every operation in the document of the newest agent server. */
const operations = JSON.parse(readText("./golden/agent-server-1.58.operations.json")) as string[];
const page = readText("../../../docs/compatibility.md");
const [, section] = /^## The newest agent server$([^]*?)^## /m.exec(page) ?? [];

test("agent server 1.58.2: what is not served is listed with its reason, and counted", () => {
  const tables: readonly Readonly<Record<string, Route>>[] = [agentFaceRoutes, appFaceRoutes];
  const served = new Set(tables.flatMap((table) => Object.values(table)).map((route) => plain(route)));
  const missing = operations.filter((operation) => !served.has(withoutNames(operation)));
  const listed = [...section!.matchAll(/^\| `([A-Z]+ [^`]+)` +\| (\S.*?) +\|$/gm)];
  expect(listed.map(([, operation]) => operation!).toSorted()).toEqual(missing.sort());
  expect(section).toContain(
    `${operations.length - missing.length} of its ${operations.length} operations are served`,
  );
});

function plain({ method, path }: Route): string {
  return withoutNames(`${method} ${path}`);
}

function withoutNames(operation: string): string {
  return operation.replaceAll(/\{\w+\}/g, "{}");
}

function readText(file: string): string {
  return readFileSync(new URL(file, import.meta.url), "utf8");
}
