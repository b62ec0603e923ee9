import { lazy, type ComponentType, type LazyExoticComponent } from "react";

const firstWaitMs = 250;
const maxWaitMs = 8_000;
/** After about a minute of fast attempts. */
const fastAttempts = 12;
const slowWaitMs = 60_000;

/** A component that is loaded when first rendered. A network error delays it. */
export function lazyPart<Props>(
  load: () => Promise<{ default: ComponentType<Props> }>,
): LazyExoticComponent<ComponentType<Props>> {
  return lazy(() => loadWithRetry(load));
}

/** Retries until the import succeeds. If the file is gone, the component stays empty; the rest of the page works. */
export async function loadWithRetry<Part>(
  load: () => Promise<Part>,
  pause: (ms: number) => Promise<void> = (ms) => new Promise((resolve) => setTimeout(resolve, ms)),
): Promise<Part> {
  for (let tries = 1; ; tries += 1) {
    try {
      return await load();
    } catch {
      // The bundler reports the error to the page; this only retries.
      await pause(tries < fastAttempts ? Math.min(maxWaitMs, firstWaitMs * 2 ** (tries - 1)) : slowWaitMs);
    }
  }
}
