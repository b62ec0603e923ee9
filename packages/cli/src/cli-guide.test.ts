import { globSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { Command } from "commander";
import { expect, test } from "vitest";
import { addAttach } from "./commands/attach.ts";
import { addAudit } from "./commands/audit.ts";
import { addBackup } from "./commands/backup.ts";
import { addDemo } from "./commands/demo.ts";
import { addDoctor } from "./commands/doctor.ts";
import { addOpen } from "./commands/open.ts";
import { addInspect } from "./commands/inspect.ts";
import { addKeys } from "./commands/keys.ts";
import { addReplay } from "./commands/replay.ts";
import { addRestore } from "./commands/restore.ts";
import { addRules } from "./commands/rules.ts";
import { addRun } from "./commands/run.ts";
import { addScriptedModel } from "./commands/scripted-model.ts";
import { addServe } from "./commands/serve.ts";
import { addStore } from "./commands/store.ts";
import { addToolHost } from "./commands/tool-host.ts";

const root = join(import.meta.dirname, "../../..");
const guide = readFileSync(join(root, "docs/guides/cli.md"), "utf8");
const all = [
  addServe,
  addOpen,
  addRun,
  addAttach,
  addDemo,
  addDoctor,
  addBackup,
  addRestore,
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

test("the guide to the command line names every setting", () => {
  const sources = globSync("packages/{server/src/boot/config*,cli/src/commands/*}.ts", { cwd: root })
    .filter((file) => !file.endsWith(".test.ts"))
    .map((file) => readFileSync(join(root, file), "utf8"));
  const named = sources
    .flatMap((text) => text.match(/"(CONVOKE|OH)_[A-Z_]+"/g) ?? [])
    .map((name) => name.slice(1, -1));
  expect(named.length).toBeGreaterThan(10);
  // Those of sandboxes have a table in their own guide.
  const missing = named.filter((name) => !name.startsWith("CONVOKE_SANDBOX_") && !guide.includes(name));
  expect(missing).toEqual([]);
});
