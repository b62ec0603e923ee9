import { Type, type TSchema } from "typebox";
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

const number = Type.String({ pattern: "^[0-9]{1,9}$" });
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

/** The four routes below `base`; `named` has the parameters of the two without a number, and `what` is what has the history. */
function historyOf<
  Base extends string,
  Named extends { readonly params?: TSchema },
  Numbered extends TSchema,
>(base: Base, named: Named, numbered: Numbered, what: string) {
  return {
    list: {
      method: "GET",
      path: `${base}/revisions`,
      summary: `The revisions of ${what}, the newest first`,
      auth: true,
      ...named,
      query: page,
      responses: { ...ok("The revisions.", ProfileRevisionPage), ...missing, ...invalid },
    },
    compare: {
      method: "GET",
      path: `${base}/revisions/compare`,
      summary: `The fields that two revisions of ${what} have differently`,
      auth: true,
      ...named,
      query: compared,
      responses: { ...ok("The differences.", ProfileComparison), ...missing, ...invalid },
    },
    get: {
      method: "GET",
      path: `${base}/revisions/{number}`,
      summary: `One revision of ${what}, with its secrets masked`,
      auth: true,
      params: numbered,
      responses: { ...ok("The revision.", ProfileRevisionDetail), ...missing, ...invalid },
    },
    restore: {
      method: "POST",
      path: `${base}/revisions/{number}/restore`,
      summary: `Make an old revision of ${what} the newest one; its secrets come back too`,
      auth: true,
      params: numbered,
      responses: { ...ok("The newest revision.", ProfileRevision), ...missing, ...invalid },
    },
  } as const;
}

const name = Type.String({ pattern: "^[A-Za-z0-9][A-Za-z0-9._-]{0,63}$" });
const named = { params: Type.Object({ name }) };
const numbered = Type.Object({ name, number });
const models = historyOf("/api/profiles/{name}", named, numbered, "a stored model");
const agents = historyOf("/api/agent-profiles/{name}", named, numbered, "an agent profile");
const metas = historyOf("/api/meta-profiles/{name}", named, numbered, "a meta profile");
const connection_id = Type.String({ maxLength: 64 });
const connections = historyOf(
  "/api/llm/provider-connections/{connection_id}",
  { params: Type.Object({ connection_id }) },
  Type.Object({ connection_id, number }),
  "a connection",
);
const settings = historyOf("/api/settings", {}, Type.Object({ number }), "the caller's settings");

/** Our own: the history of stored models. */
export const modelRevisionRoutes = routesOf("Profiles", {
  listProfileRevisions: models.list,
  compareProfileRevisions: models.compare,
  getProfileRevision: models.get,
  restoreProfileRevision: models.restore,
});

/** Our own: the history of agent profiles. */
export const agentRevisionRoutes = routesOf("Agent profiles", {
  listAgentProfileRevisions: agents.list,
  compareAgentProfileRevisions: agents.compare,
  getAgentProfileRevision: agents.get,
  restoreAgentProfileRevision: agents.restore,
});

/** Our own: the history of meta profiles. */
export const metaRevisionRoutes = routesOf("Meta profiles", {
  listMetaProfileRevisions: metas.list,
  compareMetaProfileRevisions: metas.compare,
  getMetaProfileRevision: metas.get,
  restoreMetaProfileRevision: metas.restore,
});

/** Our own: the history of provider connections. */
export const connectionRevisionRoutes = routesOf("LLM", {
  listConnectionRevisions: connections.list,
  compareConnectionRevisions: connections.compare,
  getConnectionRevision: connections.get,
  restoreConnectionRevision: connections.restore,
});

/** Our own: the history of what the settings page saves, over whichever face. */
export const settingsRevisionRoutes = routesOf("Settings", {
  listSettingsRevisions: settings.list,
  compareSettingsRevisions: settings.compare,
  getSettingsRevision: settings.get,
  restoreSettingsRevision: settings.restore,
});
