import type { Action, FinishAction, FinishObservation } from "@convoke/protocol";
import type { Tool } from "../tool.ts";
import { annotate, defineTool } from "./define-tool.ts";
import { textPart } from "./observation-content.ts";

/** Lets the model end its work with a last message; the caller ends the run. */
export const finishTool: Tool = {
  name: "finish",
  actionKind: "FinishAction",
  isReadOnly: true,
  traits: () => ({ endsTurn: true, needsNoApproval: true }),
  define: () =>
    defineTool(
      "Finish",
      "finish",
      `End the work on the current request with a last message to the user.
Call it when the request is fulfilled, or when nothing more can be done without the user.
The message says what was done and where, what the result is and how it was checked, and what is left open or needs the user's decision. Calls that follow it in the same answer are not run.`,
      annotate("finish", { readOnly: true, destructive: false, idempotent: true, openWorld: false }),
    ),
  open: async () => ({
    execute: async (action: Action): Promise<FinishObservation> => ({
      kind: "FinishObservation",
      content: [textPart((action as FinishAction).message)],
      is_error: false,
    }),
    [Symbol.asyncDispose]: async () => {},
  }),
};
