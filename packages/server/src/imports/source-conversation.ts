import type { Place } from "./spooled-file.ts";

/** A JSON text of an upload, and the file that it came from. */
export type SourceText = { readonly file: string; readonly place: Place };

/** One event of a source: its number among the others, and its id as the name of its file has it, if it has one. */
export type SourceEvent = SourceText & { readonly number: number; readonly idInName: string | null };

/** The files of one conversation in an upload. */
export type SourceConversation = {
  /** Its folder in the archive, or the name of the file. */
  readonly name: string;
  /** `meta.json`: what the server stored about it, or what a download says of it. */
  readonly meta: SourceText | null;
  /** `base_state.json` of an agent server. */
  readonly base: SourceText | null;
  /** In the order of their numbers. */
  readonly events: readonly SourceEvent[];
};
