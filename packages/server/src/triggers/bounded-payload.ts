/** Characters of JSON that are stored with a run. */
const maxJson = 256 * 1024;
/** What is left of each text and list of a larger payload. */
const maxText = 4_000;
const maxItems = 50;
const maxName = 200;
/** Levels that are tried, until the rest is small enough. */
const depths = [8, 3, 2, 1];

export type Payload = Readonly<Record<string, unknown>>;

/**
 * What a prompt can have inserted of a posted body: the body itself if it is an object, with `event_name` where the
 * sender names the event. A large one is trimmed, with notes where something is left out.
 */
export function boundedPayload(body: unknown, event: string | null): Payload {
  const isObject = typeof body === "object" && body !== null && !Array.isArray(body);
  const named = { ...(event === null ? {} : { event_name: event }), ...(isObject ? body : { body }) };
  if (JSON.stringify(named).length <= maxJson) return named;
  for (const depth of depths) {
    const payload = trim(named, depth) as Payload;
    if (JSON.stringify(payload).length <= maxJson) return payload;
  }
  return { ...(event === null ? {} : { event_name: event }), body: "(left out: it is too large)" };
}

function trim(value: unknown, depth: number): unknown {
  if (typeof value === "string") return trimText(value);
  if (typeof value !== "object" || value === null) return value;
  if (depth === 0) return "(left out: it is nested too deeply)";
  if (Array.isArray(value)) {
    const shown = value.slice(0, maxItems).map((item) => trim(item, depth - 1));
    const left = value.length - shown.length;
    return left === 0 ? shown : [...shown, `(${left} more are left out)`];
  }
  const fields = Object.entries(value);
  const shown = fields
    .slice(0, maxItems)
    .map(([name, field]) => [name.slice(0, maxName), trim(field, depth - 1)]);
  const left = fields.length - shown.length;
  return Object.fromEntries(left === 0 ? shown : [...shown, ["...", `(${left} more are left out)`]]);
}

function trimText(text: string): string {
  return text.length <= maxText
    ? text
    : `${text.slice(0, maxText)} (${text.length - maxText} characters are left out)`;
}
