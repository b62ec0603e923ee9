import { readFile, writeFile } from "node:fs/promises";
import path from "node:path";
import { parseArgs } from "node:util";
import { readFacts } from "../src/testing/openapi-facts.ts";

const file = path.resolve(import.meta.dirname, "../src/golden/agent-server-0.1.0.facts.json");

/** Writes the golden facts from an OpenAPI document of agent server 0.1.0: `node write-facts.ts <document>`. */
const { positionals } = parseArgs({ allowPositionals: true });
const [source] = positionals;
if (source === undefined) throw new Error("Give the path of the OpenAPI document.");
const facts = readFacts(JSON.parse(await readFile(source, "utf8")));
await writeFile(file, `${JSON.stringify(facts, null, 1)}\n`);
