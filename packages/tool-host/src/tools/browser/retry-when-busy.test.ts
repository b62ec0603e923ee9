import { expect, test } from "vitest";
import { retryWhenBusy } from "./retry-when-busy.ts";

/** An action that fails with these errors one after the other and then succeeds; returns the timeouts it was given. */
function actOf(...errors: readonly Error[]) {
  const given: number[] = [];
  const act = async (timeoutMs: number): Promise<void> => {
    given.push(timeoutMs);
    const error = errors[given.length - 1];
    if (error !== undefined) throw error;
  };
  return { given, act };
}

function late(log: string): Error {
  return Object.assign(new Error(`click: Timeout exceeded.\nCall log:\n${log}`), { name: "TimeoutError" });
}

test.each([
  "- <div id='cover'></div> intercepts pointer events",
  "- element is not enabled",
  "- element is not editable",
  "- element is not visible",
])("what the element itself is refused for is the answer at the first end of the time: %s", async (log) => {
  const { given, act } = actOf(late(log));
  await expect(retryWhenBusy(act)).rejects.toThrow(log);
  expect(given).toHaveLength(1);
});

test("a busy page gets the rest of five seconds", async () => {
  const { given, act } = actOf(late("- waiting for element to be visible, enabled and stable"));
  await retryWhenBusy(act);
  expect(given).toHaveLength(2);
  expect(given.reduce((sum, ms) => sum + ms)).toBe(5_000);
});

test("an action that has started is not repeated, and one that fails at once is reported at once", async () => {
  const clicked = actOf(late("- performing click action"));
  await expect(retryWhenBusy(clicked.act)).rejects.toThrow("performing");
  expect(clicked.given).toHaveLength(1);
  const broken = actOf(new Error("Malformed value"));
  await expect(retryWhenBusy(broken.act)).rejects.toThrow("Malformed");
  expect(broken.given).toHaveLength(1);
});
