import { readFile, writeFile } from "node:fs/promises";
import path from "node:path";
import { parseArgs } from "node:util";
import { readFacts } from "../src/testing/openapi-facts.ts";

const golden = path.resolve(import.meta.dirname, "../src/golden");

/**
 * Writes golden facts from an OpenAPI document: `node write-facts.ts <document>` for agent server 0.1.0. `--name <file name>`
 * changes the file name; `--only <pattern>` selects the schemas and operations by name.
 */
const { positionals, values } = parseArgs({
  allowPositionals: true,
  options: {
    name: { type: "string", default: "agent-server-0.1.0" },
    only: { type: "string", default: "" },
  },
});
const [source] = positionals;
if (source === undefined) throw new Error("Give the path of the OpenAPI document.");
const { schemas, operations } = readFacts(JSON.parse(await readFile(source, "utf8")));
const facts = { schemas: pick(schemas), operations: pick(operations) };
await writeFile(path.join(golden, `${values.name}.facts.json`), `${JSON.stringify(facts, null, 1)}\n`);

function pick<Value>(all: Readonly<Record<string, Value>>): Record<string, Value> {
  const pattern = new RegExp(values.only);
  return Object.fromEntries(Object.entries(all).filter(([name]) => pattern.test(name)));
}
