import { expect, onTestFinished, test, vi } from "vitest";
import { LostConnection } from "./lost-connection.ts";

function hush(): void {
  const spy = vi.spyOn(console, "error").mockImplementation(() => {});
  onTestFinished(() => spy.mockRestore());
}

test("a connection that does not come back is given up once, and one that does is not", async () => {
  hush();
  const lost = await new Promise<LostConnection>((resolve) => {
    const link: LostConnection = new LostConnection(() => resolve(link), 1);
    link.see({ state: "lost" });
    link.see({ state: "connecting" });
    link.see({ state: "lost" });
  });
  expect(lost.isGivenUp).toBe(true);
  let isGivenUp = false;
  using back = new LostConnection(() => (isGivenUp = true), 60_000);
  back.see({ state: "lost" });
  back.see({ state: "connected" });
  expect([isGivenUp, back.isGivenUp]).toEqual([false, false]);
});
