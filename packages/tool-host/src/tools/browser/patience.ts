/** So long something may lie over an element, or the element may be disabled, before that is the answer: what moves in or out is done by then. */
const refusedMs = 1_200;
/** So long a page may take to get to an element at all. */
const busyMs = 5_000;

/** What Playwright says it waits for, when that is something the agent should hear of. */
const refusals = /intercepts pointer events|not (?:enabled|editable|visible|attached)/i;
/** Done already, though the page has not said so: done again it would be done twice. */
const begun = /performing \w+ action/i;

/**
 * Acts on an element within the time that it is given. A refusal that is known is thrown soon; a page that has not got to the element
 * yet has more time.
 */
export async function actPatiently(act: (timeoutMs: number) => Promise<unknown>): Promise<void> {
  try {
    await act(refusedMs);
  } catch (error) {
    const isLate = error instanceof Error && error.name === "TimeoutError";
    if (!isLate || refusals.test(error.message) || begun.test(error.message)) throw error;
    await act(busyMs - refusedMs);
  }
}
