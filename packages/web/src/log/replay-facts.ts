import type { ReplayCheck } from "@convoke/protocol";
import { asRecord, type UnknownRecord } from "../lib/unknown-record.ts";

/** What a replay file says beside its events. */
export type ReplayFacts = {
  /** The conversation as REST answered it when the file was made. */
  readonly conversation: UnknownRecord;
  /** Whether every request to a model follows from the log; null where that was not checked. */
  readonly check: ReplayCheck | null;
  readonly recordedAt: string;
  /** Conversations of sub-agents, in the order of their events, and how many events each has. */
  readonly tasks: readonly { readonly conversation: UnknownRecord; readonly events: number }[];
  /** Of how many more the file would have become too large. */
  readonly tasksLeft: number;
};

/** So many bytes may the events of sub-agents have in a file, and those of the conversation itself. */
export const maxBytes = { tasks: 32_000_000, conversation: 256_000_000 };

/** Elements of the file, by id: they hold text that no browser runs. */
export const factsElement = "convoke-facts";
export const eventsElement = "convoke-events";
export const tasksElement = "convoke-tasks";

/** JSON that ends no element and begins no comment: inside JSON a `<` stands in texts alone, where it may be written so. */
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
