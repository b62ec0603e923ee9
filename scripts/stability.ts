import { existsSync, mkdirSync, readFileSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import path from "node:path";
import { Command } from "commander";
import { commands } from "../packages/cli/src/command-table.ts";
import { brokenPromises, mayBreak } from "./promised-lines.ts";
import { readManifest } from "./publish-manifest.ts";

/** Where the promises of the newest release stand: its version and a copy of each text. */
const released = "docs/api/released";
const versionFile = "version.txt";
const wireSnapshot = "packages/server/src/faces/agent-server/server/wire-snapshot.generated.json";

/** The texts that `docs/stability.md` promises to keep, by name. */
export async function promisedTexts(root: string): Promise<ReadonlyMap<string, string>> {
  const read = (file: string): string => readFileSync(path.join(root, file), "utf8");
  const reports = readdirSync(path.join(root, "docs/api")).filter((file) => file.endsWith(".api.md"));
  return new Map([
    ["wire.json", read(wireSnapshot)],
    ["commands.txt", `${(await listCommands()).join("\n")}\n`],
    ...reports.map((file) => [file, read(`docs/api/${file}`)] as const),
  ]);
}

/**
 * Promises of the newest release that the working tree breaks, although its version does not allow that; none before the first
 * release. Each names its text.
 */
export function findBroken(root: string, texts: ReadonlyMap<string, string>): readonly string[] {
  const folder = path.join(root, released);
  if (!existsSync(folder)) return [];
  const read = (name: string): string => readFileSync(path.join(folder, name), "utf8");
  if (mayBreak(read(versionFile).trim(), readManifest(root).version)) return [];
  return readdirSync(folder)
    .filter((name) => name !== versionFile)
    .toSorted()
    .flatMap((name) =>
      brokenPromises(name, read(name), texts.get(name) ?? emptyText(name)).map((line) => `${name}: ${line}`),
    );
}

/** Makes the texts the promises of the release. */
export function keepReleased(root: string, version: string, texts: ReadonlyMap<string, string>): void {
  const folder = path.join(root, released);
  rmSync(folder, { recursive: true, force: true });
  mkdirSync(folder, { recursive: true });
  writeFileSync(path.join(folder, versionFile), `${version}\n`);
  for (const [name, text] of texts) writeFileSync(path.join(folder, name), text);
}

function emptyText(name: string): string {
  return name.endsWith(".json") ? "{}" : "";
}

/** `convoke keys create --user`: each command with its arguments, and each with each of its flags. */
export async function listCommands(): Promise<readonly string[]> {
  const program = new Command("convoke");
  for (const load of Object.values(commands)) (await load())(program, () => {});
  return program.commands.flatMap((command) => linesOf(command, "convoke")).toSorted();
}

function linesOf(command: Command, parent: string): readonly string[] {
  const name = `${parent} ${command.name()}`;
  const operands = command.registeredArguments.map((operand) =>
    operand.required ? `<${operand.name()}>` : `[${operand.name()}]`,
  );
  return [
    [name, ...operands].join(" "),
    ...command.options.map(({ long, short }) => `${name} ${long ?? short}`),
    ...command.commands.flatMap((below) => linesOf(below, name)),
  ];
}
