import { expect, test } from "vitest";
import { PageVersion } from "./page-version.ts";

const page = (script: string): string =>
  `<head><base href="/" /><script type="module" crossorigin src="./assets/${script}"></script></head>`;

test("J30: a page is old when the server's begins with another script, and stays so", async () => {
  let served: string | null = page("index-1.js");
  let reads = 0;
  const version = new PageVersion("./assets/index-1.js", async () => {
    reads += 1;
    return served;
  });
  await version.check();
  expect(version.isOld.snapshot()).toBe(false);
  served = null;
  await version.check();
  expect(version.isOld.snapshot()).toBe(false);
  served = page("index-2.js");
  await Promise.all([version.check(), version.check()]);
  expect([version.isOld.snapshot(), reads]).toEqual([true, 3]);
  served = page("index-1.js");
  await version.check();
  expect([version.isOld.snapshot(), reads]).toEqual([true, 3]);
});

test("J30: a server that gives no answer says nothing about the page", async () => {
  let isUnreachable = true;
  const version = new PageVersion("./assets/index-1.js", async () => {
    if (isUnreachable) throw new TypeError("Failed to fetch");
    return page("index-2.js");
  });
  await version.check();
  expect(version.isOld.snapshot()).toBe(false);
  isUnreachable = false;
  await version.check();
  expect(version.isOld.snapshot()).toBe(true);
});

test("J30: a connection while the page is read has it read again: what is on its way may be of a server that ended", async () => {
  const answers = Promise.withResolvers<string>();
  let reads = 0;
  const version = new PageVersion("./assets/index-1.js", async () => {
    reads += 1;
    return reads === 1 ? await answers.promise : page("index-2.js");
  });
  const first = version.check();
  await version.check();
  answers.reject(new TypeError("Failed to fetch"));
  await first;
  expect([version.isOld.snapshot(), reads]).toEqual([true, 2]);
});
