import type { ModelPart, SpentAttempt } from "./model.ts";

/** What the end of a stream says was used up: by attempts that failed, and by the answer, which is last. */
export function callsIn(part: ModelPart): readonly SpentAttempt[] {
  if (part.type === "failed" || part.type === "aborted") return part.spent ?? [];
  return part.type === "done" ? [...(part.response.spent ?? []), part.response] : [];
}
