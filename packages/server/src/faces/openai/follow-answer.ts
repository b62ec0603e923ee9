import type { Watch } from "../../directory/watch.ts";
import { followRun } from "./follow-run.ts";

/** The answer of a run for a chat: chunks while it works, then its last text. */
export type AnswerPart =
  | { readonly type: "text"; readonly text: string }
  | { readonly type: "done"; readonly text: string };

/** See {@link followRun}; chats show neither reasoning nor calls. */
export async function* followAnswer(
  watch: Watch,
  afterSeq: number,
  signal: AbortSignal,
): AsyncGenerator<AnswerPart> {
  for await (const part of followRun(watch, afterSeq, signal)) {
    if (part.type === "text") yield { type: "text", text: part.chunk };
    if (part.type === "end" && "text" in part.end) yield { type: "done", text: part.end.text };
  }
}
