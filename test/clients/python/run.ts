/**
 * Drives a running `convoke serve` and `convoke scripted-model` with the official Python SDK, unmodified, and says method by method
 * what works. Needs Python 3.12 and PyPI, so it is no part of `npm test` or of CI.
 *
 * Usage: npm run test:python [-- [--write] [--only <words of a scenario's name>] [--sdk <version>]]
 *   --write  brings the table of docs/compatibility-tables.md up to date
 *   --sdk    tries what clients of every version take for granted ("cross") with another version, such as 1.43.1
 */
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { parseArgs } from "node:util";
import { findPython } from "./find-python.ts";
import { preparePython } from "./python-environment.ts";
import { PythonWorld } from "./python-world.ts";
import { judge, renderPythonTable, withPythonTable } from "./python-table.ts";

const { values } = parseArgs({
  options: {
    write: { type: "boolean", default: false },
    only: { type: "string", multiple: true },
    sdk: { type: "string" },
  },
});
const page = join(import.meta.dirname, "../../..", "docs/compatibility-tables.md");

try {
  process.exitCode = await main();
} catch (error) {
  console.error(error instanceof Error ? error.message : error);
  process.exitCode = 2;
}

async function main(): Promise<number> {
  const found = findPython(process.env);
  const python = preparePython(found, values.sdk === undefined ? {} : { sdk: values.sdk });
  const only = values.only ?? (values.sdk === undefined ? undefined : ["cross"]);
  console.log(`Running the scenarios with ${found.program}; this takes minutes.`);
  await using world = await PythonWorld.open(python);
  const { scenarios, report } = await world.run(only ?? []);
  console.log(`\nPython ${found.version}, openhands-sdk ${report?.version ?? "(did not start)"}`);
  for (const { scenario, seconds, error } of scenarios) {
    console.log(`${error === null ? "ok  " : "FAIL"} ${scenario.padEnd(40)} ${seconds.toFixed(1)} s`);
    if (error !== null) console.log(error);
  }
  const hasFailed = scenarios.length === 0 || scenarios.some(({ error }) => error !== null);
  if (report === null || hasFailed) return 1;
  // A part of the scenarios says nothing about every method.
  if (only !== undefined) return 0;
  const table = renderPythonTable(report);
  console.log(`\n${table}\n`);
  const complaints = judge(report);
  for (const complaint of complaints) console.error(complaint);
  const before = readFileSync(page, "utf8");
  const after = withPythonTable(before, table);
  if (values.write) writeFileSync(page, after);
  else if (before !== after) complaints.push("behind");
  if (!values.write && before !== after) {
    console.error("docs/compatibility-tables.md is behind: npm run test:python -- --write");
  }
  return complaints.length === 0 ? 0 : 1;
}
