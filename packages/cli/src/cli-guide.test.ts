import { readFileSync } from "node:fs";
import { join } from "node:path";
import { Command } from "commander";
import { expect, test } from "vitest";
import { addAcp } from "./commands/acp.ts";
import { addAttach } from "./commands/attach.ts";
import { addAudit } from "./commands/audit.ts";
import { addBackup } from "./commands/backup.ts";
import { addConfig } from "./commands/config.ts";
import { addDemo } from "./commands/demo.ts";
import { addDoctor } from "./commands/doctor.ts";
import { addMcp } from "./commands/mcp.ts";
import { addOpen } from "./commands/open.ts";
import { addInspect } from "./commands/inspect.ts";
import { addKeys } from "./commands/keys.ts";
import { addReplay } from "./commands/replay.ts";
import { addRules } from "./commands/rules.ts";
import { addRun } from "./commands/run.ts";
import { addScriptedModel } from "./commands/scripted-model.ts";
import { addServe } from "./commands/serve.ts";
import { addStore } from "./commands/store.ts";
import { addToolHost } from "./commands/tool-host.ts";
import { settingsTable } from "./configuration/settings-table.ts";
import { referenceDocuments } from "./reference-documents.ts";

const root = join(import.meta.dirname, "../../..");
const guide = readFileSync(join(root, "docs/guides/cli.md"), "utf8");
const all = [
  addServe,
  addOpen,
  addRun,
  addAcp,
  addMcp,
  addAttach,
  addDemo,
  addConfig,
  addDoctor,
  addBackup,
  addKeys,
  addAudit,
  addRules,
  addStore,
  addInspect,
  addReplay,
  addToolHost,
  addScriptedModel,
];

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

test("the guide to the configuration has the table of settings, and docs/reference is as the sources say", () => {
  const configuration = readFileSync(join(root, "docs/guides/configuration.md"), "utf8");
  const [, table = ""] = /<!-- settings -->([^]*)<!-- \/settings -->/.exec(configuration) ?? [];
  // The formatter makes columns of one width.
  const plain = (text: string): string => text.replaceAll(/ +/g, " ").replaceAll(/-+/g, "-").trim();
  const how = "Run npx node packages/cli/scripts/write-reference.ts && npx oxfmt docs.";
  expect(plain(table), how).toBe(plain(settingsTable()));
  for (const [name, document] of Object.entries(referenceDocuments())) {
    const written: unknown = JSON.parse(readFileSync(join(root, "docs/reference", name), "utf8"));
    expect(written, how).toEqual(JSON.parse(JSON.stringify(document)));
  }
});
