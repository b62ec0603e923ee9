import { cpSync, mkdirSync, readFileSync, readdirSync, renameSync, rmSync, writeFileSync } from "node:fs";
import path from "node:path";
import { type OpenApi, routePages } from "./route-pages.ts";

/** Parts of `docs` that only contributors with the repository read. */
const leftOut = new Set(["decisions"]);

/** By the folder of the pages: the OpenAPI document that they are made of. */
const documents = { "agent-server": "agent-server.json", "app-server": "app-server.json" };

/**
 * Writes what the site is built of into `source`: the documentation, with `README.md` of a folder as its index, and the pages of the
 * routes in `reference`. Data that pages link to, such as the OpenAPI documents, is served as it is.
 */
export function composeSource(root: string, source: string): void {
  const docs = path.join(root, "docs");
  rmSync(source, { recursive: true, force: true });
  for (const entry of readdirSync(docs)) {
    if (!leftOut.has(entry)) cpSync(path.join(docs, entry), path.join(source, entry), { recursive: true });
  }
  for (const file of readdirSync(source, { recursive: true, encoding: "utf8" })) {
    if (path.basename(file) === "README.md") move(source, file, path.join(path.dirname(file), "index.md"));
    else if (file.endsWith(".json")) move(source, file, path.join("public", file));
  }
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

function move(directory: string, from: string, to: string): void {
  mkdirSync(path.dirname(path.join(directory, to)), { recursive: true });
  renameSync(path.join(directory, from), path.join(directory, to));
}
