/** Servers of different versions behind one address must not have a page reload again and again. */
const atMostEveryMs = 600_000;

export type PageUse = {
  /** Whether anybody pressed a key or a button in it since it was loaded. */
  readonly hasBeenUsed: boolean;
  /** What is written in its fields. */
  readonly texts: readonly string[];
  /** When this tab reloaded by itself last, as it was kept. */
  readonly lastAtMs: unknown;
  readonly nowMs: number;
};

/** Whether a page reloads by itself: only one that nobody has touched, such as that of a screen on a wall. All others are asked. */
export function mayReload({ hasBeenUsed, texts, lastAtMs, nowMs }: PageUse): boolean {
  const isRecent = typeof lastAtMs === "number" && nowMs - lastAtMs < atMostEveryMs;
  return !hasBeenUsed && !isRecent && texts.every((text) => text === "");
}
