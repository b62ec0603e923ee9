import { createHash } from "node:crypto";
import { existsSync, globSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import path from "node:path";
import type { PageSizes } from "./page-sizes.ts";

/** What the page is made of: its folder and the workspaces that it imports, what builds it, and the versions of all packages. */
const inputs = [
  "packages/web/{*,{src,public}/**/*}",
  "packages/{client,protocol}/{package.json,src/**/*}",
  "scripts/{build-web,build-replay,page-sizes,third-party-notices,web-page}.ts",
  "{package.json,package-lock.json,tsconfig.json}",
];
const folder = "packages/web/dist";
/** `npm ci` removes it with all packages. */
const recordFile = "node_modules/.cache/convoke-page.json";

type PageRecord = { readonly from: string; readonly to: string; readonly sizes: PageSizes };

/**
 * The sizes of the page that lies in `packages/web/dist`; null unless a build wrote it from exactly these sources, and nothing changed
 * in either since. So `npm ci`, the check, the container image and `npm run build` build it once.
 */
export function readPageRecord(root: string): PageSizes | null {
  const file = path.join(root, recordFile);
  if (!existsSync(file)) return null;
  const { from, to, sizes } = JSON.parse(readFileSync(file, "utf8")) as PageRecord;
  return from === hashPageSources(root) && to === hashOf(root, [`${folder}/**/*`]) ? sizes : null;
}

/** Notes that the page in `packages/web/dist` was built; `from` is {@link hashPageSources} of the time when that began. */
export function writePageRecord(root: string, from: string, sizes: PageSizes): void {
  const file = path.join(root, recordFile);
  mkdirSync(path.dirname(file), { recursive: true });
  const record: PageRecord = { from, to: hashOf(root, [`${folder}/**/*`]), sizes };
  writeFileSync(file, JSON.stringify(record));
}

export function hashPageSources(root: string): string {
  return hashOf(root, inputs);
}

function hashOf(root: string, patterns: readonly string[]): string {
  const hash = createHash("sha256");
  const files = globSync([...patterns], { cwd: root, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => path.relative(root, path.join(entry.parentPath, entry.name)));
  for (const file of files.toSorted()) {
    const bytes = readFileSync(path.join(root, file));
    hash.update(`${file} ${bytes.length}\n`).update(bytes);
  }
  return hash.digest("hex");
}
