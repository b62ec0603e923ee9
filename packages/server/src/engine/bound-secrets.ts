import type { SecretSource } from "@convoke/protocol";
import type { ToolSecret } from "@convoke/tool-host";
import { isBound, minBoundValueChars, secretPlaces } from "../egress/check-secret-binding.ts";
import type { BoundSecret } from "../egress/egress.ts";
import { createPlaceholder } from "../security/placeholder.ts";
import { withoutUndefined } from "../lib/without-undefined.ts";
import type { ConversationSecrets } from "./conversation-config.ts";

/**
 * Gives each bound secret a placeholder, unless it has one. A placeholder lives as long as the conversation: shells that are running, and
 * files that it was written to, go on working after a restart and after its value was changed.
 */
export function withPlaceholders(secrets: ConversationSecrets): ConversationSecrets {
  const { placeholders: known = {} } = secrets;
  const bound = Object.entries(secrets.sources).filter(([, source]) => isBound(source));
  const placeholders = Object.fromEntries(
    bound.map(([name, source]) => {
      const shape = source.shape ?? null;
      const before = Object.hasOwn(known, name) ? known[name] : undefined;
      const isUsable = before !== undefined && (shape === null || before.startsWith(shape));
      return [name, isUsable ? before : createPlaceholder(name, shape)];
    }),
  );
  return withoutUndefined({
    ...secrets,
    placeholders: bound.length === 0 ? undefined : placeholders,
  });
}

/** The same secrets for a fork, which has placeholders of its own. */
export function withNewPlaceholders(secrets: ConversationSecrets): ConversationSecrets {
  return withPlaceholders({ ...secrets, placeholders: {} });
}

/** What the wall of a conversation puts into requests. One whose value is not known yet, or too short to be masked in answers, is not there. */
export function toBoundSecrets({
  sources,
  placeholders = {},
  fetchedValues = {},
}: ConversationSecrets): BoundSecret[] {
  return Object.entries(sources).flatMap(([name, source]): BoundSecret[] => {
    const value = (source.kind === "StaticSecret" ? source.value : fetchedValues[name])?.trim() ?? "";
    const placeholder = Object.hasOwn(placeholders, name) ? placeholders[name] : undefined;
    if (!isBound(source) || value.length < minBoundValueChars || placeholder === undefined) return [];
    return [{ name, placeholder, value, hosts: source.hosts ?? [], as: secretPlaces(source) }];
  });
}

/** The values of bound secrets that were looked up, by name. */
export function fetchedOf(
  resolved: readonly ToolSecret[],
  sources: Readonly<Record<string, SecretSource>>,
): Readonly<Record<string, string>> {
  return Object.fromEntries(
    resolved.flatMap(({ name, value }) => {
      const source = sources[name];
      return source?.kind === "LookupSecret" && isBound(source) ? [[name, value]] : [];
    }),
  );
}

/** What tools get: of a bound secret the placeholder, whatever is around the tools, and never the value. */
export function toToolSecrets(
  resolved: readonly ToolSecret[],
  { sources, placeholders = {} }: ConversationSecrets,
): ToolSecret[] {
  return resolved.flatMap((secret): ToolSecret[] => {
    const source = sources[secret.name];
    if (source === undefined || !isBound(source)) return [secret];
    const placeholder = Object.hasOwn(placeholders, secret.name) ? placeholders[secret.name] : undefined;
    return placeholder === undefined ? [] : [{ name: secret.name, value: placeholder, isPlaceholder: true }];
  });
}
