import type { ReplayCheck } from "@convoke/protocol";
import { asRecord, type UnknownRecord } from "@convoke/client/view";

/** The metadata of a replay file. */
export type ReplayFacts = {
  /** The REST conversation when the file was made. */
  readonly conversation: UnknownRecord;
  /** Whether every model request can be rebuilt from the log; null if not checked. */
  readonly check: ReplayCheck | null;
  readonly recordedAt: string;
  /** Conversations of sub-agents, in the order of their events, and how many events each has. */
  readonly tasks: readonly { readonly conversation: UnknownRecord; readonly events: number }[];
  /** How many sub-agent conversations were left out to limit the file size. */
  readonly tasksLeft: number;
};

/** Maximum bytes of the sub-agents' events, and of the conversation's own. */
export const maxBytes = { tasks: 32_000_000, conversation: 256_000_000 };

/** Elements of the file, by id: they hold text that no browser runs. */
export const factsElement = "convoke-facts";
export const eventsElement = "convoke-events";
export const tasksElement = "convoke-tasks";

/** Escapes JSON for a script element: `<` occurs only inside strings. */
export function escapeJson(json: string): string {
  return json.replaceAll("<", "\\u003c");
}

export function readEvents(text: string): UnknownRecord[] {
  return text
    .split("\n")
    .filter((line) => line.trim() !== "")
    .map((line) => asRecord(JSON.parse(line)))
    .filter((event) => event !== null);
}
