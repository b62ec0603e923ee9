import type { DiffBase } from "@convoke/tool-host";
import type { machineRoutes } from "@convoke/protocol";
import type { RouteRequest, Handlers } from "../../../http/mount.ts";
import { Fault } from "../../../lib/fault.ts";
import type { FaceDeps } from "../../face-deps.ts";
import { onMachine, pathOf } from "./workspace-handler.ts";

/** What changed in a workspace. */
export function gitHandlers({ openAccess }: Pick<FaceDeps, "openAccess">) {
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
      json: await workspace.gitCommits(pathOf(request), request.query.limit ?? 50),
    })),
    getGitCommitChanges: onMachine(openAccess, async ({ workspace }, request) => ({
      json: await workspace.gitCommitChanges(pathOf(request), request.params.sha),
    })),
  } satisfies Partial<Handlers<typeof machineRoutes>>;
}

function refOf({ query }: RouteRequest): string | undefined {
  return typeof query["ref"] === "string" ? query["ref"] : undefined;
}

function baseOf(request: RouteRequest): DiffBase {
  const ref = refOf(request);
  const commit = request.query["commit"];
  if (typeof commit !== "string") return ref === undefined ? {} : { ref };
  if (ref === undefined) return { commit };
  throw new Fault("unusable", "ref_and_commit", "Send either ref or commit, not both.");
}
