import type { SecretSource } from "@convoke/protocol";
import { checkSecretBinding, keepBinding } from "../../../egress/check-secret-binding.ts";
import { secretMask } from "../../../settings/secret-fields.ts";
import { invalidField } from "../../../lib/fault.ts";
import { longestValueBytes, maxValueBytes } from "../../../security/secret-sources.ts";

type Sources = Readonly<Record<string, SecretSource>>;

/** Refuses values that are too long, also with the `others` that the conversation has, and hosts that cannot bind. */
export function checkSecretSources(sources: Sources, loc: readonly string[], others: Sources = {}): void {
  for (const [name, source] of Object.entries(sources)) {
    if (sizeOf(source) > longestValueBytes)
      throw invalidField([...loc, name, "value"], "Send at most 64 KiB: put what is longer into a file.");
  }
  checkBindings(sources, loc, others);
  const bytes = Object.values({ ...others, ...sources }).reduce((sum, source) => sum + sizeOf(source), 0);
  if (bytes > maxValueBytes)
    throw invalidField(
      [...loc],
      "The secrets of a conversation have at most 256 KiB together, and at least 256 bytes count for each: send fewer or shorter ones.",
    );
}

function checkBindings(sources: Sources, loc: readonly string[], others: Sources): void {
  for (const [name, source] of Object.entries(sources)) {
    const stored = Object.hasOwn(others, name) ? others[name] : undefined;
    const meant = source.kind === "StaticSecret" && source.value === secretMask ? stored : source;
    const value = meant?.kind === "StaticSecret" ? (meant.value ?? null) : null;
    checkSecretBinding(name, keepBinding(source, stored), value, [...loc, name]);
  }
}

/** The same for everything that is masked in a conversation: keys, headers, variables and arguments of MCP servers. */
export function checkHiddenValues(values: readonly string[], loc: readonly string[]): void {
  const bytes = values.reduce((sum, value) => sum + Math.max(leastBytes, Buffer.byteLength(value)), 0);
  if (bytes <= maxHiddenBytes) return;
  const msg =
    "Keys, headers, secrets and variables of MCP servers have at most 512 KiB together: send fewer or shorter ones.";
  throw invalidField([...loc], msg);
}

const maxHiddenBytes = 2 * maxValueBytes;
/** Every secret has many forms, however short it is. */
const leastBytes = 256;

function sizeOf(source: SecretSource): number {
  return source.kind === "StaticSecret"
    ? Math.max(leastBytes, Buffer.byteLength(source.value ?? ""))
    : leastBytes;
}
