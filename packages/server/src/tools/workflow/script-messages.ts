export type AgentOrder = {
  readonly prompt: string;
  readonly subagentType: string;
  readonly description: string | null;
};

export type ScriptEnd = { readonly isError: boolean; readonly text: string };

/** What the thread of a script says. */
export type FromScript =
  | { readonly type: "begins" }
  /** It resumes when an agent has answered. */
  | { readonly type: "waits" }
  | { readonly type: "order"; readonly id: number; readonly order: AgentOrder }
  | { readonly type: "end"; readonly end: ScriptEnd };

/** How an agent ended. */
export type ToScript =
  | { readonly id: number; readonly report: string }
  | { readonly id: number; readonly error: string };

export const tooSlow =
  "The script computes for too long without waiting for an agent. Leave the work to the agents, and only direct them.";
