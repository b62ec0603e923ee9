import { Type } from "typebox";
import { ErrorReply } from "../requests/replies.ts";
import { orAbsent } from "../schema.ts";
import {
  ProfileComparison,
  ProfileRevision,
  ProfileRevisionDetail,
  ProfileRevisionPage,
} from "../settings/profile-revision.ts";
import { invalid } from "./responses.ts";
import { ok } from "./ok.ts";
import { routesOf } from "./route.ts";

const name = Type.String({ pattern: "^[A-Za-z0-9][A-Za-z0-9._-]{0,63}$" });
const params = Type.Object({ name });
const numbered = Type.Object({ name, number: Type.String({ pattern: "^[0-9]{1,9}$" }) });
const whole = Type.Integer({ minimum: 0, maximum: 999_999_999 });
const missing = {
  404: { description: "There is no such profile or revision.", schema: ErrorReply },
} as const;
const page = Type.Object({
  limit: Type.Optional(Type.Integer({ minimum: 1, maximum: 100, default: 50 })),
  page_id: orAbsent(
    Type.String({ pattern: "^[0-9]{1,9}$", description: "The next_page_id of the page before." }),
  ),
});
const compared = Type.Object({ from: whole, to: whole });

/** Our own: the history of stored models. */
export const modelRevisionRoutes = routesOf("Profiles", {
  listProfileRevisions: {
    method: "GET",
    path: "/api/profiles/{name}/revisions",
    summary: "The revisions of a stored model, the newest first",
    auth: true,
    params,
    query: page,
    responses: { ...ok("The revisions.", ProfileRevisionPage), ...missing, ...invalid },
  },
  compareProfileRevisions: {
    method: "GET",
    path: "/api/profiles/{name}/revisions/compare",
    summary: "The fields that two revisions of a stored model have differently",
    auth: true,
    params,
    query: compared,
    responses: { ...ok("The differences.", ProfileComparison), ...missing, ...invalid },
  },
  getProfileRevision: {
    method: "GET",
    path: "/api/profiles/{name}/revisions/{number}",
    summary: "One revision of a stored model, with its secrets masked",
    auth: true,
    params: numbered,
    responses: { ...ok("The revision.", ProfileRevisionDetail), ...missing, ...invalid },
  },
  restoreProfileRevision: {
    method: "POST",
    path: "/api/profiles/{name}/revisions/{number}/restore",
    summary: "Make an old revision of a stored model the newest one; its secrets come back too",
    auth: true,
    params: numbered,
    responses: { ...ok("The newest revision.", ProfileRevision), ...missing, ...invalid },
  },
});

/** Our own: the history of agent profiles. */
export const agentRevisionRoutes = routesOf("Agent profiles", {
  listAgentProfileRevisions: {
    method: "GET",
    path: "/api/agent-profiles/{name}/revisions",
    summary: "The revisions of an agent profile, the newest first",
    auth: true,
    params,
    query: page,
    responses: { ...ok("The revisions.", ProfileRevisionPage), ...missing, ...invalid },
  },
  compareAgentProfileRevisions: {
    method: "GET",
    path: "/api/agent-profiles/{name}/revisions/compare",
    summary: "The fields that two revisions of an agent profile have differently",
    auth: true,
    params,
    query: compared,
    responses: { ...ok("The differences.", ProfileComparison), ...missing, ...invalid },
  },
  getAgentProfileRevision: {
    method: "GET",
    path: "/api/agent-profiles/{name}/revisions/{number}",
    summary: "One revision of an agent profile",
    auth: true,
    params: numbered,
    responses: { ...ok("The revision.", ProfileRevisionDetail), ...missing, ...invalid },
  },
  restoreAgentProfileRevision: {
    method: "POST",
    path: "/api/agent-profiles/{name}/revisions/{number}/restore",
    summary: "Make an old revision of an agent profile the newest one",
    auth: true,
    params: numbered,
    responses: { ...ok("The newest revision.", ProfileRevision), ...missing, ...invalid },
  },
});
