import type { AssessedCall } from "./verdict.ts";

/** How much of a call is analysed; the rest of a longer one is not read. */
const maxCharacters = 30_000;

/** Texts of a call: `run` is what would be executed, `all` includes the model's words about it. */
export type CallText = {
  readonly run: string;
  readonly all: string;
  /** False when the call is longer than the analysed part. */
  readonly isComplete: boolean;
};

/** The texts of a call in one spelling: look-alike letters unified, invisible characters removed. */
export function textOf({ toolName, action, words }: AssessedCall): CallText {
  const run = [toolName, ...leaves(action)].join("\n");
  const all = [run, ...words].join("\n");
  return {
    run: plain(run.slice(0, maxCharacters)),
    all: plain(all.slice(0, 2 * maxCharacters)),
    isComplete: run.length <= maxCharacters && all.length <= 2 * maxCharacters,
  };
}

/** Every text inside a value. */
function leaves(value: unknown): string[] {
  if (typeof value === "string") return [value];
  if (typeof value !== "object" || value === null) return [];
  return Object.values(value).flatMap(leaves);
}

function plain(text: string): string {
  return text.normalize("NFKC").replaceAll(/[\p{Cf}\u115f\u1160\u3164]/gu, "");
}
