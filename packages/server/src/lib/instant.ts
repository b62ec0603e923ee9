/** An instant in microseconds since the epoch, UTC. Exact in a double until the year 2255. */
export type Micros = number;

/** UTC text in milliseconds, e.g. `2026-01-31T12:00:00.000Z`. */
export function isoOf(ms: number): string {
  return new Date(ms).toISOString();
}

/** Fixed-width UTC text, e.g. `2026-01-31T12:00:00.000000Z`; text order is time order. */
export function formatInstant(micros: Micros): string {
  const ms = Math.floor(micros / 1000);
  const rest = micros - ms * 1000;
  return `${isoOf(ms).slice(0, -1)}${String(rest).padStart(3, "0")}Z`;
}

const instantPattern =
  /^(\d{4})-(\d{2})-(\d{2})(?:[Tt ](\d{2}):(\d{2})(?::(\d{2})(?:[.,](\d{1,9}))?)?\s*([Zz]|[+\- ]\d{2}:?\d{2})?)?$/;

/**
 * Parses an RFC 3339 date-time; null when it is not one. Without an offset it is UTC. A `+` that a query string turned
 * into a space still counts as `+`. Digits beyond microseconds round up, so that `>=` and `<` keep their meaning.
 */
export function parseInstant(text: string): Micros | null {
  const match = instantPattern.exec(text.trim());
  if (match === null) return null;
  const [, year, month, day, hour = "00", minute = "00", second = "00", fraction = "", zone = "Z"] = match;
  const seconds = second === "60" ? "59" : second;
  const ms = Date.UTC(
    Number(year),
    Number(month) - 1,
    Number(day),
    Number(hour),
    Number(minute),
    Number(seconds),
  );
  const check = new Date(ms);
  const isReal =
    check.getUTCMonth() === Number(month) - 1 &&
    check.getUTCDate() === Number(day) &&
    Number(hour) < 24 &&
    Number(minute) < 60 &&
    Number(seconds) < 60;
  const offset = offsetMinutes(zone);
  if (!isReal || offset === null) return null;
  const nanos = Number(fraction.padEnd(9, "0"));
  return (ms - offset * 60_000) * 1000 + Math.ceil(nanos / 1000);
}

function offsetMinutes(zone: string): number | null {
  if (zone === "Z" || zone === "z") return 0;
  const sign = zone[0] === "-" ? -1 : 1;
  const digits = zone.slice(1).replace(":", "");
  const hours = Number(digits.slice(0, 2));
  const minutes = Number(digits.slice(2));
  return hours < 24 && minutes < 60 ? sign * (hours * 60 + minutes) : null;
}
