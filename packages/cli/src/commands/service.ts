import { execFile } from "node:child_process";
import { existsSync, realpathSync } from "node:fs";
import { homedir } from "node:os";
import { dirname, join, sep } from "node:path";
import { promisify } from "node:util";
import { Option, type Command } from "commander";
import { CommandError, exitCodes } from "../exit-codes.ts";
import { readOwnUnit, removeUnit, unitPath, writeUnit } from "../service/unit-file.ts";
import { systemctl, systemctlLine } from "../service/systemctl.ts";
import { systemHome, unitName, unitText, type ServiceScope } from "../service/unit-text.ts";
import { parsePort } from "./parse-options.ts";
import { showSubcommands } from "./show-subcommands.ts";
import { printJson } from "../print/json.ts";

type ScopeOptions = { readonly user?: true; readonly system?: true };
type ChangeOptions = ScopeOptions & { readonly now?: true };
type InstallOptions = ChangeOptions & {
  readonly host?: string;
  readonly port?: number;
  readonly runAs: string;
};

/** `convoke service`: a server that systemd starts with the machine. */
export function addService(program: Command): void {
  const service = program.command("service").description("Run the server as a service of systemd");
  withScope(service.command("install"))
    .description("Write the unit, and print what starts it")
    .option("--host <address>", "address to listen on (default 127.0.0.1)")
    .option("--port <number>", "port to listen on (default 8000)", parsePort)
    .option("--run-as <user>", "whom a service of the system runs as", "convoke")
    .option("--now", "run the two commands of systemctl as well")
    .action(install);
  withScope(service.command("uninstall"))
    .description("Remove the unit; data and sandboxes stay")
    .option("--now", "run the two commands of systemctl as well")
    .action(uninstall);
  withScope(service.command("status"))
    .description("Say whether the unit is there and the server runs")
    .option("--json", 'print {"unit": ..., "enabled": ..., "active": ..., "pid": ...}')
    .action(status);
  showSubcommands(service);
}

function withScope(command: Command): Command {
  return command
    .exitOverride()
    .addOption(
      new Option("--user", "a service of the current user (default, except for root)").conflicts("system"),
    )
    .option("--system", "a service of the system");
}

function scopeOf({ user, system }: ScopeOptions): ServiceScope {
  if (user === true) return "user";
  return system === true || process.getuid?.() === 0 ? "system" : "user";
}

const packagedUnit = "/usr/lib/systemd/system/convoke.service";

async function install(options: InstallOptions): Promise<void> {
  const scope = scopeOf(options);
  if (scope === "system" && existsSync(packagedUnit)) {
    const detail = `The Debian package has brought ${packagedUnit}. Start that: systemctl enable --now ${unitName}`;
    throw new CommandError(detail, exitCodes.usage);
  }
  const command = commandOf(process.argv[1] ?? "");
  if (scope === "system") await requireUser(options.runAs);
  const path = ownPath(scope);
  const { host = null, port = null, runAs } = options;
  const isChanged = await writeUnit(path, unitText({ scope, command, user: runAs, host, port }));
  console.log(`Wrote ${path}`);
  const lines = [["daemon-reload"], ["enable", "--now", unitName]];
  if (options.now !== true) printLines(scope, lines);
  else for (const words of lines) await systemctl(scope, words);
  if (isChanged) {
    console.log(
      `A server that runs already takes the change with: ${systemctlLine(scope, ["restart", unitName])}`,
    );
  }
  if (scope === "user") console.log("It ends when you log out, unless you run: loginctl enable-linger");
}

async function uninstall(options: ChangeOptions): Promise<void> {
  const scope = scopeOf(options);
  const path = ownPath(scope);
  const isThere = (await readOwnUnit(path)) !== null;
  if (isThere && options.now === true) await systemctl(scope, ["stop", unitName]);
  if (!(await removeUnit(path))) {
    console.log(`There is no ${path}`);
    return;
  }
  console.log(`Removed ${path}`);
  if (options.now === true) await systemctl(scope, ["daemon-reload"]);
  else printLines(scope, [["stop", unitName], ["daemon-reload"]]);
  const data = scope === "system" ? systemHome : "~/.convoke";
  console.log(`Conversations and settings stay in ${data}`);
}

async function status({ json, ...options }: ScopeOptions & { readonly json?: true }): Promise<void> {
  const scope = scopeOf(options);
  const fields = ["LoadState", "FragmentPath", "UnitFileState", "ActiveState", "MainPID"];
  const printed = await systemctl(scope, ["show", `--property=${fields.join(",")}`, unitName]);
  const facts = Object.fromEntries(printed.split("\n").map((line) => line.split(/=(.*)/s, 2)));
  const isThere = facts["LoadState"] === "loaded";
  const found = {
    unit: isThere ? (facts["FragmentPath"] ?? null) : null,
    enabled: facts["UnitFileState"] === "enabled",
    active: facts["ActiveState"] === "active",
    pid: Number(facts["MainPID"]) || null,
  };
  if (json === true) printJson("service", found);
  else if (!isThere) console.log("not installed (convoke service install)");
  else {
    console.log(`unit     ${found.unit}`);
    console.log(`enabled  ${found.enabled ? "yes, it starts with the machine" : "no"}`);
    console.log(`active   ${facts["ActiveState"]}${found.pid === null ? "" : `, process ${found.pid}`}`);
  }
  if (!found.active) process.exitCode = exitCodes.failed;
}

function printLines(scope: ServiceScope, lines: readonly (readonly string[])[]): void {
  console.log(["Now run:", ...lines.map((words) => `  ${systemctlLine(scope, words)}`)].join("\n"));
}

function ownPath(scope: ServiceScope): string {
  return unitPath(scope, process.env, homedir());
}

/** This Node and this program: no launcher stands between systemd and the server, so signals reach it at once. */
function commandOf(script: string): string[] {
  const entry = realpathSync(script);
  const launched = join(dirname(entry), "bin.js");
  const program = existsSync(launched) ? launched : entry;
  if (program.split(sep).includes("_npx")) {
    const detail =
      "npx keeps this program in a cache that it empties. Install it first: npm install --global convoke";
    throw new CommandError(detail, exitCodes.usage);
  }
  return [realpathSync(process.execPath), "--disable-sigusr1", program];
}

async function requireUser(name: string): Promise<void> {
  try {
    await promisify(execFile)("getent", ["passwd", name]);
  } catch (error) {
    if ((error as { readonly code?: unknown }).code === "ENOENT") throw error;
    const make = `useradd --system --home-dir ${systemHome} --shell /usr/sbin/nologin ${name}`;
    throw new CommandError(
      `This machine has no user ${name}. Make one (${make}), or name another with --run-as.`,
      exitCodes.usage,
    );
  }
}
