import type { FieldFault } from "../lib/fault.ts";

/**
 * Fields of large bodies that are stored in columns. The rest of such a body is the content of a conversation, which is
 * stored exactly, whatever characters it has.
 */
const ownPlaces: ReadonlySet<string> = new Set([
  "client_message_id",
  "llm_model",
  "metadata",
  "model",
  "previous_response_id",
  "selected_branch",
  "selected_repository",
  "tags",
  "title",
  "title_llm_profile",
  "workspace",
]);

const maxFaults = 50;
const msg =
  "This text has a NUL character or half of a surrogate pair, which not every store can keep. Send it without.";

/** Texts and field names below `value` that PostgreSQL would refuse or change: with NUL or half of a surrogate pair. */
export function unstorableTexts(value: unknown, loc: FieldFault["loc"], isLarge = false): FieldFault[] {
  const faults: FieldFault[] = [];
  const visit = (part: unknown, at: FieldFault["loc"]): void => {
    if (faults.length >= maxFaults) return;
    if (typeof part === "string" && !isStorable(part)) faults.push({ loc: at, msg, type: "value_error" });
    if (Array.isArray(part)) part.forEach((item, index) => visit(item, [...at, index]));
    else if (typeof part === "object" && part !== null) {
      for (const [name, inner] of Object.entries(part)) {
        if (!isStorable(name)) faults.push({ loc: at, msg, type: "value_error" });
        else visit(inner, [...at, name]);
      }
    }
  };
  if (isLarge && typeof value === "object" && value !== null) {
    for (const [name, part] of Object.entries(value)) if (ownPlaces.has(name)) visit(part, [...loc, name]);
  } else visit(value, loc);
  return faults;
}

/** True when every store can hold the text unchanged. */
export function isStorable(text: string): boolean {
  return !text.includes("\0") && text.isWellFormed();
}
