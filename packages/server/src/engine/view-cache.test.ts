import { expect, test } from "vitest";
import { ViewCache, type CachedView } from "./view-cache.ts";

test("the longest unused view goes first when there are too many, and a view that is too long goes at once", () => {
  const views = new ViewCache({ one: 50, all: 100 });
  const [first, second, third] = [createView(40), createView(40), createView(40)];
  for (const view of [first, second]) views.keep(view);
  views.take(first);
  views.keep(first);
  views.keep(third);
  expect([first, second, third].map(({ viewCharacters }) => viewCharacters)).toEqual([40, 0, 40]);
  const long = createView(51);
  views.keep(long);
  expect([first, third, long].map(({ viewCharacters }) => viewCharacters)).toEqual([40, 40, 0]);
});

test("a view that is worked on is not touched; a pause gives the others back", () => {
  const views = new ViewCache({ one: 100, all: 100 });
  const [working, resting] = [createView(60), createView(60)];
  views.keep(working);
  views.take(working);
  views.keep(resting);
  expect(resting.viewCharacters).toBe(60);
  views.clear();
  expect([working, resting].map(({ viewCharacters }) => viewCharacters)).toEqual([60, 0]);
});

test("what a view has grown by at rest counts as soon as another one comes", () => {
  const views = new ViewCache({ one: 100, all: 100 });
  const grown = { ...createView(10) };
  views.keep(grown);
  grown.viewCharacters = 90;
  const other = createView(20);
  views.keep(other);
  expect([grown, other].map(({ viewCharacters }) => viewCharacters)).toEqual([0, 20]);
});

function createView(characters: number): { -readonly [Field in keyof CachedView]: CachedView[Field] } {
  return {
    viewCharacters: characters,
    forgetView() {
      this.viewCharacters = 0;
    },
  };
}
