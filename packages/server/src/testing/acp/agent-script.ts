import type { PermissionOption, PlanEntry, SessionUpdate, StopReason } from "@agentclientprotocol/sdk";

/** What a scripted agent does in one prompt, in order. */
export type AgentStep =
  | { readonly say: string; readonly messageId?: string }
  | { readonly think: string }
  /** As it is. */
  | { readonly update: SessionUpdate }
  | { readonly plan: readonly PlanEntry[] }
  /** Begins a call, asks for permission, and says which option was chosen in its output; it fails where that is a rejection. */
  | {
      readonly ask: {
        readonly id: string;
        readonly title: string;
        readonly kind: string;
        readonly rawInput?: unknown;
      };
      readonly options?: readonly PermissionOption[];
    }
  /** Writes and reads through the client, and says what it has read. */
  | { readonly write: { readonly path: string; readonly content: string } }
  | { readonly read: string }
  /** Runs through the client, and says the output. */
  | { readonly run: string }
  /** Until the prompt is cancelled; `deaf`: for ever. */
  | { readonly hang: "until cancelled" | "deaf" }
  | { readonly fail: string }
  | { readonly exit: number }
  | { readonly end: StopReason; readonly usage?: object };

export type AgentScript = {
  /** One list of steps for each prompt; after the last one, a prompt is answered with its own text. */
  readonly prompts?: readonly (readonly AgentStep[])[];
  readonly models?: readonly string[];
  /** How it offers them; by a configuration option unless given. */
  readonly modelsBy?: "option" | "set_model";
  readonly canLoad?: boolean;
  readonly canResume?: boolean;
  readonly takesImages?: boolean;
  /** What is wrong with it from the start. */
  readonly trouble?: "login" | "garbage" | "hangs" | "exits" | "refuses sessions" | "old protocol";
};
