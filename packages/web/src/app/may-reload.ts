/** Minimum time between reloads: servers of different versions behind one address must not cause a reload loop. */
const atMostEveryMs = 600_000;

export type PageUse = {
  /** Whether the user has pressed a key or button since the page was loaded. */
  readonly hasBeenUsed: boolean;
  /** The text in its input fields. */
  readonly texts: readonly string[];
  /** When this tab last reloaded by itself, as stored. */
  readonly lastAtMs: unknown;
  readonly nowMs: number;
};

/** Whether a page may reload without asking: only if nobody has used it, such as a wall display. */
export function mayReload({ hasBeenUsed, texts, lastAtMs, nowMs }: PageUse): boolean {
  const isRecent = typeof lastAtMs === "number" && nowMs - lastAtMs < atMostEveryMs;
  return !hasBeenUsed && !isRecent && texts.every((text) => text === "");
}
