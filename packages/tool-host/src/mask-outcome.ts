import type { Observation } from "@convoke/protocol";
import type { Outcome } from "./host.ts";
import { SecretMask } from "./processes/mask.ts";
import type { ToolSecret } from "./tool.ts";

/** The outcome with every secret hidden in every text; fields that hold binary data or fixed words stay as they are. */
export function maskOutcome(outcome: Outcome, secrets: readonly ToolSecret[]): Outcome {
  if (secrets.length === 0) return outcome;
  const mask = new SecretMask(secrets);
  if (outcome.type !== "observation") return { ...outcome, text: maskString(outcome.text, mask) };
  const { observation } = outcome;
  const fixedFields =
    observation.kind === "TerminalObservation" ? wireFields : new Set([...wireFields, "command"]);
  return { type: "observation", observation: maskStrings(observation, mask, fixedFields) as Observation };
}

/** Fields with base64 data, which masking would damage, and fields whose values the wire fixes. */
const wireFields = new Set(["image_urls", "screenshot_data", "kind", "type", "status"]);

function maskStrings(value: unknown, mask: SecretMask, fixedFields: ReadonlySet<string>): unknown {
  if (typeof value === "string") return maskString(value, mask);
  if (Array.isArray(value)) return value.map((item) => maskStrings(item, mask, fixedFields));
  if (typeof value !== "object" || value === null) return value;
  const entries = Object.entries(value).map(([name, field]) => [
    name,
    fixedFields.has(name) ? field : maskStrings(field, mask, fixedFields),
  ]);
  return Object.fromEntries(entries);
}

function maskString(text: string, mask: SecretMask): string {
  return mask.push(text) + mask.flush();
}
