import { execFile } from "node:child_process";
import { cpSync, existsSync, readdirSync } from "node:fs";
import path from "node:path";
import { promisify } from "node:util";

const packages = ["protocol", "client", "convoke"];

/** Names of the examples, in the order of the alphabet. */
export function listExamples(root: string): readonly string[] {
  return readdirSync(path.join(root, "examples"), { withFileTypes: true })
    .filter((entry) => entry.isDirectory() && existsSync(path.join(root, "examples", entry.name, "run.sh")))
    .map(({ name }) => name)
    .toSorted();
}

/**
 * Copies the examples into `folder` and installs the packed tarballs of `dist` beside them, as somebody would who has only these. Rejects
 * when the packages are not built.
 */
export async function installExamples(root: string, folder: string): Promise<void> {
  cpSync(path.join(root, "examples"), folder, {
    recursive: true,
    filter: (source) => path.basename(source) !== "node_modules",
  });
  const tarballs = await Promise.all(packages.map((name) => pack(path.join(root, "dist", name), folder)));
  await npm(
    [
      "install",
      "--no-save",
      "--prefer-offline",
      "--no-audit",
      "--no-fund",
      ...tarballs.map((name) => `./${name}`),
    ],
    folder,
  );
}

async function pack(directory: string, folder: string): Promise<string> {
  if (!existsSync(directory)) throw new Error(`${directory} is missing: npm run build`);
  const output = await npm(["pack", directory, "--pack-destination", folder, "--json"], folder);
  return (JSON.parse(output) as readonly { readonly filename: string }[])[0]!.filename;
}

async function npm(args: readonly string[], cwd: string): Promise<string> {
  const { stdout } = await promisify(execFile)("npm", args, { cwd, timeout: 300_000 });
  return stdout;
}
