import { resolve } from "node:path";
import type { StartConversationRequest } from "@convoke/protocol";
import { parseNetwork } from "@convoke/server/network";
import { CommandError, exitCodes } from "./exit-codes.ts";

export type WallOptions = {
  /** Set when a running server is used. */
  readonly server?: string;
  readonly sandbox?: string;
  readonly network?: string;
  readonly hide?: readonly string[];
  /** Paths; one with `:rw` behind it is writable. */
  readonly folder?: readonly string[];
  readonly unlock?: readonly string[];
};

/** What the wall of this conversation has beside the setting of its server. */
export function wallRequest(options: WallOptions): Pick<StartConversationRequest, "wall"> {
  const { server, sandbox, network, hide, folder, unlock } = options;
  const wall = {
    ...(hide === undefined ? {} : { hide: [...hide] }),
    ...(unlock === undefined ? {} : { unlocked: [...unlock] }),
    ...(folder === undefined ? {} : { extra_folders: folder.map(toExtraFolder) }),
    // A server of our own is started with them.
    ...(server === undefined || network === undefined ? {} : { network: readNetwork(network) }),
    ...(server === undefined || sandbox === undefined || sandbox === "auto"
      ? {}
      : { kind: sandbox as "bubblewrap" | "docker" | "off" }),
  };
  return Object.keys(wall).length === 0 ? {} : { wall };
}

function readNetwork(text: string): ReturnType<typeof parseNetwork> {
  try {
    return parseNetwork(text);
  } catch (error) {
    throw new CommandError(
      `--network: ${error instanceof Error ? error.message : String(error)}`,
      exitCodes.usage,
    );
  }
}

function toExtraFolder(text: string): { readonly path: string; readonly mode: "ro" | "rw" } {
  const [, path = text, mode = "ro"] = /^(.+):(ro|rw)$/.exec(text) ?? [];
  return { path: resolve(path), mode: mode as "ro" | "rw" };
}
