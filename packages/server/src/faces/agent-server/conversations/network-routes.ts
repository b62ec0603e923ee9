import type { ConversationNetwork, controlRoutes } from "@convoke/protocol";
import { openAsked, describeAsked } from "../../../http/asked-conversation.ts";
import type { RouteRequest, Handlers } from "../../../http/mount.ts";
import { Fault, invalidField } from "../../../lib/fault.ts";
import type { HostedConversation } from "../../../tools/conversation-host.ts";
import { grantProblem } from "../../../tools/sources/network-source.ts";
import type { FaceDeps } from "../../face-deps.ts";

/** What went out of a conversation's wall or sandbox, and hosts that a person grants it. */
export function networkHandlers({ directory, hosts }: FaceDeps) {
  async function hosted(request: RouteRequest): Promise<HostedConversation> {
    const { id, config } = await describeAsked(directory, request);
    return { id, ownerId: request.caller.userId, config };
  }

  async function show(conversation: HostedConversation): Promise<{ json: ConversationNetwork }> {
    const totals = await hosts.totalsOf(conversation);
    return {
      json: {
        hosts: totals.map(({ sentBytes, receivedBytes, ...rest }) => ({
          ...rest,
          sent_bytes: sentBytes,
          received_bytes: receivedBytes,
        })),
        granted: [...(conversation.config.wall?.granted ?? [])],
        can_grant: hosts.grants.canWiden(conversation),
      },
    };
  }

  return {
    getConversationNetwork: async (request) => {
      const conversation = await hosted(request);
      // A wall is of the node that has the conversation.
      if (conversation.config.sandbox_id === undefined) await openAsked(directory, request);
      return await show(conversation);
    },

    grantHosts: async (request) => {
      const { hosts: wanted } = request.body;
      wanted.forEach((host, at) => {
        const problem = grantProblem(host);
        if (problem !== null) throw invalidField(["body", "hosts", at], problem);
      });
      const { configuration } = await openAsked(directory, request);
      const before = await hosted(request);
      if (!hosts.grants.canWiden(before))
        throw new Fault(
          "conflict",
          "network_fixed",
          "Nothing can be granted to this conversation: it has no wall or sandbox behind the server's proxy, its network is none or all, it works for another one, or the server's policy bounds yours.",
        );
      await configuration.grantHosts(wanted);
      const conversation = { ...before, config: configuration.config };
      await hosts.grants.apply(conversation);
      return await show(conversation);
    },
  } satisfies Partial<Handlers<typeof controlRoutes>>;
}
