import type { ToolSecret } from "@convoke/tool-host";
import type { ShellList, ShellSummary, shellRoutes } from "@convoke/protocol";
import type { Conversation } from "../../../engine/conversation.ts";
import { conversationIdOf } from "../../../http/asked-conversation.ts";
import type { PersonShells, ShellInfo } from "../../../tools/people/person-shells.ts";
import { formatInstant } from "../../../lib/instant.ts";
import type { Handlers, RouteRequest } from "../../../http/mount.ts";
import type { FaceDeps } from "../../face-deps.ts";

export type ShellAccessDeps = Pick<FaceDeps, "directory" | "openAccess" | "openSandboxAccess">;

export type ShellAccess = {
  readonly conversation: Conversation;
  readonly shells: PersonShells;
  readonly secrets: () => Promise<readonly ToolSecret[]>;
};

/** The shells of a conversation, only for its owner, and only where the owner may run commands (`/api/bash`). */
export async function openShells(
  { directory, openAccess, openSandboxAccess }: ShellAccessDeps,
  caller: { readonly userId: string },
  conversationId: string,
): Promise<ShellAccess> {
  const conversation = await directory.open(caller, conversationId);
  const { sandbox_id: sandboxId } = conversation.configuration.config;
  const { secrets } =
    sandboxId === undefined
      ? await openAccess(caller, {})
      : await openSandboxAccess(caller, { sandbox_id: sandboxId });
  return { conversation, shells: directory.shellsOf(conversation), secrets };
}

/** The handlers of `shellRoutes`. */
export function shellHandlers(deps: FaceDeps) {
  const open = (request: RouteRequest): Promise<ShellAccess> =>
    openShells(deps, request.caller, conversationIdOf(request));
  return {
    listShells: async (request) => {
      const { shells } = await open(request);
      return { json: { items: shells.list().map(toSummary) } satisfies ShellList };
    },
    openShell: async (request) => {
      const { conversation, shells, secrets } = await open(request);
      const { columns, rows } = request.body;
      const shell = await shells.open(conversation, { columns, rows }, await secrets());
      return { status: 201, json: toSummary(shell) };
    },
    endShell: async (request) => {
      const { shells } = await open(request);
      await shells.end(request.params.shell_id);
      return { json: { success: true } };
    },
  } satisfies Handlers<typeof shellRoutes>;
}

function toSummary({ id, createdAtMs, columns, rows, isRunning, exitCode }: ShellInfo): ShellSummary {
  return {
    id,
    created_at: formatInstant(createdAtMs * 1_000),
    columns,
    rows,
    is_running: isRunning,
    exit_code: exitCode,
  };
}
