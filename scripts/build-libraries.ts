import { spawnSync } from "node:child_process";
import { cpSync, mkdirSync, renameSync, rmSync, writeFileSync } from "node:fs";
import path from "node:path";
import { libraryManifest } from "./publish-manifest.ts";
import { resolveToolFile } from "./resolve-tool-file.ts";

/**
 * Compiles the packages that others import into `dist/<folder>`: JavaScript, types, manifest, licence, README. Returns the folders.
 * Declarations still import `./x.ts`, which TypeScript resolves to `./x.d.ts`.
 */
export function buildLibraries(root: string, folders: readonly string[]): readonly string[] {
  const dist = path.join(root, "dist");
  const compiled = path.join(dist, "compiled");
  const { status, stdout, stderr } = spawnSync(
    process.execPath,
    [resolveToolFile(root, "typescript", "tsc"), "-p", "tsconfig.build.json", "--outDir", compiled],
    { cwd: root, encoding: "utf8" },
  );
  if (status !== 0) throw new Error(`the libraries do not compile:\n${stdout}${stderr}`);
  for (const folder of folders) {
    const target = path.join(dist, folder);
    rmSync(target, { recursive: true, force: true });
    mkdirSync(target, { recursive: true });
    renameSync(path.join(compiled, folder, "src"), path.join(target, "lib"));
    cpSync(path.join(root, "LICENSE"), path.join(target, "LICENSE"));
    cpSync(path.join(root, "packages", folder, "README.md"), path.join(target, "README.md"));
    writeFileSync(
      path.join(target, "package.json"),
      `${JSON.stringify(libraryManifest(root, folder), null, 2)}\n`,
    );
  }
  rmSync(compiled, { recursive: true, force: true });
  return folders;
}
