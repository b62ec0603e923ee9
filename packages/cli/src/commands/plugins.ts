import { resolve } from "node:path";
import type { InstalledPluginResponse } from "@convoke/protocol";
import type { Command } from "commander";
import { openApi, withServer, type ApiOptions } from "../api/server-command.ts";
import { printJson } from "../print/json.ts";
import { printable } from "../print/printable.ts";
import {
  printChanges,
  printPlugin,
  printPlugins,
  printPreview,
  toPluginLine,
} from "../print/plugin-lines.ts";
import { confirm } from "./confirm.ts";
import { parseDuration } from "./parse-options.ts";
import { showSubcommands } from "./show-subcommands.ts";

type ChangeOptions = ApiOptions & { readonly yes?: true; readonly dryRun?: true };
type AddOptions = ChangeOptions & {
  readonly ref?: string;
  readonly path?: string;
  readonly force?: true;
  readonly timeout?: number;
};

/** `convoke plugins`: what conversations may be given by its name. */
export function addPlugins(program: Command): void {
  const plugins = program
    .command("plugins")
    .description("List, add, update and remove plugins; each is shown before it is used");
  withServer(plugins.command("ls").description("List the installed plugins")).action(list);
  withServer(
    plugins
      .command("add")
      .description("Show a plugin, and install exactly what was shown")
      .argument(
        "<source>",
        "a folder of the server's machine, an https:// address of a git repository, or github:owner/repository",
      )
      .option("--ref <name>", "branch, tag or commit of the repository; update follows it")
      .option("--path <folder>", "the folder of the plugin in the repository")
      .option("--force", "replace an installed plugin of the same name")
      .option("--timeout <duration>", "max time of the fetch: 90s, 5m (default 60s)", parseDuration)
      .option("--dry-run", "show it, and install nothing")
      .option("--yes", "do not ask"),
  ).action(add);
  withName(plugins, "show", "Show an installed plugin").action(show);
  withName(plugins, "update", "Show what has changed at its source, and use exactly that")
    .option("--dry-run", "show what has changed, and use nothing of it")
    .option("--yes", "do not ask")
    .action(update);
  withName(plugins, "enable", "Switch an installed plugin on").action((name: string, options: ApiOptions) =>
    toggle(name, true, options),
  );
  withName(plugins, "disable", "Switch an installed plugin off; conversations that have it keep it").action(
    (name: string, options: ApiOptions) => toggle(name, false, options),
  );
  withName(plugins, "rm", "Remove an installed plugin and its copy; a folder stays")
    .option("--yes", "do not ask")
    .action(rm);
  showSubcommands(plugins);
}

const path = "/api/plugins/installed/{plugin_name}";

function withName(plugins: Command, name: string, description: string): Command {
  return withServer(plugins.command(name).description(description).argument("<name>", "name of the plugin"));
}

async function list(options: ApiOptions): Promise<void> {
  await using opened = await openApi(options);
  const { plugins } = await opened.client.call("GET /api/plugins/installed");
  if (options.json === true) for (const plugin of plugins) printJson("plugin", toPluginLine(plugin));
  else printPlugins(plugins);
}

async function add(given: string, options: AddOptions): Promise<void> {
  const { ref, path: inside, force, timeout, dryRun } = options;
  const place = {
    source: toSource(given),
    ...(inside === undefined ? {} : { repo_path: inside }),
  };
  await using opened = await openApi(options);
  const preview = await opened.client.call("POST /api/plugins/fetch", {
    body: {
      ...place,
      ...(ref === undefined ? {} : { ref }),
      ...(timeout === undefined ? {} : { timeout }),
    },
    timeoutMs: requestTimeoutMs(timeout),
  });
  printPreview(preview, options);
  if (dryRun === true) return;
  await confirm(
    { lines: [], question: "Install it?", purpose: "install it", refusal: "Nothing was installed." },
    options,
  );
  const commit = preview.resolved_ref ?? null;
  const installed = await opened.client.call("POST /api/plugins/install", {
    body: {
      ...place,
      ...(commit === null ? {} : { ref: commit }),
      ...(commit === null || ref === undefined ? {} : { requested_ref: ref }),
      force: force === true,
    },
    timeoutMs: requestTimeoutMs(timeout),
  });
  report(installed, `Installed ${installed.name}.`, options);
}

async function show(name: string, options: ApiOptions): Promise<void> {
  await using opened = await openApi(options);
  printPlugin(await opened.client.call(`GET ${path}`, { params: { plugin_name: name } }), options);
}

async function update(name: string, options: ChangeOptions): Promise<void> {
  await using opened = await openApi(options);
  const refresh = (body: { readonly dry_run?: true; readonly commit?: string }) =>
    opened.client.call(`POST ${path}/refresh`, {
      params: { plugin_name: name },
      body,
      timeoutMs: requestTimeoutMs(undefined),
    });
  const { plugin, changes = null } = await refresh({ dry_run: true });
  if (changes !== null && changes.from === changes.to)
    return report(plugin, `${name} is at the newest commit.`, options);
  if (changes !== null) printChanges(name, changes, options);
  if (options.dryRun === true) return;
  // A folder is read where it is: there are no two commits to compare.
  if (changes !== null)
    await confirm(
      { lines: [], question: "Use it?", purpose: "use it", refusal: "Nothing was changed." },
      options,
    );
  const used = await refresh(changes === null ? {} : { commit: changes.to });
  report(used.plugin, used.message, options);
}

async function toggle(name: string, enabled: boolean, options: ApiOptions): Promise<void> {
  await using opened = await openApi(options);
  const params = { plugin_name: name };
  await opened.client.call(`PATCH ${path}`, { params, body: { enabled } });
  const plugin = await opened.client.call(`GET ${path}`, { params });
  report(plugin, `${name} is ${enabled ? "on" : "off"}.`, options);
}

async function rm(name: string, options: ChangeOptions): Promise<void> {
  await using opened = await openApi(options);
  const params = { plugin_name: name };
  const { version = "", source } = await opened.client.call(`GET ${path}`, { params });
  await confirm(
    {
      lines: [[name, version, source].filter((text) => text !== "").join("  ")],
      question: "Remove this plugin?",
      purpose: "remove it",
      refusal: "Nothing was removed.",
    },
    options,
  );
  await opened.client.call(`DELETE ${path}`, { params });
  if (options.json === true) printJson("plugin_rm", { name, removed: true });
  else console.log(printable(`Removed ${name}.`));
}

function report(plugin: InstalledPluginResponse, message: string, options: ApiOptions): void {
  if (options.json === true) printJson("plugin", toPluginLine(plugin));
  else console.log(printable(message));
}

/** A folder of this machine is named in full; what names a host stays as it is. */
function toSource(given: string): string {
  return given.includes(":") ? given : resolve(given);
}

/** Longer than the server gives git, so that the server says what is wrong. */
function requestTimeoutMs(timeoutSeconds: number | undefined): number {
  return ((timeoutSeconds ?? 60) + 30) * 1_000;
}
