import { agentServerRoutes, controlRoutes, type Route } from "@convoke/protocol";
import type { FastifyInstance, FastifyRequest } from "fastify";
import { sandboxMissing } from "../../app-conversations/sandbox-refusals.ts";
import type { Sandboxes } from "../../app-conversations/sandbox-service.ts";
import { conversationIdOf } from "../../http/asked-conversation.ts";
import { byOperation, mountRoutes, type MountDeps, type RouteHandler } from "../../http/mount.ts";
import { createAuthenticator } from "../../http/open-http.ts";
import type { Peers } from "../../cluster/peers.ts";
import { conversationMissing } from "../../engine/refusals.ts";
import { conversationHandlers } from "../agent-server/conversations/conversation-routes.ts";
import { mountBashSocket } from "../agent-server/sockets/bash-socket.ts";
import type { NodeSignals } from "../agent-server/sockets/node-signals.ts";
import { mountEventSocket } from "../agent-server/sockets/event-socket.ts";
import { completeStart } from "../agent-server/conversations/complete-start.ts";
import { controlHandlers } from "../agent-server/conversations/control-routes.ts";
import { reportUnusedIn } from "../agent-server/report-unused.ts";
import { agentServerHandlers } from "../agent-server-handlers.ts";
import type { FaceDeps } from "../face-deps.ts";
import type { SocketTimes } from "../agent-server/sockets/socket-times.ts";
import { mountPorts } from "./mount-ports.ts";
import { secretsEntering } from "./sandbox-access.ts";
import { SandboxKeyRing } from "./sandbox-key-ring.ts";
import { ScopedDirectory } from "./scoped-directory.ts";

export type GatewayDeps = FaceDeps & {
  readonly sandboxes: Sandboxes;
  readonly times: SocketTimes;
  /** Reaches the other nodes on the store, and subscribes to their signals. */
  readonly peers: Peers;
  readonly nodeSignals: NodeSignals | undefined;
};

/**
 * `/sandboxes/{id}/...`: every sandbox as an agent server of its own, with its conversations, files and commands alone, and its
 * ports. Opened by its owner's keys and by the sandbox's.
 */
export async function mountGateway(app: FastifyInstance, deps: GatewayDeps): Promise<void> {
  const {
    sandboxes,
    directory,
    journal,
    keys,
    validator,
    logger,
    times,
    toolHost,
    peers,
    openSandboxAccess,
  } = deps;
  const ringOf = (request: FastifyRequest) => new SandboxKeyRing(keys, sandboxes, sandboxIdOf(request));
  const authenticate = (request: FastifyRequest) =>
    peers.callerOf(request) ?? createAuthenticator(ringOf(request))(request);
  const directoryOf = (sandboxId: string) =>
    new ScopedDirectory({ directory, journal, sandboxes, sandboxId });
  const shown = Object.fromEntries(
    Object.entries<Route>({ ...agentServerRoutes, ...controlRoutes }).filter(([, { path }]) => isShown(path)),
  );
  const handlers = scopeHandlers(
    shown,
    byOperation({
      ...agentServerHandlers({ ...deps, openAccess: openSandboxAccess }),
      ...controlHandlers(deps),
    }),
    directoryOf,
    deps,
  );
  const completeBody: MountDeps["completeBody"] = {
    startConversation: (body, caller, { sandbox_id: id = "" }) =>
      completeStart(body, caller, {
        ...deps,
        catalogue: toolHost.catalogue,
        secrets: secretsEntering(id, deps),
      }),
  };
  await app.register(
    async (scoped) => {
      // It may be one of another machine.
      scoped.addHook("onRequest", async (request) => sandboxes.learn(sandboxIdOf(request)));
      scoped.addHook("preHandler", async (request) => {
        const id = sandboxIdOf(request);
        const ownerId = sandboxes.ownerOf(id);
        const caller = authenticate(request);
        request.caller ??= caller;
        // Without a key only public routes answer, alike for every id, so that existing ids cannot be probed.
        if (caller !== null && caller.userId !== ownerId) throw sandboxMissing(id);
      });
      mountRoutes(scoped, shown, handlers, {
        validator,
        callers: { authenticate, authenticateCookie: () => null },
        completeBody,
        peers,
        reportUnused: reportUnusedIn(directory, logger),
      });
      const socketDeps = { validator, logger, times };
      mountEventSocket(scoped, {
        ...socketDeps,
        journal,
        trimmed: deps.trimmed,
        peers,
        nodeSignals: deps.nodeSignals,
        scopeOf: (request) => ({ directory: directoryOf(sandboxIdOf(request)), keys: ringOf(request) }),
      });
      mountBashSocket(scoped, {
        ...socketDeps,
        scopeOf: (request) => ({
          // The socket's address names its sandbox; its frames do not.
          openAccess: (caller) => openSandboxAccess(caller, { sandbox_id: sandboxIdOf(request) }),
          keys: ringOf(request),
        }),
      });
    },
    { prefix: "/sandboxes/:sandbox_id" },
  );
  await mountPorts(app, { sandboxes, keys, times });
}

/** Routes about users or about the server's machine do not exist under a sandbox. */
function isShown(path: string): boolean {
  return !path.startsWith("/api/") || /^\/api\/(conversations|bash|file|git|tools)(\/|$)/.test(path);
}

/** Conversations of other sandboxes are hidden from every route, whatever its handler does. */
function scopeHandlers(
  routes: Readonly<Record<string, Route>>,
  handlers: Readonly<Record<string, RouteHandler>>,
  directoryOf: (sandboxId: string) => ScopedDirectory,
  { profileHistory }: Pick<GatewayDeps, "profileHistory">,
): Record<string, RouteHandler> {
  const scoped = Object.entries(routes).map(([operation, { path }]): [string, RouteHandler] => {
    const handler: RouteHandler = async (request) => {
      const directory = directoryOf(request.params["sandbox_id"]!);
      const ofConversations = byOperation(conversationHandlers({ directory, profileHistory }));
      // Deleting removes more than the log, so it is not done by the directory alone.
      if (Object.hasOwn(ofConversations, operation) && operation !== "deleteConversation") {
        return await ofConversations[operation]!(request);
      }
      if (path.includes("{conversation_id}")) {
        const id = conversationIdOf(request);
        if (!(await directory.exists(request.caller, id))) throw conversationMissing(id);
      }
      return await handlers[operation]!(request);
    };
    return [operation, handler];
  });
  return Object.fromEntries(scoped);
}

function sandboxIdOf(request: FastifyRequest): string {
  return (request.params as { sandbox_id: string }).sandbox_id;
}
