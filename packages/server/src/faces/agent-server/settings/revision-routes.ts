import type { RouteHandler, RouteRequest } from "../../../http/mount.ts";
import type { ProfileKind } from "../../../settings/profile-changes.ts";
import type { ProfileHistory } from "../../../settings/profile-history.ts";

export type RevisionRouteDeps = { readonly profileHistory: ProfileHistory };

/** The history of stored models. */
export function modelRevisionHandlers(deps: RevisionRouteDeps) {
  const { list, compare, get, restore } = historyHandlers(deps, "model");
  return {
    listProfileRevisions: list,
    compareProfileRevisions: compare,
    getProfileRevision: get,
    restoreProfileRevision: restore,
  } satisfies Record<string, RouteHandler>;
}

/** The history of agent profiles. */
export function agentRevisionHandlers(deps: RevisionRouteDeps) {
  const { list, compare, get, restore } = historyHandlers(deps, "agent");
  return {
    listAgentProfileRevisions: list,
    compareAgentProfileRevisions: compare,
    getAgentProfileRevision: get,
    restoreAgentProfileRevision: restore,
  } satisfies Record<string, RouteHandler>;
}

/** The history of meta profiles. */
export function metaRevisionHandlers(deps: RevisionRouteDeps) {
  const { list, compare, get, restore } = historyHandlers(deps, "meta");
  return {
    listMetaProfileRevisions: list,
    compareMetaProfileRevisions: compare,
    getMetaProfileRevision: get,
    restoreMetaProfileRevision: restore,
  } satisfies Record<string, RouteHandler>;
}

/** The history of provider connections. */
export function connectionRevisionHandlers(deps: RevisionRouteDeps) {
  const { list, compare, get, restore } = historyHandlers(deps, "connection");
  return {
    listConnectionRevisions: list,
    compareConnectionRevisions: compare,
    getConnectionRevision: get,
    restoreConnectionRevision: restore,
  } satisfies Record<string, RouteHandler>;
}

/** The history of what the settings page saves. */
export function settingsRevisionHandlers(deps: RevisionRouteDeps) {
  const { list, compare, get, restore } = historyHandlers(deps, "settings");
  return {
    listSettingsRevisions: list,
    compareSettingsRevisions: compare,
    getSettingsRevision: get,
    restoreSettingsRevision: restore,
  } satisfies Record<string, RouteHandler>;
}

function historyHandlers({ profileHistory }: RevisionRouteDeps, kind: ProfileKind) {
  const nameOf = ({ params }: RouteRequest): string => params["name"] ?? params["connection_id"] ?? kind;
  const profileOf = (request: RouteRequest) => ({
    userId: request.caller.userId,
    kind,
    name: nameOf(request),
  });
  const numberOf = ({ params }: RouteRequest): number => Number(params["number"]);
  return {
    list: async (request) => {
      const { limit = 50, page_id: below } = request.query as { limit?: number; page_id?: string | null };
      return {
        json: await profileHistory.list(profileOf(request), limit, below == null ? null : Number(below)),
      };
    },
    compare: async (request) => {
      const { from, to } = request.query as { from: number; to: number };
      return { json: await profileHistory.compare(profileOf(request), from, to) };
    },
    get: async (request) => ({ json: await profileHistory.get(profileOf(request), numberOf(request)) }),
    restore: async (request) => ({
      json: await profileHistory.restore(request.caller, kind, nameOf(request), numberOf(request)),
    }),
  } satisfies Record<string, RouteHandler>;
}
