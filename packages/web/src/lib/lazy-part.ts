import { lazy, type ComponentType, type LazyExoticComponent } from "react";

const firstWaitMs = 250;
const longestWaitMs = 8_000;
const mostTries = 12;

/** A component that is loaded when it is first shown. A lost connection delays it; it does not break the page. */
export function lazyPart<Props>(
  load: () => Promise<{ default: ComponentType<Props> }>,
): LazyExoticComponent<ComponentType<Props>> {
  return lazy(() => loadPatiently(load));
}

/** Tries again for about a minute; what cannot be had then is gone, and whoever asks is told. */
export async function loadPatiently<Part>(
  load: () => Promise<Part>,
  pause: (ms: number) => Promise<void> = (ms) => new Promise((resolve) => setTimeout(resolve, ms)),
): Promise<Part> {
  for (let tries = 1; ; tries += 1) {
    try {
      return await load();
    } catch (error) {
      if (tries === mostTries) throw error;
      await pause(Math.min(longestWaitMs, firstWaitMs * 2 ** (tries - 1)));
    }
  }
}
