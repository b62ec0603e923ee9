import type { RouteHandler, RouteRequest } from "../../../http/mount.ts";
import type { ProfileKind } from "../../../settings/profile-changes.ts";
import type { FaceDeps } from "../../face-deps.ts";

/** The history of stored models, agent profiles, meta profiles, provider connections, and of what the settings page saves. */
export function revisionHandlers(deps: FaceDeps) {
  return {
    ...historyHandlers(deps, "model", "Profile"),
    ...historyHandlers(deps, "agent", "AgentProfile"),
    ...historyHandlers(deps, "meta", "MetaProfile"),
    ...historyHandlers(deps, "connection", "Connection"),
    ...historyHandlers(deps, "settings", "Settings"),
  };
}

type Operation<Name extends string> =
  | `${"list" | "compare"}${Name}Revisions`
  | `${"get" | "restore"}${Name}Revision`;

/** `name` is how the operations call what has the history. */
function historyHandlers<Name extends string>(
  { profileHistory }: FaceDeps,
  kind: ProfileKind,
  name: Name,
): Readonly<Record<Operation<Name>, RouteHandler>> {
  const nameOf = ({ params }: RouteRequest): string => params["name"] ?? params["connection_id"] ?? kind;
  const profileOf = (request: RouteRequest) => ({
    userId: request.caller.userId,
    kind,
    name: nameOf(request),
  });
  const numberOf = ({ params }: RouteRequest): number => Number(params["number"]);
  return {
    [`list${name}Revisions`]: async (request: RouteRequest) => {
      const { limit = 50, page_id: below } = request.query as { limit?: number; page_id?: string | null };
      return {
        json: await profileHistory.list(profileOf(request), limit, below == null ? null : Number(below)),
      };
    },
    [`compare${name}Revisions`]: async (request: RouteRequest) => {
      const { from, to } = request.query as { from: number; to: number };
      return { json: await profileHistory.compare(profileOf(request), from, to) };
    },
    [`get${name}Revision`]: async (request: RouteRequest) => ({
      json: await profileHistory.get(profileOf(request), numberOf(request)),
    }),
    [`restore${name}Revision`]: async (request: RouteRequest) => ({
      json: await profileHistory.restore(request.caller, kind, nameOf(request), numberOf(request)),
    }),
  } as Record<Operation<Name>, RouteHandler>;
}
