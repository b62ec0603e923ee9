import { randomUUID } from "node:crypto";

/**
 * The next UUIDv7 after `previous`: dashed lowercase, and greater than it as text even when the clock stands still or
 * goes back. The 74 bits behind the milliseconds are a random start and then a counter, so a millisecond never runs out.
 */
export function nextUuid7(previous: string | null, nowMs: number): string {
  if (previous === null) return fresh(nowMs);
  const lastMs = msOfUuid7(previous);
  if (nowMs > lastMs) return fresh(nowMs);
  const low = Number.parseInt(previous.slice(28), 16) + 1 + Math.floor(Math.random() * 0xffff);
  if (low <= 0xffff_ffff) return previous.slice(0, 28) + hex(low, 8);
  const high = Number.parseInt(previous.slice(15, 18), 16);
  const middle = Number.parseInt(previous.slice(19, 23) + previous.slice(24, 28), 16) & 0x3fff_ffff;
  const carried = high * 0x4000_0000 + middle + 1;
  const isFull = carried > 0x3ff_ffff_ffff;
  return isFull
    ? format(lastMs + 1, 0, 0, 0)
    : format(lastMs, Math.floor(carried / 0x4000_0000), carried % 0x4000_0000, low - 0x1_0000_0000);
}

/** The epoch milliseconds that a UUIDv7 begins with; NaN for what is none. */
export function msOfUuid7(id: string): number {
  return Number.parseInt(id.slice(0, 8) + id.slice(9, 13), 16);
}

/** A UUID of any version in dashed or 32-hex form, lower-cased and dashed; null when it is neither. */
export function normalizeUuid(text: string): string | null {
  if (storedForm.test(text)) return text;
  const hex = text.toLowerCase().replaceAll("-", "");
  if (!/^[0-9a-f]{32}$/.test(hex)) return null;
  const dashed = `${hex.slice(0, 8)}-${hex.slice(8, 12)}-${hex.slice(12, 16)}-${hex.slice(16, 20)}-${hex.slice(20)}`;
  return text.length === 32 || text.toLowerCase() === dashed ? dashed : null;
}

/** An id as it is stored; what is no UUID stays as it is, and names nothing. */
export function storedId(given: string): string {
  return normalizeUuid(given) ?? given;
}

const storedForm = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/;

function fresh(ms: number): string {
  const time = hex(ms, 12);
  // A version 4 id lends its variant and its random end: Node makes them from a pool, many times faster than single numbers.
  const random = randomUUID();
  // The top bit stays clear: the counter has room to grow.
  const top = Number.parseInt(random.slice(15, 16), 16) & 7;
  return `${time.slice(0, 8)}-${time.slice(8)}-7${top}${random.slice(16)}`;
}

/** `high` has 12 bits, `middle` 30, `low` 32. */
function format(ms: number, high: number, middle: number, low: number): string {
  const time = hex(ms, 12);
  const rest = hex(0x8000_0000 + middle, 8) + hex(low, 8);
  return `${time.slice(0, 8)}-${time.slice(8)}-7${hex(high, 3)}-${rest.slice(0, 4)}-${rest.slice(4)}`;
}

function hex(value: number, width: number): string {
  return value.toString(16).padStart(width, "0");
}
