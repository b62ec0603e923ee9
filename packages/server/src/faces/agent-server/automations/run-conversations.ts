import { join } from "node:path";
import { StartConversationRequest } from "@convoke/protocol";
import type { RunConversations, RunRequest, RunStatus } from "../../../automations/run-conversations.ts";
import type { Peers } from "../../../cluster/peers.ts";
import { askNode, hereOrThere } from "../../../http/here-or-there.ts";
import { Fault, invalidField } from "../../../lib/fault.ts";
import type { Caller } from "../../../security/caller.ts";
import { isAtLeast } from "../../../security/roles.ts";
import { profileOf } from "../../../settings/profiles.ts";
import type { UserStore } from "../../../settings/user-store.ts";
import type { FaceDeps } from "../../face-deps.ts";
import type { StartContext, StartConversation } from "../conversations/start-conversation.ts";

export type RunConversationsDeps = Pick<
  FaceDeps,
  "complete" | "validator" | "settings" | "directory" | "journal" | "hosts"
> & {
  readonly start: StartConversation;
  readonly users: UserStore;
  readonly peers: Peers;
};

const interruptMs = 60_000;

/** Conversations of automations: what their owners could create themselves, with the owners' settings, policies and quotas. */
export function runConversations(deps: RunConversationsDeps): RunConversations {
  const { directory, users, peers } = deps;
  const callerOf = (userId: string): Caller => ({ userId, role: users.roleOf(userId) });

  return {
    refusalOf(ownerId) {
      if (users.isDisabled(ownerId)) return "The user is disabled.";
      return isAtLeast(users.roleOf(ownerId), "member")
        ? null
        : "The user may not start conversations any more.";
    },

    async start(ownerId, request) {
      const caller = callerOf(ownerId);
      // Settings may have changed since the node that died created it.
      if (await directory.exists(caller, request.conversation_id)) return;
      const { body, ...read } = await completeRequest(deps, request, caller);
      const context = { ...read, isNewer: true, startDepth: request.start_depth, warnings: [] };
      await deps.start(caller, body, context);
    },

    async statuses(ids) {
      const rows = await deps.journal.getConversations(ids);
      return rows.map((row) => (row === null ? "deleted" : statusOf(row.executionStatus)));
    },

    async interrupt(ownerId, id) {
      const caller = callerOf(ownerId);
      if (!(await directory.exists(caller, id))) return;
      const signal = AbortSignal.timeout(interruptMs);
      const here = async (): Promise<void> => await (await directory.open(caller, id)).halts.interrupt();
      const path = `/api/conversations/${id}/interrupt`;
      const call = { method: "POST", path, headers: {}, body: undefined };
      const there = async (nodeId: string): Promise<true | null> => {
        const response = await askNode(peers, nodeId, call, caller, signal);
        await response?.body?.cancel();
        return response === null ? null : true;
      };
      await hereOrThere<unknown>(here, there, peers.ownerTimeoutMs, { signal });
    },

    folderFor: async (id) => join(await deps.hosts.defaultFolder(), "automations", id),
  };
}

async function completeRequest(
  { complete, settings, validator }: RunConversationsDeps,
  { llm_profile: name, start_depth: _depth, ...request }: RunRequest,
  caller: Caller,
): Promise<
  Pick<StartContext, "settingsVersion" | "settingsUsed"> & { readonly body: StartConversationRequest }
> {
  if (name !== null && profileOf((await settings.load(caller.userId)).settings, name) === null)
    throw invalidField(["body", "conversation", "llm_profile"], `There is no stored model ${name} any more.`);
  const given = name === null ? request : { ...request, profile_name: name };
  const { body, settingsVersion, settingsUsed } = await complete(given, caller);
  const checked = validator.check<StartConversationRequest>(StartConversationRequest, body, ["body"]);
  if (!checked.ok)
    throw new Fault("caller", "validation", "The automation cannot create its conversation.", checked.errors);
  return { body: checked.value, settingsVersion, settingsUsed };
}

/** A conversation that is idle has its first message, and is about to run. */
function statusOf(executionStatus: string): RunStatus {
  switch (executionStatus) {
    case "finished":
      return "finished";
    case "error":
    case "stuck":
      return "failed";
    case "paused":
      return "paused";
    default:
      return "active";
  }
}
