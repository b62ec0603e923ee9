import { Type } from "typebox";
import { invalid } from "../routes/responses.ts";
import { ok } from "../routes/ok.ts";
import { routesOf } from "../routes/route.ts";
import { orAbsent, ref } from "../schema.ts";
import { GitChange, GitDiff } from "../workspace/git.ts";
import { appConversationParams as params } from "./list-parameters.ts";
import { noSuch, refusal } from "./refusals.ts";

const prefix = "/api/v1/app-conversations/{conversation_id}";
const git = Type.Object({
  path: Type.String({ description: "Absolute, or relative to the conversation's working directory." }),
  ref: orAbsent(Type.String({ description: "Compare with this instead of what the branch started from." })),
});
const missing = noSuch("conversation");
const unavailable = {
  ...refusal(409, "The sandbox is starting or paused."),
  ...refusal(410, "The sandbox does not exist any more."),
  ...refusal(503, "The sandbox has failed."),
};

/** Files in the sandbox of a conversation, and the conversation as files. */
export const appWorkspaceRoutes = routesOf("App workspace", {
  readAppFile: {
    method: "GET",
    path: `${prefix}/file`,
    summary: "The text of one file; empty when it cannot be read",
    auth: true,
    params,
    query: Type.Object({
      file_path: Type.Optional(Type.String({ default: "/workspace/project/PLAN.md" })),
    }),
    responses: { ...ok("The text.", Type.String()), ...missing, ...invalid },
  },
  getAppGitChanges: {
    method: "GET",
    path: `${prefix}/git/changes`,
    summary: "The files that differ from what the branch started from",
    auth: true,
    params,
    query: git,
    responses: {
      ...ok("The changed files.", Type.Array(ref(GitChange))),
      ...missing,
      ...unavailable,
      ...invalid,
    },
  },
  getAppGitDiff: {
    method: "GET",
    path: `${prefix}/git/diff`,
    summary: "Both sides of one changed file",
    auth: true,
    params,
    query: git,
    responses: { ...ok("Both texts.", GitDiff), ...missing, ...unavailable, ...invalid },
  },
  downloadAppConversation: {
    method: "GET",
    path: `${prefix}/download`,
    summary: "The conversation as a zip file: `meta.json`, and each event in a file of its own",
    auth: true,
    params,
    responses: {
      200: { description: "A zip file." },
      ...missing,
      ...refusal(413, "The conversation has more than 10,000 events."),
      ...refusal(429, "This conversation is being downloaded already."),
      ...invalid,
    },
  },
});
