import { readFileSync } from "node:fs";
import path from "node:path";

/** The script behind a command of an installed package, as an absolute path that Node can run on every platform. */
export function resolveToolFile(root: string, packageName: string, command: string): string {
  const directory = path.join(root, "node_modules", packageName);
  const manifest = JSON.parse(readFileSync(path.join(directory, "package.json"), "utf8")) as {
    readonly bin: string | Readonly<Record<string, string>>;
  };
  const file = typeof manifest.bin === "string" ? manifest.bin : manifest.bin[command];
  if (file === undefined) throw new Error(`package ${packageName} has no command ${command}`);
  return path.join(directory, file);
}
