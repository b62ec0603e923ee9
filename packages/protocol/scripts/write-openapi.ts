import { readFile, writeFile } from "node:fs/promises";
import path from "node:path";
import { parseArgs } from "node:util";
import { v1Routes } from "../src/app-server/v1-routes.ts";
import { agentServerInterface, appServerInterface } from "../src/openapi-documents.ts";
import { writeOpenApi } from "../src/openapi.ts";
import { agentServerRoutes } from "../src/routes/agent-server-routes.ts";
import { agentSettingsRoutes } from "../src/routes/agent-settings-routes.ts";
import { appServerRoutes } from "../src/routes/app-server-routes.ts";
import { installedRoutes } from "../src/routes/installed-routes.ts";
import { legacyRoutes } from "../src/routes/legacy-routes.ts";
import { agentProfileRoutes, llmProfileRoutes } from "../src/routes/llm-profile-routes.ts";
import { llmRoutes } from "../src/routes/llm-routes.ts";

const folder = path.resolve(import.meta.dirname, "../../../docs/openapi");
const appRoutes = { ...legacyRoutes, ...appServerRoutes, ...v1Routes };
const agentRoutes = {
  ...agentServerRoutes,
  ...agentSettingsRoutes,
  ...llmProfileRoutes,
  ...agentProfileRoutes,
  ...llmRoutes,
  ...installedRoutes,
};
const documents = {
  "agent-server.json": writeOpenApi(Object.values(agentRoutes), agentServerInterface),
  "app-server.json": writeOpenApi(Object.values(appRoutes), appServerInterface),
};

/** Writes the OpenAPI documents of the faces; with `--check`, fails when a written one is not current. */
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
