import { lazy, type ComponentType, type LazyExoticComponent } from "react";

const firstWaitMs = 250;
const maxWaitMs = 8_000;
/** After about a minute it is tried in peace. */
const fastAttempts = 12;
const slowWaitMs = 60_000;

/** A component that is loaded when it is first shown. A lost connection delays it; it does not break the page. */
export function lazyPart<Props>(
  load: () => Promise<{ default: ComponentType<Props> }>,
): LazyExoticComponent<ComponentType<Props>> {
  return lazy(() => loadWithRetry(load));
}

/** Tries until it is there. A part that is gone for good leaves its place empty; the rest of the page, and what was written, stays. */
export async function loadWithRetry<Part>(
  load: () => Promise<Part>,
  pause: (ms: number) => Promise<void> = (ms) => new Promise((resolve) => setTimeout(resolve, ms)),
): Promise<Part> {
  for (let tries = 1; ; tries += 1) {
    try {
      return await load();
    } catch {
      // Whoever looks after the page hears of it from the bundler; here only the next try counts.
      await pause(tries < fastAttempts ? Math.min(maxWaitMs, firstWaitMs * 2 ** (tries - 1)) : slowWaitMs);
    }
  }
}
