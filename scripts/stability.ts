import { existsSync, mkdirSync, readFileSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import path from "node:path";
import { Command } from "commander";
import { commands } from "../packages/cli/src/command-table.ts";
import { exitCodes } from "../packages/cli/src/exit-codes.ts";
import { jsonOutputs } from "../packages/cli/src/json-outputs.ts";
import { jsonShapes } from "../packages/cli/src/json-shapes.ts";
import { brokenPromises, mayBreak } from "./promised-lines.ts";
import { readManifest } from "./publish-manifest.ts";
import { routeLines } from "./route-lines.ts";
import { type JsonSchema, schemaLines } from "./schema-lines.ts";

/** Where the promises of the newest release stand: its version and a copy of each text. */
const released = "docs/api/released";
const versionFile = "version.txt";
const wireSnapshot = "packages/server/src/faces/agent-server/server/wire-snapshot.generated.json";

/** The texts that `docs/stability.md` promises to keep, by name. */
export async function promisedTexts(root: string): Promise<ReadonlyMap<string, string>> {
  const read = (file: string): string => readFileSync(path.join(root, file), "utf8");
  const reports = readdirSync(path.join(root, "docs/api")).filter((file) => file.endsWith(".api.md"));
  const interfaces = ["agent-server", "app-server"];
  return new Map([
    ["wire.json", read(wireSnapshot)],
    ...interfaces.map(
      (name) => [`${name}.txt`, textOf(routeLines(read(`docs/openapi/${name}.json`)))] as const,
    ),
    ["commands.txt", textOf(await listCommands())],
    ["exit-codes.txt", textOf(Object.entries(exitCodes).map(([name, code]) => `${code} ${name}`))],
    ["json.txt", textOf(listJsonFields())],
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

function textOf(lines: readonly string[]): string {
  return lines.map((line) => `${line}\n`).join("");
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

/** Fields of what commands print with `--json`, with the form of the output and the name of the shape. */
export function listJsonFields(): readonly string[] {
  return Object.entries(jsonOutputs).flatMap(([command, { shapes, form }]) =>
    shapes.flatMap((shape) => schemaLines(jsonShapes[shape] as JsonSchema, `${command} (${form}, ${shape})`)),
  );
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
