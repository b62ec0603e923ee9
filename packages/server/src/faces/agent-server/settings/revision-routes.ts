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

function historyHandlers({ profileHistory }: RevisionRouteDeps, kind: ProfileKind) {
  const profileOf = ({ caller, params }: RouteRequest) => ({
    userId: caller.userId,
    kind,
    name: params["name"]!,
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
      json: await profileHistory.restore(request.caller, kind, request.params["name"]!, numberOf(request)),
    }),
  } satisfies Record<string, RouteHandler>;
}
