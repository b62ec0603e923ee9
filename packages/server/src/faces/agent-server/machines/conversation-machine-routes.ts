import {
  ofRuntimes,
  type ConversationRuntimeInfo,
  type RuntimeOperation,
  type conversationMachineRoutes,
  type onConversationMachineRoutes,
} from "@convoke/protocol";
import { describeAsked } from "../../../http/asked-conversation.ts";
import { byOperation, type RouteHandler, type RouteRequest, type Handlers } from "../../../http/mount.ts";
import { invalidField } from "../../../lib/fault.ts";
import { normalizeUuid } from "../../../lib/uuid7.ts";
import type { FaceDeps } from "../../face-deps.ts";
import { describeRuntime, refuseOutside, runtimeAccess } from "../files/conversation-machine.ts";
import { editorDesktopHandlers } from "./editor-desktop-routes.ts";
import { machineHandlers } from "./workspace-handlers.ts";
import { trajectoryHandlers } from "../files/trajectory-routes.ts";

type RuntimeHandlers = Handlers<typeof onConversationMachineRoutes>;

/**
 * The machine routes below a conversation: on the conversation's machine, below its directory. Commands start in that
 * directory but are not confined to it, like those of an agent. Source: agent server 1.58.
 */
export function onConversationMachineHandlers(deps: FaceDeps): RuntimeHandlers {
  const openAccess = runtimeAccess(deps);
  const all = byOperation({
    ...machineHandlers({ ...deps, openAccess }),
    ...trajectoryHandlers(deps),
    ...editorDesktopHandlers,
  });
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

/** Links that lead out of the directory are refused where the file is opened. */
function checkPaths({ query }: RouteRequest, root: string): void {
  for (const name of ["path", "workspace_dir"]) {
    const path = query[name];
    if (typeof path !== "string" || (name === "workspace_dir" && path === "workspace")) continue;
    refuseOutside(root, path, ["query", name]);
  }
}

function checkTrajectory({ params }: RouteRequest, id: string): void {
  const wanted = params["conversation_id"];
  if (wanted === undefined || normalizeUuid(wanted) === normalizeUuid(id)) return;
  throw invalidField(["path", "conversation_id"], "Name the conversation that the address begins with.");
}

/** Where conversations work. */
export function conversationMachineHandlers({ directory, sandboxes }: FaceDeps) {
  const answer: RouteHandler = async (request) => {
    const { sandbox_id: sandboxId } = (await describeAsked(directory, request)).config;
    if (sandboxId === undefined) return { json: { runtime_status: "available", can_resume: true } };
    const [sandbox] = (await sandboxes?.getMany(request.caller.userId, [sandboxId])) ?? [];
    const status = statusOf[sandbox?.status ?? "MISSING"];
    const message = sandbox?.statusDetail ?? "The sandbox failed.";
    const json: ConversationRuntimeInfo = {
      runtime_status: status,
      can_resume: sandbox?.status === "RUNNING" || sandbox?.status === "PAUSED",
      ...(status === "error" ? { runtime_error: { code: "sandbox_failed", message } } : {}),
    };
    return { json };
  };
  return { getRuntime: answer, reprovisionRuntime: answer } satisfies Handlers<
    typeof conversationMachineRoutes
  >;
}

const statusOf = {
  STARTING: "starting",
  RUNNING: "available",
  PAUSED: "missing",
  ERROR: "error",
  MISSING: "missing",
} as const;
