const refusalPhrase =
  /unsupported|not supported|support|unrecogni[sz]ed|unknown|unexpected|not permitted|not allowed|extra (?:inputs?|fields?)|deprecated|invalid (?:param|argument|value)|cannot (?:both )?be/iu;

/**
 * The optional request field that a provider's rejection (400 or 422) is about, or null. Models differ in which fields
 * they accept and no catalogue keeps up, so an adapter leaves the named field out and asks again.
 */
export function findRefusedField(thrown: unknown, sent: readonly string[]): string | null {
  const { status, message, param } = thrown as { status?: unknown; message?: unknown; param?: unknown };
  if (status !== 400 && status !== 422) return null;
  const text = typeof message === "string" ? message : "";
  if (!refusalPhrase.test(text)) return null;
  const named = sent.find((field) => field === param);
  return named ?? sent.find((field) => new RegExp(`(?<![\\w-])${field}(?![\\w-])`, "u").test(text)) ?? null;
}
