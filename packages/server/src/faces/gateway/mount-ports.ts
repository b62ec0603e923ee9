import type { FastifyInstance, FastifyRequest } from "fastify";
import type { Sandboxes } from "../../app-conversations/sandbox-service.ts";
import { sandboxMissing } from "../../app-conversations/sandbox-refusals.ts";
import type { KeyRing } from "../../http/auth.ts";
import { createAuthenticator } from "../../http/open-http.ts";
import { requireUnscoped } from "../../security/key-scope.ts";
import { requireRole } from "../../security/roles.ts";
import { Fault } from "../../lib/fault.ts";
import type { SocketTimes } from "../agent-server/sockets/socket-times.ts";
import { mountForwarded } from "./mount-forwarded.ts";
import { readPortPath, type PortPath } from "./port-path.ts";
import { isSameKey, SandboxKeyRing } from "./sandbox-key-ring.ts";

export type PortsDeps = {
  readonly sandboxes: Sandboxes;
  readonly keys: KeyRing;
  readonly times: Pick<SocketTimes, "keyCheckEveryMs">;
};

/** `/sandboxes/{id}/ports/{n}/`, with a caller's key in a header, or `/sandboxes/{id}~{key}/ports/{n}/` for browsers. */
export async function mountPorts(app: FastifyInstance, { sandboxes, keys, times }: PortsDeps): Promise<void> {
  const isPortKey = ({ sandboxId, portKey }: PortPath): boolean =>
    portKey !== null && isSameKey(portKey, sandboxes.portKey(sandboxId));
  await mountForwarded(app, {
    url: "/sandboxes/:sandbox_id/ports/:port",
    times,
    pathOf,
    nameOf: ({ port }) => String(port),
    async admit(request) {
      const path = pathOf(request);
      const { sandboxId, portKey } = path;
      await sandboxes.learn(sandboxId);
      const ownerId = sandboxes.ownerOf(sandboxId);
      if (portKey === null) {
        const caller = createAuthenticator(new SandboxKeyRing(keys, sandboxes, sandboxId))(request);
        if (caller === null) throw new Fault("stranger", "unauthorized", "Unauthorized");
        request.caller = caller;
        if (caller.userId === ownerId) {
          // What a program behind a port does with a request is unknown.
          requireRole(caller, "member");
          requireUnscoped(caller);
          return;
        }
      } else if (ownerId !== null && isPortKey(path)) {
        request.caller = { userId: ownerId, role: keys.roleOfUser(ownerId), means: "port key" };
        requireRole(request.caller, "member");
        return;
      } else request.isRefused = true;
      throw sandboxMissing(sandboxId);
    },
    connect: async (_request, { sandboxId, port }) => await sandboxes.connectPort(sandboxId, port),
    isStillGood: ({ caller }, path) =>
      caller !== null &&
      new SandboxKeyRing(keys, sandboxes, path.sandboxId).isStillGood(caller) &&
      (path.portKey === null || isPortKey(path)),
  });
}

function pathOf(request: FastifyRequest): PortPath {
  const path = readPortPath(request.url);
  if (path === null) throw new Fault("missing", "not_found", "Not Found");
  return path;
}
