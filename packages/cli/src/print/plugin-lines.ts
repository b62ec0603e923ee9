import type { FetchPluginResponse, InstalledPluginResponse, SourceChanges } from "@convoke/protocol";
import type { JsonLine } from "../json-shapes.ts";
import { printJson } from "./json.ts";
import { printable } from "./printable.ts";
import { printTable } from "./table.ts";

type Printing = { readonly json?: true };

/** What names a commit for people, as git shortens it. */
const shortLength = 12;
const maxFilesShown = 50;

export function toPluginLine(plugin: InstalledPluginResponse): JsonLine<"plugin"> {
  const { name, version = "", description = "", enabled = true, source } = plugin;
  return {
    name,
    version,
    description,
    enabled,
    source,
    repo_path: plugin.repo_path ?? null,
    requested_ref: plugin.requested_ref ?? null,
    resolved_ref: plugin.resolved_ref ?? null,
    digest: plugin.digest ?? null,
    installed_at: plugin.installed_at,
    install_path: plugin.install_path,
  };
}

export function printPlugins(plugins: readonly InstalledPluginResponse[]): void {
  if (plugins.length === 0) return console.log("No plugins are installed. See convoke plugins add --help.");
  const rows = plugins.map((plugin) => [
    plugin.name,
    plugin.version ?? "",
    plugin.enabled === false ? "off" : "on",
    plugin.resolved_ref?.slice(0, shortLength) ?? "",
    sourceOf(plugin),
  ]);
  const headings = ["NAME", "VERSION", "STATE", "COMMIT"].map((heading) => ({ heading }));
  printTable([...headings, { heading: "SOURCE", isCut: true }], rows);
}

export function printPlugin(plugin: InstalledPluginResponse, { json }: Printing): void {
  if (json === true) printJson("plugin", toPluginLine(plugin));
  else console.log(pluginText(plugin));
}

export function pluginText(plugin: InstalledPluginResponse): string {
  const {
    name,
    version = "",
    description = "",
    enabled,
    installed_at: at,
    skills,
    requested_ref: ref,
  } = plugin;
  const isOff = enabled === false;
  return rowsText(`${name} ${version}`.trimEnd(), [
    ["what", description],
    ["state", isOff ? "off; convoke plugins enable switches it on" : "on"],
    ["source", sourceOf(plugin)],
    ["follows", ref ?? ""],
    ["commit", plugin.resolved_ref ?? ""],
    ["since", at],
    ["folder", plugin.install_path],
    ["skills", (skills ?? []).map((skill) => skill.name).join(", ")],
  ]);
}

/** What a plugin would bring, before anything of it is used. */
export function printPreview(preview: FetchPluginResponse, { json }: Printing): void {
  if (json === true) {
    const { resolved_ref = null, digest = null, repo_path = null, ...rest } = preview;
    const { warnings = [], files = [], agents = [], hooks = [], mcp_servers = [] } = rest;
    const { name, version, description, source, skills, commands } = rest;
    const heads = { name, version, description, source, repo_path, resolved_ref, digest };
    return printJson("plugin_preview", {
      ...heads,
      skills,
      commands,
      agents,
      hooks,
      mcp_servers,
      warnings,
      files,
    });
  }
  console.log(previewText(preview));
}

export function previewText(preview: FetchPluginResponse): string {
  const { name, version, description, skills, commands, agents = [], hooks = [], files = [] } = preview;
  return rowsText(`${name} ${version}`.trimEnd(), [
    ["what", description],
    ["source", sourceOf(preview)],
    ["commit", preview.resolved_ref ?? ""],
    ["skills", skills.join(", ")],
    ["commands", commands.map((command) => `/${command}`).join(", ")],
    ["agents", agents.map((agent) => agent.name).join(", ")],
    ...hooks.map(({ event, matcher, runs }) => ["hook", `${event} ${matcher}: ${runs}`] as const),
    ...(preview.mcp_servers ?? []).map((server) => ["server", `${server.name}: ${server.target}`] as const),
    ...files.slice(0, maxFilesShown).map(fileRow),
    ["", files.length > maxFilesShown ? `and ${files.length - maxFilesShown} more files` : ""],
    ...(preview.warnings ?? []).map(({ detail }) => ["note", detail] as const),
  ]);
}

/** What differs between the installed commit and the one that would be used. */
export function printChanges(name: string, changes: SourceChanges, { json }: Printing): void {
  if (json === true) printJson("plugin_changes", { name, ...changes });
  else console.log(changesText(name, changes));
}

export function changesText(name: string, changes: SourceChanges): string {
  const { from, to, added, changed, removed } = changes;
  return rowsText(`${name} ${from.slice(0, shortLength)} -> ${to.slice(0, shortLength)}`, [
    ...added.map((path) => ["added", path] as const),
    ...changed.map((path) => ["changed", path] as const),
    ...removed.map((path) => ["removed", path] as const),
  ]);
}

type Row = readonly [label: string, text: string];

function fileRow({ path, is_executable: isProgram }: { path: string; is_executable: boolean }): Row {
  return ["file", isProgram ? `${path} (a program)` : path];
}

/** Rows without a text are left out. */
function rowsText(title: string, rows: readonly Row[]): string {
  const shown = rows.filter(([, text]) => text !== "");
  const width = Math.max(...shown.map(([label]) => label.length), 0);
  const lines = shown.map(
    ([label, text]) => `  ${label.padEnd(width)}  ${text.replaceAll(/\s+/g, " ").trim()}`,
  );
  return printable([title, ...lines].join("\n"));
}

function sourceOf({ source, repo_path: inside }: { source: string; repo_path?: string | null }): string {
  return inside ? `${source} ${inside}` : source;
}
