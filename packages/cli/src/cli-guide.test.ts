import { readFileSync } from "node:fs";
import { join } from "node:path";
import { Command } from "commander";
import { expect, test } from "vitest";
import { commands } from "./command-table.ts";
import { settingsTable } from "./configuration/settings-table.ts";
import { describeCommands } from "./completion/describe-commands.ts";
import type { CompletionCommand } from "./completion/completion-command.ts";
import { jsonOutputs } from "./json-outputs.ts";
import { exitCodes, exitCodesHelp } from "./exit-codes.ts";
import { apiCommandsText } from "./reference/api-commands-text.ts";
import { jsonOutputsText } from "./reference/json-outputs-text.ts";
import { referenceDocuments } from "./reference/reference-documents.ts";

const root = join(import.meta.dirname, "../../..");
const guide = readFileSync(join(root, "docs/guides/cli.md"), "utf8");
const all = await Promise.all(Object.values(commands).map((load) => load()));

test("the guide to the command line has a section for each command, with each of its flags", () => {
  const program = new Command("convoke");
  for (const add of all) add(program, () => {});
  const missing = program.commands.flatMap((command) => {
    const section = new RegExp(`^## ${command.name()}\n(.*?)^## `, "ms").exec(guide)?.[1];
    if (section === undefined) return [command.name()];
    return [command, ...command.commands]
      .flatMap(({ options }) => options.map(({ long }) => long ?? ""))
      .filter((flag) => !section.includes(flag))
      .map((flag) => `${command.name()} ${flag}`);
  });
  expect(missing).toEqual([]);
});

test("the help of a command shows each flag of its own, and of the commands below it", () => {
  const program = new Command("convoke");
  for (const add of all) add(program, () => {});
  const missing = program.commands.flatMap((command) => {
    let help = "";
    command.configureOutput({ writeOut: (text) => (help += text) }).outputHelp();
    return [command, ...command.commands]
      .flatMap(({ options }) => options.map(({ long }) => long ?? ""))
      .filter((flag) => !help.includes(flag))
      .map((flag) => `${command.name()} ${flag}`);
  });
  expect(missing).toEqual([]);
});

test("the guide and the help have each exit code, and no other", () => {
  const codes = Object.values(exitCodes).map(String);
  const table = /^## Exit codes\n([^]*)$/m.exec(guide)?.[1] ?? "";
  expect([...table.matchAll(/^\| (\d+) /gm)].map(([, code]) => code)).toEqual(codes);
  expect([...exitCodesHelp.matchAll(/(?<=: |, |,\n)\d+/g)].map(([code]) => code)).toEqual(codes);
});

test("the guide to the configuration has the table of settings, and docs/reference is as the sources say", async () => {
  const configuration = readFileSync(join(root, "docs/guides/configuration.md"), "utf8");
  const [, table = ""] = /<!-- settings -->([^]*)<!-- \/settings -->/.exec(configuration) ?? [];
  // The formatter makes columns of one width.
  const plain = (text: string): string => text.replaceAll(/ +/g, " ").replaceAll(/-+/g, "-").trim();
  const partOf = (name: string): string =>
    new RegExp(`<!-- ${name} -->([^]*)<!-- /${name} -->`).exec(guide)?.[1] ?? "";
  const how = "Run npx node packages/cli/scripts/write-reference.ts && npx oxfmt docs.";
  expect(plain(partOf("api commands")), how).toBe(plain(await apiCommandsText()));
  expect(plain(partOf("json")), how).toBe(plain(jsonOutputsText()));
  expect(plain(table), how).toBe(plain(settingsTable()));
  for (const [name, document] of Object.entries(referenceDocuments())) {
    const stored: unknown = JSON.parse(readFileSync(join(root, "docs/reference", name), "utf8"));
    expect(stored, how).toEqual(JSON.parse(JSON.stringify(document)));
  }
});

test("each command with --json has a shape that is published, and no other command has one", async () => {
  const namesOf = ({ commands: below }: CompletionCommand, parent = ""): string[] =>
    Object.entries(below).flatMap(([name, command]) => {
      const path = `${parent}${name}`;
      // The flag of a command that only has others below it is theirs.
      const printsJson = command.flags.some((flag) => flag.name === "--json") && path !== "rules";
      return [...(printsJson ? [path] : []), ...namesOf(command, `${path} `)];
    });
  expect(Object.keys(jsonOutputs).toSorted()).toEqual(namesOf(await describeCommands()).toSorted());
});
