import type { AskAgentRequest } from "@convoke/protocol";
import type { Directory } from "../../../directory/directory.ts";
import type { RouteHandler } from "../../../http/mount.ts";
import { Fault } from "../../../lib/fault.ts";
import { conversationIdOf } from "../../../http/conversation-id.ts";

/** Questions beside the task, and condensation on request. */
export function askHandlers({ directory }: { readonly directory: Directory }) {
  return {
    askAgent: async (request) => {
      const conversation = await directory.open(request.caller, conversationIdOf(request));
      const { question } = request.body as AskAgentRequest;
      const response = await conversation.ask(question, request.signal).catch(notOfTheRequest);
      return { json: { response } };
    },

    condenseConversation: async (request) => {
      const conversation = await directory.open(request.caller, conversationIdOf(request));
      await conversation.condense();
      return { json: { success: true } };
    },
  } satisfies Record<string, RouteHandler>;
}

/** A broken stored model is not the caller's mistake. */
function notOfTheRequest(error: unknown): never {
  if (error instanceof Fault && error.kind === "caller") {
    throw new Fault("not-now", "model_failed", `The conversation's model cannot be used. ${error.message}`);
  }
  throw error;
}
