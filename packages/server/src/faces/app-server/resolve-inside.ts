import { posix } from "node:path";
import { Fault } from "../../lib/fault.ts";

/** The path under which clients expect the workspace, whatever it is inside. */
export const usualWorkspace = "/workspace";

export type InsidePlaces = {
  /** Absolute, as the tool host has it. */
  readonly workspaceDir: string;
  /** Absolute; relative paths begin there. */
  readonly workingDir: string;
  /** Absolute; nothing outside of it is shown. */
  readonly root: string;
};

/** A path of a client as the tool host has it. Throws a Fault for one that leads out of the root (P31). */
export function resolveInside(path: string, { workspaceDir, workingDir, root }: InsidePlaces): string {
  const isUsual = path === usualWorkspace || path.startsWith(`${usualWorkspace}/`);
  const moved =
    isUsual && workspaceDir !== usualWorkspace ? workspaceDir + path.slice(usualWorkspace.length) : path;
  const full = posix.resolve(workingDir, moved);
  if (full === root || full.startsWith(`${root}/`)) return full;
  throw new Fault("caller", "outside_workspace", "Outside of the workspace nothing is shown.", [
    { loc: ["query", "path"], msg: "Send a path inside the workspace.", type: "value_error" },
  ]);
}
