import type { DiffBase } from "@convoke/tool-host";
import type { RouteHandler, RouteRequest } from "../../../http/mount.ts";
import { Fault } from "../../../lib/fault.ts";
import type { OpenAccess } from "../../../workspaces/workspace-access.ts";
import { onMachine, pathOf } from "./workspace-handler.ts";

export type GitRouteDeps = { readonly openAccess: OpenAccess };

/** What changed in a workspace. */
export function gitHandlers({ openAccess }: GitRouteDeps) {
  const changes = onMachine(openAccess, async ({ workspace }, request) => ({
    json: await workspace.gitChanges(pathOf(request), refOf(request)),
  }));
  const diff = onMachine(openAccess, async ({ workspace }, request) => ({
    json: await workspace.gitDiff(pathOf(request), baseOf(request)),
  }));
  return {
    getGitChanges: changes,
    getGitChangesByPath: changes,
    getGitDiff: diff,
    getGitDiffByPath: diff,
    getGitCommits: onMachine(openAccess, async ({ workspace }, request) => ({
      json: await workspace.gitCommits(pathOf(request), (request.query["limit"] as number | undefined) ?? 50),
    })),
    getGitCommitChanges: onMachine(openAccess, async ({ workspace }, request) => ({
      json: await workspace.gitCommitChanges(pathOf(request), request.params["sha"] ?? ""),
    })),
  } satisfies Record<string, RouteHandler>;
}

function refOf({ query }: RouteRequest): string | undefined {
  return typeof query["ref"] === "string" ? query["ref"] : undefined;
}

function baseOf(request: RouteRequest): DiffBase {
  const ref = refOf(request);
  const { commit } = request.query;
  if (typeof commit !== "string") return ref === undefined ? {} : { ref };
  if (ref === undefined) return { commit };
  throw new Fault("unusable", "ref_and_commit", "Send either ref or commit, not both.");
}
