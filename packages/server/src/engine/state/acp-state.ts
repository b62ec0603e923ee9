import type { ACPModelInfo } from "@convoke/protocol";

/** A tool call of the other agent. */
export type AcpCall = { readonly id: string; readonly title: string; readonly kind: string | null };

/** What the log says about the other agent of a conversation. */
export type AcpState = {
  /** Its session; null before the first one. */
  readonly session: AcpSessionFacts | null;
  /** A prompt was sent, and its end is not recorded. */
  readonly isPrompting: boolean;
  /** Tool calls without an end. */
  readonly calls: readonly AcpCall[];
};

export type AcpSessionFacts = {
  readonly session_id: string;
  readonly agent_name: string | null;
  readonly current_model_id: string | null;
  readonly available_models: readonly ACPModelInfo[];
  readonly supports_runtime_model_switch: boolean;
};

export const noAcp: AcpState = { session: null, isPrompting: false, calls: [] };
