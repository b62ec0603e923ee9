import type { ThinkObservation } from "@convoke/protocol";
import type { Tool } from "../tool.ts";
import { annotate, defineTool } from "./define-tool.ts";
import { textPart } from "./observation-content.ts";

/** Lets the model write a thought into the log; nothing else happens. */
export const thinkTool: Tool = {
  name: "think",
  actionKind: "ThinkAction",
  isReadOnly: true,
  traits: () => ({ needsNoApproval: true }),
  define: () =>
    defineTool(
      "Think",
      "think",
      `Write down a thought. Nothing is run, read or changed; the thought only becomes part of this conversation.
Useful before a step that is hard to take back: weigh several causes of a failure, choose between designs, or check a plan against what the user asked for.`,
      annotate(null, { readOnly: true, destructive: false, idempotent: true, openWorld: false }),
    ),
  open: async () => ({
    execute: async (): Promise<ThinkObservation> => ({
      kind: "ThinkObservation",
      content: [textPart("The thought is noted.")],
      is_error: false,
    }),
    [Symbol.asyncDispose]: async () => {},
  }),
};
