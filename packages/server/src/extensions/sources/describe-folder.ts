import { posix } from "node:path";
import { hookMoments, type HookMoment, type HookSettings } from "../hooks/hook-config.ts";
import { readServers } from "../mcp/read-servers.ts";
import { loadPlugin, type PluginParts } from "../plugins/load-plugin.ts";
import { loadSkillFolder } from "../skills/load-skills.ts";
import type { WorkspaceFiles } from "../skills/workspace-files.ts";
import { hideUrl } from "../../settings/secret-fields.ts";
import type { CopiedFile } from "./folder-content.ts";
import { readManifest } from "../plugins/read-plugin.ts";
import type { JsonObject } from "../../lib/json-object.ts";

/** Something of a folder that a person should know before it is used. */
export type FolderNote = { readonly code: string; readonly detail: string };

/** What a plugin would bring into a conversation, for people. Values of environments and headers are left out. */
export type PluginContents = {
  readonly skills: readonly { readonly name: string; readonly description: string | null }[];
  readonly commands: readonly string[];
  readonly agents: readonly { readonly name: string; readonly description: string }[];
  readonly hooks: readonly { readonly event: string; readonly matcher: string; readonly runs: string }[];
  readonly mcp_servers: readonly {
    readonly name: string;
    readonly transport: string;
    readonly target: string;
  }[];
};

/** The manifest as it was written, and the parts; otherwise why the folder is no usable plugin. */
export type DescribedPlugin =
  | {
      readonly ok: true;
      readonly parts: PluginParts;
      readonly manifest: JsonObject;
      readonly contents: PluginContents;
      readonly notes: readonly FolderNote[];
    }
  | { readonly ok: false; readonly reason: string };

const maxShown = 300;

export async function describePlugin(files: WorkspaceFiles, directory: string): Promise<DescribedPlugin> {
  const loaded = await loadPlugin(files, directory);
  if (!loaded.ok) return loaded;
  const { parts } = loaded;
  const commands = await loadSkillFolder(files, posix.join(directory, "commands"));
  const called = new Set(commands.skills.map(({ name }) => `${parts.name}:${name}`));
  const contents: PluginContents = {
    skills: parts.skills
      .filter(({ name }) => !called.has(name))
      .map(({ name, description }) => ({ name, description: description ?? null })),
    commands: [...called],
    agents: parts.agents.map(({ name, description }) => ({ name, description: description ?? "" })),
    hooks: parts.hooks === null ? [] : hooksOf(parts.hooks),
    mcp_servers: readServers(parts.mcpServers, []).servers.map((server) => ({
      name: server.name,
      transport: server.transport,
      target: (server.transport === "stdio"
        ? [server.command, ...server.args].join(" ")
        : hideUrl(server.url)
      ).slice(0, maxShown),
    })),
  };
  // It was read before, as the manifest of a plugin that can be used.
  const manifest = (await readManifest(files, directory)) ?? {};
  return { ok: true, parts, manifest, contents, notes: notesOf(parts, contents) };
}

/** What of the files of a copy deserves a note. */
export function noteFiles(files: readonly CopiedFile[], submodules: readonly string[]): FolderNote[] {
  const notes: FolderNote[] = [];
  const note = (code: string, detail: string, paths: readonly string[]): void => {
    if (paths.length > 0) notes.push({ code, detail: `${detail}: ${paths.slice(0, 10).join(", ")}.` });
  };
  const paths = (wanted: (file: CopiedFile) => boolean): string[] =>
    files.filter(wanted).map(({ path }) => path);
  note(
    "has_programs",
    "It has files that can be run as programs",
    paths(({ isExecutable }) => isExecutable),
  );
  note("submodules_left_out", "Repositories inside of it are not fetched", submodules);
  note(
    "large_files_left_out",
    "These are pointers of Git LFS, whose files are not fetched",
    paths(({ bytes }) => bytes.byteLength < 1_024 && bytes.toString("latin1").startsWith(lfsHead)),
  );
  return notes;
}

const lfsHead = "version https://git-lfs.github.com/spec/";

function notesOf({ problems }: PluginParts, contents: PluginContents): FolderNote[] {
  const { hooks, mcp_servers: servers } = contents;
  const local = servers.filter(({ transport }) => transport === "stdio");
  const remote = servers.filter(({ transport }) => transport !== "stdio");
  const names = (all: readonly { readonly name: string }[]): string => all.map(({ name }) => name).join(", ");
  const notes: FolderNote[] = [];
  const note = (code: string, isTrue: boolean, detail: string): void => {
    if (isTrue) notes.push({ code, detail });
  };
  note("has_hooks", hooks.length > 0, `It has ${hooks.length} hooks, which run at events of a conversation.`);
  note("starts_servers", local.length > 0, `It starts programs as MCP servers: ${names(local)}.`);
  note("calls_servers", remote.length > 0, `It calls MCP servers elsewhere: ${names(remote)}.`);
  for (const { path, reason } of problems)
    note(
      "file_left_out",
      true,
      `${posix.basename(posix.dirname(path))}/${posix.basename(path)} is no skill: ${reason}`,
    );
  return notes;
}

function hooksOf(settings: HookSettings): PluginContents["hooks"] {
  return (Object.keys(hookMoments) as HookMoment[]).flatMap((moment) =>
    settings[moment].flatMap(({ matcher, hooks }) =>
      hooks.map(({ type, command, prompt }) => ({
        event: hookMoments[moment],
        matcher,
        runs: (type === "command" ? command : `${type}: ${prompt ?? ""}`).slice(0, maxShown),
      })),
    ),
  );
}
