const steps = [
  [60_000, 1_000, "s"],
  [3_600_000, 60_000, "min"],
  [86_400_000, 3_600_000, "h"],
  [Infinity, 86_400_000, "d"],
] as const;

/** How long ago `instant` (RFC 3339) was, in one unit: `12 min`. */
export function describeAge(instant: string | undefined, nowMs: number): string {
  const ageMs = Math.max(0, nowMs - Date.parse(instant ?? ""));
  if (Number.isNaN(ageMs)) return "";
  const [, unitMs, unit] = steps.find(([limit]) => ageMs < limit) ?? steps[3];
  return `${Math.floor(ageMs / unitMs)} ${unit}`;
}

/** US dollars. */
export function describeCost(cost: number): string {
  if (cost === 0) return "";
  return cost < 0.01 ? "<$0.01" : `$${cost.toFixed(2)}`;
}
