import { existsSync } from "node:fs";
import path from "node:path";

/** One file of an npm package that the built command has a copy of, in place of a dependency. */
type CopiedFile = {
  /** Slash path below `node_modules`. */
  readonly from: string;
  /** npm packages whose code is in the file; their licences are in the notices. */
  readonly holds: readonly string[];
};

/** By the address that our source loads it from, as a slash path relative to the root; no such file is in a checkout. */
export const copiedFiles: Readonly<Record<string, CopiedFile>> = {
  "packages/tool-host/src/tools/browser/rrweb-record.cjs": {
    from: "@rrweb/record/dist/record.umd.min.cjs",
    holds: ["@rrweb/record", "@rrweb/types", "@rrweb/utils", "base64-arraybuffer", "rrweb", "rrweb-snapshot"],
  },
};

/** Absolute path of the file to copy for the asset `file`, and the manifests of the npm packages in it (none for our own files). */
export function sourceOfAsset(
  root: string,
  file: string,
): { readonly from: string; readonly manifests: readonly string[] } {
  const copied = copiedFiles[file];
  if (copied === undefined) return { from: path.join(root, file), manifests: [] };
  const installed = (name: string): string => path.join(root, "node_modules", name);
  const manifests = copied.holds.map((name) => installed(`${name}/package.json`));
  const missing = [installed(copied.from), ...manifests].filter((one) => !existsSync(one));
  if (missing.length > 0) throw new Error(`not installed: ${missing.join(", ")}`);
  return { from: installed(copied.from), manifests };
}
