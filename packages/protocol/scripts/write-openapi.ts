import { readFile, writeFile } from "node:fs/promises";
import path from "node:path";
import { parseArgs } from "node:util";
import { agentServerInterface, appServerInterface } from "../src/openapi-documents.ts";
import { writeOpenApi } from "../src/openapi.ts";
import { agentFaceRoutes, appFaceRoutes } from "../src/routes/face-routes.ts";

const folder = path.resolve(import.meta.dirname, "../../../docs/openapi");
const documents = {
  "agent-server.json": writeOpenApi(Object.values(agentFaceRoutes), agentServerInterface),
  "app-server.json": writeOpenApi(Object.values(appFaceRoutes), appServerInterface),
};

/** Writes the OpenAPI documents of the faces; with `--check`, fails when one of them is outdated. */
const { values } = parseArgs({ options: { check: { type: "boolean", default: false } } });
for (const [name, document] of Object.entries(documents)) {
  const file = path.join(folder, name);
  const text = `${JSON.stringify(document, null, 2)}\n`;
  if (!values.check) {
    await writeFile(file, text);
  } else if ((await readFile(file, "utf8")) !== text) {
    console.error(`docs/openapi/${name} is not current: run node packages/protocol/scripts/write-openapi.ts`);
    process.exitCode = 1;
  }
}
