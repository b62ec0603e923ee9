import type { Script } from "../scripted-model/script.ts";

/** What the model says in the golden folders, and in the wire snapshot. */
export const goldenScript: Script = {
  turns: [
    {
      text: "Let me see.",
      reasoning: "There may be something.",
      tool_calls: [{ name: "grep", arguments: { pattern: "x" } }],
    },
    { tool_calls: [{ name: "nothing", arguments: {} }] },
    { text: "There is nothing." },
  ],
};
