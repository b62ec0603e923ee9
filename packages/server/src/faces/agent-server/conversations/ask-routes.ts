import type { agentServerRoutes } from "@convoke/protocol";
import { onAsked, openAsked } from "../../../http/asked-conversation.ts";
import { Fault } from "../../../lib/fault.ts";
import type { Handlers } from "../../../http/mount.ts";
import type { FaceDeps } from "../../face-deps.ts";

/** Questions beside the task, and condensation on request. */
export function askHandlers({ directory }: FaceDeps) {
  return {
    askAgent: async (request) => {
      const conversation = await openAsked(directory, request);
      const { question } = request.body;
      const response = await conversation.ask(question, request.signal).catch(notOfTheRequest);
      return { json: { response } };
    },

    condenseConversation: onAsked(directory, (conversation) => conversation.condense()),
  } satisfies Partial<Handlers<typeof agentServerRoutes>>;
}

/** A broken stored model is not the caller's mistake. */
function notOfTheRequest(error: unknown): never {
  if (error instanceof Fault && error.kind === "caller") {
    throw new Fault("not-now", "model_failed", `The conversation's model cannot be used. ${error.message}`);
  }
  throw error;
}
