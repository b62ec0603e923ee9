import type { FastifyInstance } from "fastify";
import { sandboxesNotServed } from "../../app-conversations/sandbox-refusals.ts";
import type { MountDeps } from "../../http/mount.ts";
import { Fault } from "../../lib/fault.ts";

/** `/sandboxes/{id}/...` on a server without sandboxes: callers with a key get an error that says so. */
export function refuseGateway(app: FastifyInstance, { callers }: Pick<MountDeps, "callers">): void {
  app.all("/sandboxes/*", (request) => {
    request.caller = callers.authenticate(request);
    if (request.caller === null) throw new Fault("stranger", "unauthorized", "Unauthorized");
    throw sandboxesNotServed();
  });
}
