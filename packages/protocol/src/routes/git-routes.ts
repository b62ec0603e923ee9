import { Type } from "typebox";
import { orAbsent, ref } from "../schema.ts";
import { GitCommitsPage } from "../workspace/commits.ts";
import { GitChange, GitDiff } from "../workspace/git.ts";
import { invalid, machineRefusals, pathRefusals } from "./responses.ts";
import { ok } from "./ok.ts";
import { routesOf } from "./route.ts";

const prefix = "/api/git";
const sha = Type.String({ pattern: "^[0-9a-fA-F]{4,64}$" });
const path = Type.String();
const reference = orAbsent(
  Type.String({ description: "Compare with this instead of what the branch started from." }),
);
const inPath = {
  params: Type.Object({ path: Type.String({ format: "path" }) }),
  restParameter: "path",
} as const;

const changes = {
  method: "GET",
  summary:
    "The files below a directory that differ from what the branch started from; none where there is no repository",
  auth: true,
  responses: {
    ...ok("The files.", Type.Array(ref(GitChange))),
    ...machineRefusals,
    ...pathRefusals,
    ...invalid,
  },
} as const;
const diff = {
  method: "GET",
  summary: "Both sides of one file; null where there is no repository",
  auth: true,
  responses: { ...ok("Both texts.", GitDiff), ...machineRefusals, ...pathRefusals, ...invalid },
} as const;

/** Changes in a workspace. Source: agent server 0.1.0 (path forms) and 1.43 (query forms). */
export const gitRoutes = routesOf("Git", {
  getGitChanges: { ...changes, path: `${prefix}/changes`, query: Type.Object({ path, ref: reference }) },
  getGitChangesByPath: { ...changes, path: `${prefix}/changes/{path}`, ...inPath },
  getGitDiff: {
    ...diff,
    path: `${prefix}/diff`,
    query: Type.Object({ path, ref: reference, commit: orAbsent(sha) }),
  },
  getGitDiffByPath: { ...diff, path: `${prefix}/diff/{path}`, ...inPath },
  getGitCommits: {
    method: "GET",
    path: `${prefix}/commits`,
    summary: "The newest commits of the branch; none where there is no repository",
    auth: true,
    query: Type.Object({
      path,
      limit: Type.Optional(Type.Integer({ minimum: 1, maximum: 200, default: 50 })),
    }),
    responses: { ...ok("The commits.", GitCommitsPage), ...machineRefusals, ...pathRefusals, ...invalid },
  },
  getGitCommitChanges: {
    method: "GET",
    path: `${prefix}/commits/{sha}/changes`,
    summary: "The files that a commit changed",
    auth: true,
    params: Type.Object({ sha }),
    query: Type.Object({ path }),
    responses: {
      ...ok("The files.", Type.Array(ref(GitChange))),
      ...machineRefusals,
      ...pathRefusals,
      ...invalid,
    },
  },
});
