import type { Observation } from "@convoke/protocol";
import type { Outcome } from "./host.ts";
import { SecretMask } from "./processes/mask.ts";
import type { ToolSecret } from "./tool.ts";

/**
 * Hides every secret in every text of the outcome, except inside spared texts. Fields that the wire fixes or that hold binary data
 * stay unmasked at the top level; the same names further below are a tool's own and are masked.
 */
export function maskOutcome(
  outcome: Outcome,
  secrets: readonly ToolSecret[],
  spared: readonly string[] = [],
): Outcome {
  if (secrets.length === 0) return outcome;
  const mask = new SecretMask(secrets, spared);
  const hide = (text: string): string => mask.push(text) + mask.flush();
  if (outcome.type !== "observation") return { ...outcome, text: hide(outcome.text) };
  const { observation } = outcome;
  const entries = Object.entries(observation).map(([name, field]): [string, unknown] => {
    if (ownFields.has(name) || (name === "command" && observation.kind !== "TerminalObservation"))
      return [name, field];
    const unmasked = Object.hasOwn(itemFields, name) ? itemFields[name as keyof typeof itemFields] : [];
    return [name, hideIn(field, hide, unmasked)];
  });
  return { type: "observation", observation: Object.fromEntries(entries) as Observation };
}

const ownFields = new Set(["kind", "status", "screenshot_data"]);
/** Unmasked fields of the items of these lists. */
const itemFields = { content: ["type", "image_urls"], task_list: ["status"] } as const;

/** `unmasked`: fields of the value itself, or of the items of the list, that are not masked. */
function hideIn(value: unknown, hide: (text: string) => string, unmasked: readonly string[]): unknown {
  if (typeof value === "string") return hide(value);
  if (Array.isArray(value)) return value.map((item) => hideIn(item, hide, unmasked));
  if (typeof value !== "object" || value === null) return value;
  return Object.fromEntries(
    Object.entries(value).map(([name, field]) => [
      name,
      unmasked.includes(name) ? field : hideIn(field, hide, []),
    ]),
  );
}
