import { afterAll, beforeAll, expect, onTestFinished } from "vitest";
import { createBrowserBench, type BrowserBench, type BrowserPlace, type Surfer } from "./browser-bench.ts";

/** The bench shared by the tests of one file. */
export type SharedBench = {
  readonly bench: BrowserBench;
  /** Opens a conversation that ends with the test; with a path it opens that page. */
  readonly surf: (path?: string, params?: Readonly<Record<string, unknown>>) => Promise<Surfer>;
};

/** Opens a place before the tests of this file or block, and closes it afterwards. */
export function shareBrowserBench(openPlace: () => Promise<BrowserPlace>): SharedBench {
  let place: BrowserPlace;
  let bench: BrowserBench;
  beforeAll(async () => {
    place = await openPlace();
    bench = createBrowserBench(place);
  });
  afterAll(() => place[Symbol.asyncDispose]());
  return {
    get bench() {
      return bench;
    },
    surf: async (path, params) => {
      const surfer = await bench.surf(params);
      onTestFinished(() => surfer[Symbol.asyncDispose]());
      if (path !== undefined) expect(await surfer.open(path)).toMatchObject({ isError: false });
      return surfer;
    },
  };
}
