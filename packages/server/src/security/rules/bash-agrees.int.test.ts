import { execFile } from "node:child_process";
import { chmod, mkdir, mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import type { Rule } from "@convoke/protocol";
import fc from "fast-check";
import { afterAll, beforeAll, expect, test } from "vitest";
import { disguises } from "../../testing/disguised-commands.ts";
import { decideByRules } from "./decide-by-rules.ts";
import { readCommand } from "./read-command.ts";
import { rulesFrom } from "./rule.ts";

const execute = promisify(execFile);
const bash = "/bin/bash";
const harmless = ["good", "fine"];
const hostile = "evil";

let folder: string;
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), "convoke-rules-"));
  await mkdir(join(folder, "bin"));
  await mkdir(join(folder, "work"));
  for (const name of [...harmless, hostile, "git"]) {
    const file = join(folder, "bin", name);
    // Each program writes its name, and nothing else.
    await writeFile(file, `#!/bin/sh\necho ${name} >> "$PROGRAMS_RUN"\n`);
    await chmod(file, 0o755);
  }
});
afterAll(() => rm(folder, { recursive: true, force: true }));

const rules = rulesFrom(
  "user",
  harmless.map((program): Rule => ({ effect: "allow", tool: "terminal", command: [program, "**"] })),
);

const isAllowed = (command: string): boolean => {
  const places = { workingDir: join(folder, "work"), home: null };
  const call = {
    toolName: "terminal",
    action: { kind: "TerminalAction", command },
    risk: "LOW",
    places,
  } as const;
  return decideByRules(rules, call).decision?.effect === "allow";
};

/** The programs that a text runs in a bash that finds no others. */
async function programsOf(text: string, more: readonly string[] = []): Promise<string[]> {
  const record = join(folder, "programs");
  await writeFile(record, "");
  const env = { PATH: [join(folder, "bin"), ...more].join(":"), PROGRAMS_RUN: record };
  const options = { env, cwd: join(folder, "work"), timeout: 10_000 };
  // A text that fails has run programs all the same.
  await execute(bash, ["--norc", "--noprofile", "-c", text], options).catch(() => null);
  return (await readFile(record, "utf8")).split("\n").filter((line) => line !== "");
}

/** Which of the texts bash takes for valid; one process for all. */
async function areValid(texts: readonly string[]): Promise<boolean[]> {
  const files = await Promise.all(
    texts.map(async (text, index) => {
      const file = join(folder, `text-${index}`);
      await writeFile(file, text);
      return file;
    }),
  );
  const loop = 'for file; do "$BASH" -n "$file" 2>/dev/null && echo y || echo n; done';
  const { stdout } = await execute(bash, ["--norc", "-c", loop, "bash", ...files]);
  return stdout
    .trim()
    .split("\n")
    .map((line) => line === "y");
}

/** Separated by a bar that is none of the shell's. */
const fragments = (
  'good¦fine¦evil¦good a¦evil b¦x=1¦PATH=.¦a¦-n¦$x¦"$x"¦${x:-evil}¦;¦&&¦||¦|¦&¦\n¦ ¦ ¦(¦)¦{ ¦; }¦$(¦`¦\'¦"¦\\¦#¦!¦$\'¦' +
  "<<E\n¦\nE\n¦<<<¦>¦>o¦<(¦2>&1¦*¦[¦]¦[[ ¦ ]]¦((¦))¦$((¦~¦{a,b}¦if ¦; then ¦; fi¦for x in ¦; do ¦; done¦case x in ¦) ¦;; esac¦" +
  "eval ¦env ¦exec ¦command ¦bash -c ¦'good; evil'¦'good'¦time ¦function f ¦f() ¦coproc ¦=¦^¦%¦@("
).split("¦");

const texts = (count: number, maxLength: number): string[] =>
  fc.sample(
    fc.array(fc.constantFrom(...fragments), { minLength: 1, maxLength }).map((parts) => parts.join("")),
    count,
  );

/** How many texts are tried; six times as many with `CONVOKE_EVERY_CASE=1`. */
const times = process.env["CONVOKE_EVERY_CASE"] === "1" ? 6 : 1;

test("what bash refuses as a text is opaque", async () => {
  const given = texts(500 * times, 12);
  const valid = await areValid(given);
  expect(valid.filter((is) => !is).length).toBeGreaterThan(given.length / 6);
  const wrong = given.filter((text, index) => {
    const { parts, opaque } = readCommand(text, "/work");
    return !valid[index] && opaque.length === 0 && parts.every((part) => part.opaque === null);
  });
  expect(wrong).toEqual([]);
}, 120_000);

test("what the rules allow runs no program that they do not name", async () => {
  // Behind an allowed program, and with the name of the hostile one, which must stay a word there.
  const named = texts(10_000 * times, 6).map((text) => `good ${text}`);
  const isCovered = (text: string): boolean => text.includes(hostile) && isAllowed(text);
  const allowed = [...new Set(named.filter(isCovered))].slice(0, 42 * times);
  expect(allowed.length).toBeGreaterThan(17 * times);
  const wrong: string[] = [];
  for (const text of allowed) if ((await programsOf(text)).includes(hostile)) wrong.push(text);
  expect(wrong).toEqual([]);
}, 120_000);

test("the disguises of the fast tests do run the program that they hide", async () => {
  const silent: number[] = [];
  for (const [index, disguise] of disguises.entries()) {
    const ran = await programsOf(disguise(`${hostile} a`), ["/usr/bin", "/bin"]);
    if (!ran.includes(hostile)) silent.push(index);
  }
  expect(silent.map((index) => disguises[index]!("evil a"))).toEqual([]);
}, 120_000);
