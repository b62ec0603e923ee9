import { afterAll, beforeAll, expect, onTestFinished, test } from "vitest";
import { createBrowserBench, type BrowserBench, type BrowserPlace, type Surfer } from "./browser-bench.ts";

/** The bench shared by the tests of one file. */
export type SharedBench = {
  readonly bench: BrowserBench;
  /** Opens a conversation that ends with the test; with a path it opens that page. */
  readonly surf: (path?: string, params?: Readonly<Record<string, unknown>>) => Promise<Surfer>;
  /** For a case that is about the page alone, which is the same in every place: skipped where its place has a part of them. */
  readonly pageTest: PageTest;
};

type PageTest = {
  (name: string, body: () => Promise<void>): void;
  /** All rows are one case. */
  readonly each: <Row extends unknown[]>(
    rows: readonly Row[],
  ) => (name: string, body: (...row: Row) => Promise<void>) => void;
};

/** Every `of`-th case, from number `from` on. */
export type PartOfCases = { readonly of: number; readonly from: number };

/** Opens a place before the tests of this file or block, and closes it afterwards. */
export function shareBrowserBench(
  openPlace: () => Promise<BrowserPlace>,
  { of, from }: PartOfCases = { of: 1, from: 0 },
): SharedBench {
  let place: BrowserPlace;
  let bench: BrowserBench;
  let pageCases = 0;
  const next = () => test.runIf(pageCases++ % of === from);
  const each: PageTest["each"] = (rows) => (name, body) => next().each(rows)(name, body);
  beforeAll(async () => {
    place = await openPlace();
    bench = createBrowserBench(place);
  });
  afterAll(() => place[Symbol.asyncDispose]());
  return {
    get bench() {
      return bench;
    },
    pageTest: Object.assign((name: string, body: () => Promise<void>) => next()(name, body), { each }),
    surf: async (path, params) => {
      const surfer = await bench.surf(params);
      onTestFinished(() => surfer[Symbol.asyncDispose]());
      if (path !== undefined) expect(await surfer.open(path)).toMatchObject({ isError: false });
      return surfer;
    },
  };
}
