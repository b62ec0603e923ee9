import { Type, type Static } from "typebox";
import { NetworkPolicy } from "../extensions/network-policy.ts";
import { choice, closedObject, object } from "../schema.ts";

export const ExtraFolder = closedObject("ExtraFolder", {
  path: Type.String({ minLength: 1, maxLength: 4096, description: "Absolute, of a folder that exists." }),
  mode: Type.Optional(choice(["ro", "rw"], { description: "`ro` unless given: read-only." })),
});
export type ExtraFolder = Static<typeof ExtraFolder>;

/** The wall around the tools of a conversation on the server's machine, where it differs from the server's own setting. */
export const WallRequest = closedObject("WallRequest", {
  kind: Type.Optional(
    choice(["bubblewrap", "docker", "off"], {
      description:
        "docker is a container of the server's image. With off the tools run as the server's user, for users of the machine only.",
    }),
  ),
  network: Type.Optional(NetworkPolicy),
  hide: Type.Optional(
    Type.Array(Type.String({ minLength: 1, maxLength: 200 }), {
      maxItems: 50,
      description: "Globs of files below the working folder that show empty inside, e.g. `.env`.",
    }),
  ),
  unlocked: Type.Optional(
    Type.Array(Type.String({ minLength: 1, maxLength: 100 }), {
      maxItems: 50,
      description:
        "Names of files and folders of the working folder that the agent may change although programs of its person run or obey them, e.g. `.vscode`.",
    }),
  ),
  extra_folders: Type.Optional(
    Type.Array(ExtraFolder, {
      maxItems: 20,
      description: "Folders that show inside at their own paths, for users of the machine only.",
    }),
  ),
});
export type WallRequest = Static<typeof WallRequest>;

/** What stands around the tools of a conversation on the server's machine. */
export const WallKind = choice(["bubblewrap", "docker", "none"]);
export type WallKind = Static<typeof WallKind>;

/** The wall that a conversation has. */
export const WallInfo = object("WallInfo", {
  kind: WallKind,
  network: NetworkPolicy,
  /** The tools run as root without capabilities, because the working folder is root's. */
  as_root: Type.Boolean(),
  limits: Type.Optional(
    choice(["group", "per-process"], {
      description:
        "With group the limits of memory, processors and processes hold for everything behind the wall together, with per-process for each process by itself.",
    }),
  ),
  hide: Type.Optional(Type.Array(Type.String())),
  unlocked: Type.Optional(Type.Array(Type.String())),
  extra_folders: Type.Optional(Type.Array(ExtraFolder)),
  left_behind: Type.Optional(
    Type.Integer({
      minimum: 0,
      description:
        "Files that the agent has left in the folder and that programs of its person would run later, as of the last search. Absent before the first one.",
    }),
  ),
  granted: Type.Optional(
    Type.Array(Type.String(), {
      description: "Hosts that the agent asked for and got, beside those of the network policy.",
    }),
  ),
});
export type WallInfo = Static<typeof WallInfo>;

/** Why a file runs by itself: an editor or shell obeys it, git does (hooks, settings, pointers), or a rebase runs commands when it continues. */
export const LeftBehindReason = choice(["starts_by_itself", "repository", "rebase"]);
export type LeftBehindReason = Static<typeof LeftBehindReason>;

/** A file that runs by itself, outside of the wall. */
export const LeftBehindFile = object("LeftBehindFile", {
  path: Type.String({ description: "Below the working folder." }),
  reason: LeftBehindReason,
  is_new: Type.Boolean({ description: "False for a file that was there before and has changed." }),
});

/** What an agent has left in its working folder that programs of its person would run later, outside of the wall. */
export const LeftBehind = object("LeftBehind", {
  files: Type.Array(LeftBehindFile, { description: "Sorted by path, the first hundred." }),
  count: Type.Integer({ minimum: 0 }),
  is_complete: Type.Boolean({ description: "False when the folder has more files than one search reads." }),
});
export type LeftBehind = Static<typeof LeftBehind>;
