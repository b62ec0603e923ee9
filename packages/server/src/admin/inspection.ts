import type { ConversationConfig } from "../engine/conversation-config.ts";
import type { ConversationState } from "../engine/state/conversation-state.ts";

/** One conversation as `convoke inspect --json` prints it; docs/guides/debug-a-conversation.md says what the fields mean. No secrets. */
export type Inspection = {
  readonly id: string;
  readonly inspected_at: string;
  /** Conclusions from the other parts, one sentence each. */
  readonly conclusions: readonly string[];
  readonly row: {
    readonly title: string | null;
    readonly owner_id: string;
    readonly created_at: string;
    readonly updated_at: string;
    readonly execution_status: string;
    /** True when a run resumes by itself after a restart. */
    readonly is_active: boolean;
    /** A fork that does not have all its events yet. */
    readonly is_copying: boolean;
    readonly is_archived: boolean;
    readonly sandbox_id: string | null;
    readonly parent_conversation_id: string | null;
    readonly host: string | null;
    /** Null where it is damaged. */
    readonly config: ConversationConfig | null;
    readonly sizes: {
      readonly events: number;
      readonly event_bytes: number | null;
      /** The size of the private facts beside events. */
      readonly beside_bytes: number | null;
      readonly config_bytes: number;
      readonly snapshot_bytes: number;
      readonly sealed_secrets_bytes: number;
    };
  };
  readonly lease: {
    /** How often the lease was claimed. */
    readonly generation: number;
    /** Null where nobody holds it. */
    readonly node: {
      readonly id: string;
      readonly is_alive: boolean;
      readonly started_at: string | null;
      readonly address: string | null;
      readonly release: string | null;
    } | null;
  };
  /** The fold of the log; null where a damaged event is in the way. */
  readonly state: {
    readonly execution_status: ConversationState["status"];
    readonly last_event_id: string | null;
    /** A run that has not ended; null when there is none. */
    readonly run: {
      readonly began_seq: number | null;
      readonly began_at: string | null;
      readonly model_answers: number;
      /** The message that requested a run that has not begun. */
      readonly wanted_by_seq: number | null;
      readonly is_attended: boolean;
      readonly retry_until: string | null;
    } | null;
    readonly approvals: { readonly waiting: readonly string[]; readonly deadline: string | null };
    readonly queued: readonly {
      readonly event_id: string;
      readonly seq: number;
      readonly is_from_user: boolean;
      readonly wants_run: boolean;
    }[];
    /** US dollars. */
    readonly budget: { readonly spent: number; readonly limit: number | null };
    readonly branch: { readonly leaf_event_id: string | null; readonly navigations: number };
    readonly goal: { readonly objective: string; readonly iteration: number } | null;
    readonly plan: ConversationState["plan"];
  } | null;
  /** Calls without an answer in the log. */
  readonly open_actions: readonly InspectedAction[];
  /** Where the record of executions is. It is read only when it is here. */
  readonly execution_record: "here" | "sandbox" | "elsewhere";
  /** Conversations of sub-agents. */
  readonly parts: readonly { readonly id: string; readonly execution_status: string }[];
  readonly store: {
    readonly log_number: number;
    readonly last_seq: number;
    /** The last event that the state in the row covers. */
    readonly snapshot_seq: number;
    /** The last event with a stored checkpoint; null when the log could not be folded. */
    readonly checkpoint_seq: number | null;
    /** The last event in the text index; null without a readable index. */
    readonly indexed_seq: number | null;
    /** The data folder of the last owner, when several share the store. */
    readonly machine: string | null;
    readonly damages: readonly string[];
  };
  /** The newest, in the order of the log. */
  readonly events: readonly InspectedEvent[];
};

export type InspectedAction = {
  readonly action_id: string;
  readonly seq: number;
  readonly tool_call_id: string;
  readonly tool_name: string;
  /** Only a person may let it start. */
  readonly is_waiting: boolean;
  /** By the record of executions. `announced` did not begin, `started` began or may have; `unknown`: the record is not here, or damaged. */
  readonly execution: "none" | "announced" | "started" | "ended" | "unknown";
  readonly started_at: string | null;
  readonly ended_at: string | null;
};

export type InspectedEvent = {
  readonly seq: number;
  readonly id: string;
  /** Null for a damaged one. */
  readonly timestamp: string | null;
  readonly kind: string;
  readonly source: string;
  /** Its beginning on one line, as clients may read it. */
  readonly summary: string;
  /** Names of the private facts beside the event. */
  readonly beside: readonly string[];
};
