import { readFile, writeFile } from "node:fs/promises";
import path from "node:path";
import { parseArgs } from "node:util";
import { agentServerRoutes } from "../src/routes/agent-server-routes.ts";
import { agentServerInterface } from "../src/openapi-documents.ts";
import { writeOpenApi } from "../src/openapi.ts";

const file = path.resolve(import.meta.dirname, "../../../docs/openapi/agent-server.json");

/** Writes the OpenAPI document of the agent-server face; with `--check`, fails when the written one is not current. */
const { values } = parseArgs({ options: { check: { type: "boolean", default: false } } });
const document = writeOpenApi(Object.values(agentServerRoutes), agentServerInterface);
const text = `${JSON.stringify(document, null, 2)}\n`;
if (!values.check) {
  await writeFile(file, text);
} else if ((await readFile(file, "utf8")) !== text) {
  console.error(
    "docs/openapi/agent-server.json is not current: run node packages/protocol/scripts/write-openapi.ts",
  );
  process.exitCode = 1;
}
