import { posix } from "node:path";
import { ofRuntimes, type ConversationRuntimeInfo, type RuntimeOperation } from "@convoke/protocol";
import type { Sandboxes } from "../../../app-conversations/sandbox-service.ts";
import type { Directory } from "../../../directory/directory.ts";
import { conversationMissing } from "../../../engine/refusals.ts";
import type { Described } from "../../../engine/state/describe.ts";
import type { RouteHandler, RouteRequest } from "../../../http/mount.ts";
import { invalidField } from "../../../lib/fault.ts";
import { normalizeUuid } from "../../../lib/uuid7.ts";
import type { OpenAccess } from "../../../workspaces/workspace-access.ts";
import { editorDesktopHandlers } from "../server/editor-desktop-routes.ts";
import { conversationIdOf } from "../../../http/conversation-id.ts";
import { machineHandlers, type WorkspaceHandlersDeps } from "./workspace-handlers.ts";
import { trajectoryHandlers } from "../events/trajectory-routes.ts";

export type RuntimeRouteDeps = WorkspaceHandlersDeps & {
  readonly directory: Directory;
  readonly sandboxes: Sandboxes | null;
  /** The machine inside a sandbox, for its owner only. */
  readonly openSandboxAccess: OpenAccess;
};

type RuntimeHandlers = Record<`${RuntimeOperation}InConversation`, RouteHandler>;

/**
 * The machine routes below a conversation: on the conversation's machine, below its directory. Commands start in that
 * directory but are not confined to it, like those of an agent. Source: agent server 1.58.
 */
export function onConversationMachineHandlers(deps: RuntimeRouteDeps): RuntimeHandlers {
  const openAccess = runtimeAccess(deps);
  const all: Record<string, RouteHandler> = {
    ...machineHandlers({ ...deps, openAccess }),
    ...trajectoryHandlers(deps),
    ...editorDesktopHandlers,
  };
  const handlers = (Object.keys(ofRuntimes) as RuntimeOperation[]).map((operation) => {
    const handle: RouteHandler = async (request) => {
      const id = request.params["runtime_conversation_id"]!;
      const { workspace } = (await describeRuntime(deps, request.caller, id)).config;
      checkPaths(request, workspace.working_dir);
      checkTrajectory(request, id);
      return await all[operation]!(request);
    };
    return [`${operation}InConversation`, handle];
  });
  return Object.fromEntries(handlers) as RuntimeHandlers;
}

export type RuntimeAccessDeps = Pick<
  RuntimeRouteDeps,
  "directory" | "openAccess" | "openFiles" | "openSandboxAccess"
>;

/** The machine that a conversation works on, with the files below its directory. */
export function runtimeAccess(deps: RuntimeAccessDeps): OpenAccess {
  return async (caller, params) => {
    const { id, config } = await describeRuntime(deps, caller, params["runtime_conversation_id"]!);
    const { sandbox_id: sandboxId } = config;
    await deps.directory.requireFiles(id, config);
    const access =
      sandboxId === undefined
        ? await deps.openAccess(caller, params)
        : await deps.openSandboxAccess(caller, { sandbox_id: sandboxId });
    const workingDir = config.workspace.working_dir;
    return { ...access, workspace: await deps.openFiles(config, workingDir), workingDir };
  };
}

/** Fails when the caller has no such conversation (404). */
export async function describeRuntime(
  { directory }: Pick<RuntimeAccessDeps, "directory">,
  caller: { readonly userId: string },
  id: string,
): Promise<Described> {
  const described = await directory.describe(caller, normalizeUuid(id) ?? id);
  if (described === null) throw conversationMissing(id);
  return described;
}

/** Links that lead out of the directory are refused where the file is opened. */
function checkPaths({ query }: RouteRequest, root: string): void {
  for (const name of ["path", "workspace_dir"]) {
    const path = query[name];
    if (typeof path !== "string" || (name === "workspace_dir" && path === "workspace")) continue;
    refuseOutside(root, path, ["query", name]);
  }
}

/** Refuses early, by the name of the field, paths that the file access would refuse. */
export function refuseOutside(root: string, path: string, at: [string, string]): void {
  const plain = posix.normalize(path);
  const isInside = plain === root || plain.startsWith(root.endsWith("/") ? root : `${root}/`);
  if (posix.isAbsolute(path) && isInside) return;
  throw invalidField(at, "Send an absolute path inside the directory of the conversation.");
}

function checkTrajectory({ params }: RouteRequest, id: string): void {
  const wanted = params["conversation_id"];
  if (wanted === undefined || normalizeUuid(wanted) === normalizeUuid(id)) return;
  throw invalidField(["path", "conversation_id"], "Name the conversation that the address begins with.");
}

/** Where conversations work. */
export function conversationMachineHandlers({
  directory,
  sandboxes,
}: Pick<RuntimeRouteDeps, "directory" | "sandboxes">) {
  const answer: RouteHandler = async (request) => {
    const id = conversationIdOf(request);
    const described = await directory.describe(request.caller, id);
    if (described === null) throw conversationMissing(id);
    const { sandbox_id: sandboxId } = described.config;
    if (sandboxId === undefined) return { json: { runtime_status: "available", can_resume: true } };
    const [sandbox] = (await sandboxes?.getMany(request.caller.userId, [sandboxId])) ?? [];
    const status = statusOf[sandbox?.status ?? "MISSING"];
    const json: ConversationRuntimeInfo = {
      runtime_status: status,
      can_resume: sandbox?.status === "RUNNING" || sandbox?.status === "PAUSED",
      ...(status === "error"
        ? {
            runtime_error: {
              code: "sandbox_failed",
              message: sandbox?.statusDetail ?? "The sandbox failed.",
            },
          }
        : {}),
    };
    return { json };
  };
  return { getRuntime: answer, reprovisionRuntime: answer } satisfies Record<string, RouteHandler>;
}

const statusOf = {
  STARTING: "starting",
  RUNNING: "available",
  PAUSED: "missing",
  ERROR: "error",
  MISSING: "missing",
} as const;
