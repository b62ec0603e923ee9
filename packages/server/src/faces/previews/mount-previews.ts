import type { FastifyInstance, FastifyRequest } from "fastify";
import { Fault } from "../../lib/fault.ts";
import { localUser, type Caller } from "../../security/caller.ts";
import type { SessionHolder } from "../../workspaces/workspace-session.ts";
import type { SocketTimes } from "../agent-server/sockets/socket-times.ts";
import type { FaceDeps } from "../face-deps.ts";
import { mountForwarded } from "../gateway/mount-forwarded.ts";
import type { PortPath } from "../gateway/port-path.ts";
import type { FarPorts } from "./far-ports.ts";
import { readPreviewPath } from "./preview-path.ts";

export type MountPreviewsDeps = Pick<FaceDeps, "sessions" | "keys"> & {
  readonly ports: Pick<FarPorts, "connect">;
  readonly times: Pick<SocketTimes, "keyCheckEveryMs">;
};

type PreviewedPort = PortPath & { readonly holder: SessionHolder; readonly conversationId: string };

/** `/previews/{capability}/`: the web server of a workspace program, in an opaque origin. */
export async function mountPreviews(
  app: FastifyInstance,
  { ports, sessions, keys, times }: MountPreviewsDeps,
): Promise<void> {
  const isStillGood = (holder: SessionHolder): boolean =>
    keys.isStillGood(holder) && keys.roleOfUser(holder.userId) !== "viewer";
  const pathOf = ({ url }: FastifyRequest): PreviewedPort => {
    const path = readPreviewPath(url);
    if (path === null) throw new Fault("missing", "not_found", "Not Found");
    const preview = sessions.readPreview(path.capability);
    if (preview === null) throw over();
    return { ...path, ...preview, sandboxId: preview.conversationId, portKey: path.capability };
  };
  await mountForwarded(app, {
    url: "/previews/:capability",
    times,
    pathOf,
    nameOf: ({ portKey }) => portKey ?? "",
    async admit(request) {
      const { holder } = pathOf(request);
      if (!isStillGood(holder)) throw over();
      request.caller = keys.isOpen ? { ...localUser } : { ...holder, means: "port key" };
    },
    connect: async (request, { conversationId, port }) =>
      await ports.connect(callerOf(request), conversationId, port),
    isStillGood: (_request, { holder }) => isStillGood(holder),
  });
}

function callerOf({ caller }: FastifyRequest): Caller {
  if (caller === null) throw over();
  return caller;
}

function over(): Fault {
  return new Fault("missing", "preview_over", "The address of this preview is over. Open the preview again.");
}
