import { InvalidArgumentError } from "commander";

const hourMs = 3_600_000;
const unitsMs: Readonly<Record<string, number>> = { h: hourMs, d: 24 * hourMs };
const howTo = "It must be a number of hours or days such as 12h or 30d, or a date such as 2027-01-31.";

/**
 * The end of a key in epoch milliseconds: `12h` and `30d` count from `nowMs`, a date is its beginning in UTC, and a
 * date-time needs its zone. Throws `InvalidArgumentError` for anything else and for the past.
 */
export function parseExpiry(text: string, nowMs: number): number {
  const [, count, unit] = /^([1-9]\d{0,4})([hd])$/.exec(text) ?? [];
  if (count !== undefined && unit !== undefined) return nowMs + Number(count) * unitsMs[unit]!;
  if (!/^\d{4}-\d{2}-\d{2}(?:T\d{2}:\d{2}(?::\d{2})?(?:Z|[+-]\d{2}:\d{2}))?$/.test(text))
    throw new InvalidArgumentError(howTo);
  const atMs = Date.parse(text);
  if (Number.isNaN(atMs) || !isDay(text.slice(0, 10))) throw new InvalidArgumentError(howTo);
  if (atMs <= nowMs) throw new InvalidArgumentError("It must be in the future.");
  return atMs;
}

/** Date.parse reads 2027-02-30 as the second of March. */
function isDay(day: string): boolean {
  return new Date(`${day}T00:00Z`).toISOString().startsWith(day);
}
