const refusalPhrase =
  /unsupported|not supported|support|unrecogni[sz]ed|unknown|unexpected|not permitted|not allowed|extra (?:inputs?|fields?)|deprecated|invalid (?:param|argument|value)|cannot (?:both )?be/iu;

/** Sealed parts of earlier answers that this provider cannot open: they came from another account, model or host. */
const sealedFields: readonly (readonly [string, RegExp])[] = [
  ["encrypted_content", /encrypted[_ ]content/iu],
  ["thinking_signature", /signature.{0,40}thinking|thinking.{0,80}signature|invalid `?signature/iu],
];

/** The fields that are sent: those with a value which the provider has not refused. */
export function withoutRefused(
  fields: Readonly<Record<string, unknown>>,
  refused: ReadonlySet<string>,
): Record<string, unknown> {
  const sent = Object.entries(fields).filter(([name, value]) => value !== null && !refused.has(name));
  return Object.fromEntries(sent);
}

/**
 * The optional request field that a provider's rejection (400 or 422) is about, or null. Models differ in which fields
 * they accept and no catalogue keeps up, so an adapter leaves the named field out and asks again.
 */
export function findRefusedField(thrown: unknown, sent: readonly string[]): string | null {
  const { status, message, param } = thrown as { status?: unknown; message?: unknown; param?: unknown };
  if (status !== 400 && status !== 422) return null;
  const text = typeof message === "string" ? message : "";
  const sealed = sealedFields.find(([field, phrase]) => sent.includes(field) && phrase.test(text));
  if (sealed !== undefined) return sealed[0];
  if (!refusalPhrase.test(text)) return null;
  const named = sent.find((field) => field === param);
  return named ?? sent.find((field) => new RegExp(`(?<![\\w-])${field}(?![\\w-])`, "u").test(text)) ?? null;
}
