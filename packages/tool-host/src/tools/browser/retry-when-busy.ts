/** Milliseconds after which a covered or disabled element is reported; animations are finished by then. */
const refusedMs = 1_200;
/** Milliseconds that a busy page has to react at all. */
const busyMs = 5_000;

/** Playwright's messages about obstacles that the agent should know. */
const refusals = /intercepts pointer events|not (?:enabled|editable|visible|attached)/i;
/** The action has started, though the page has not confirmed it: a retry would do it twice. */
const begun = /performing \w+ action/i;

/** Performs an action on an element with two timeouts: a known obstacle is thrown soon, a page that is busy gets more time. */
export async function retryWhenBusy(act: (timeoutMs: number) => Promise<unknown>): Promise<void> {
  try {
    await act(refusedMs);
  } catch (error) {
    const isLate = error instanceof Error && error.name === "TimeoutError";
    if (!isLate || refusals.test(error.message) || begun.test(error.message)) throw error;
    await act(busyMs - refusedMs);
  }
}
