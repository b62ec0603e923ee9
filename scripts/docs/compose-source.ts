import { cpSync, mkdirSync, readFileSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import path from "node:path";
import { type OpenApi, routePages } from "./route-pages.ts";

/** Parts of `docs` that are no pages of the site: what only contributors read, and data. */
const leftOut = new Set(["decisions", "openapi"]);

/** By the folder of the pages: the OpenAPI document that they are made of. */
const documents = { "agent-server": "agent-server.json", "app-server": "app-server.json" };

/**
 * Writes what the site is built of into `source`: the documentation, with `README.md` of a folder as its index, and the pages of the
 * routes in `reference`. The OpenAPI documents are also served as they are.
 */
export function composeSource(root: string, source: string): void {
  const docs = path.join(root, "docs");
  rmSync(source, { recursive: true, force: true });
  for (const entry of readdirSync(docs)) {
    if (!leftOut.has(entry)) cpSync(path.join(docs, entry), path.join(source, entry), { recursive: true });
  }
  for (const file of readdirSync(source, { recursive: true, encoding: "utf8" })) {
    if (path.basename(file) !== "README.md") continue;
    const page = path.join(source, file);
    cpSync(page, path.join(path.dirname(page), "index.md"));
    rmSync(page);
  }
  cpSync(path.join(docs, "openapi"), path.join(source, "public/openapi"), { recursive: true });
  cpSync(path.join(root, "packages/web/public/icon.svg"), path.join(source, "public/icon.svg"));
  for (const [folder, file] of Object.entries(documents)) {
    const document = JSON.parse(readFileSync(path.join(docs, "openapi", file), "utf8")) as OpenApi;
    const target = path.join(source, "reference", folder);
    mkdirSync(target, { recursive: true });
    for (const { name, markdown } of routePages(document)) {
      writeFileSync(path.join(target, `${name}.md`), markdown);
    }
  }
}
