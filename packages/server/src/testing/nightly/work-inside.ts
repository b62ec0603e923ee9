import { mkdir, mkdtemp, readFile, realpath, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { parseArgs } from "node:util";
import { WallBench } from "../../walls/testing/wall-bench.ts";
import { programs, type Program } from "./inside-programs.ts";

/**
 * `npx node packages/server/src/testing/nightly/work-inside.ts [--private host,...] [--only name,...] [--write]`: runs programs against
 * their real registries behind a wall with the default rules, and prints what works. `--private`: hosts whose addresses are private on
 * this machine, as behind a mirror. `--write` puts the table into docs/security.md of the folder that it is started in. Exits with 1 when a program that is installed fails
 * and is not known to.
 */
const { values } = parseArgs({
  options: {
    private: { type: "string", default: "" },
    only: { type: "string", default: "" },
    write: { type: "boolean", default: false },
  },
});
const list = (text: string): string[] => text.split(",").filter((part) => part !== "");
const only = list(values.only);
const secondsEach = 240;

type Row = { readonly program: Program; readonly outcome: string };

const rows: Row[] = [];
await using bench = await WallBench.open({ environment: process.env });
const network = { presets: ["registries" as const], private: list(values.private) };
for (const program of programs.filter(({ name }) => only.length === 0 || only.includes(name))) {
  const rootId = program.name.replaceAll(/\W+/g, "-");
  const folder = await realpath(await mkdtemp(join(tmpdir(), "convoke-inside-")));
  try {
    for (const [path, text] of Object.entries(program.files ?? {})) {
      await mkdir(join(folder, path, ".."), { recursive: true });
      await writeFile(join(folder, path), text);
    }
    const terminal = await bench.terminal({ rootId, folder, network });
    const outcome = await outcomeOf(program, terminal);
    rows.push({ program, outcome });
    console.log(`${program.name}: ${outcome}`);
  } finally {
    await bench.walls.remove(rootId);
    await rm(folder, { recursive: true, force: true });
  }
}
const [tried, untried] = [rows.filter(isTried), rows.filter((row) => !isTried(row))];
const table = [
  "| Program | What was done | Works | Of note |",
  "| --- | --- | --- | --- |",
  ...tried.map(({ program, outcome }) => {
    return `| ${program.name} | ${program.shown} | ${outcome} | ${program.note ?? ""} |`;
  }),
  ...untried.map(({ program, outcome }) => `\nNot tried: ${program.name} (${outcome}).`),
].join("\n");
console.log(`\n${table}`);
if (values.write) await writeTable(table);
process.exitCode = rows.some(({ program, outcome }) => outcome === "no" && program.isKnownToFail !== true)
  ? 1
  : 0;

function isTried({ outcome }: Row): boolean {
  return outcome === "yes" || outcome === "no";
}

async function outcomeOf(
  { name, needs, command }: Program,
  terminal: Awaited<ReturnType<WallBench["terminal"]>>,
): Promise<string> {
  if (!(await terminal(`${needs} >/dev/null 2>&1 && echo there`)).includes("there")) return "not installed";
  const output = await terminal(`(${command}) 2>&1 && echo IT-WORKS`, secondsEach);
  if (output.includes("IT-WORKS")) return "yes";
  console.error(`${name}:\n${output.slice(-2_000)}`);
  // A machine without the internet says nothing about the program.
  return /cannot be resolved|could not be resolved|could not be reached/.test(output)
    ? "not reachable here"
    : "no";
}

async function writeTable(text: string): Promise<void> {
  const file = resolve("docs/security.md");
  const [begin, end] = ["<!-- work-inside -->", "<!-- /work-inside -->"];
  const page = await readFile(file, "utf8");
  if (!page.includes(begin) || !page.includes(end)) throw new Error(`${file} has no place for it.`);
  const [before = "", rest = ""] = page.split(begin);
  await writeFile(file, `${before}${begin}\n\n${text}\n\n${end}${rest.split(end)[1] ?? ""}`);
}
