/** A text of an answer; servers that are only compatible send a number, nothing or an object in its place. */
export function textIn(value: unknown): string {
  if (typeof value === "string") return value;
  if (value === null || value === undefined) return "";
  return JSON.stringify(value);
}

/** A list of an answer without what is no object; one object counts as a list of it. `Item` is what the caller reads them as. */
// oxlint-disable-next-line typescript/no-unnecessary-type-parameters -- each field of an item is read as an unknown one
export function objectsIn<Item extends object>(value: unknown): readonly Item[] {
  if (typeof value !== "object" || value === null) return [];
  const items: readonly unknown[] = Array.isArray(value) ? value : [value];
  return items.filter((item): item is Item => typeof item === "object" && item !== null);
}

/** A number of tokens. What is no count, such as a negative number, counts as none: it would falsify sums and budgets. */
export function countIn(value: unknown): number {
  const count = numberIn(value);
  return count !== null && count >= 0 && count <= Number.MAX_SAFE_INTEGER ? Math.round(count) : 0;
}

/** US dollars that a gateway bills; null for what is no amount. */
export function costIn(value: unknown): number | null {
  const cost = numberIn(value);
  return cost !== null && cost >= 0 && cost <= largestCost ? cost : null;
}

/** No answer costs more; a gateway that says so counts in another unit. */
const largestCost = 1_000_000;

function numberIn(value: unknown): number | null {
  const isNumeric = typeof value === "number" || (typeof value === "string" && value.trim() !== "");
  const number = isNumeric ? Number(value) : Number.NaN;
  return Number.isFinite(number) ? number : null;
}
