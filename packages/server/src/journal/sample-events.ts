import type { NewConversation, NewEvent } from "./journal.ts";
import { restingConversation } from "./resting-conversation.ts";

/** A conversation row for tests and benches. */
export function sampleConversation(id: string, changes: Partial<NewConversation> = {}): NewConversation {
  return {
    ...restingConversation,
    id,
    ownerId: "owner",
    createdAtMicros: 1_000_000,
    updatedAtMicros: 1_000_000,
    title: null,
    config: "{}",
    sealedSecrets: null,
    ...changes,
  };
}

export type SampleShape = {
  readonly kind?: string;
  readonly source?: string;
  readonly text?: string | null;
  readonly meta?: string | null;
  /** Makes the JSON at least this long. */
  readonly minLength?: number;
};

/** The instant of {@link sampleEvent}; events are ten microseconds apart. */
export function sampleMicros(seq: number): number {
  return 1_770_000_000_000_000 + seq * 10;
}

/** The id of {@link sampleEvent}: a UUIDv7 that grows with `seq`. */
export function sampleId(seq: number): string {
  return `01890000-0000-7000-8000-${seq.toString(16).padStart(12, "0")}`;
}

/** The event that stands at `seq` of a log for tests and benches. */
export function sampleEvent(seq: number, shape: SampleShape = {}): NewEvent {
  const { kind = "ActionEvent", source = "agent", text = null, meta = null, minLength = 0 } = shape;
  const id = sampleId(seq);
  const content = text === null ? {} : { llm_message: { role: source, content: [{ type: "text", text }] } };
  const bare = JSON.stringify({ id, source, kind, ...content, detail: "" });
  const json = bare.slice(0, -2) + "x".repeat(Math.max(0, minLength - bare.length)) + bare.slice(-2);
  return { id, timestampMicros: sampleMicros(seq), kind, source, json, text, meta };
}
