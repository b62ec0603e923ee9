import { setFlagsFromString } from "node:v8";
import { Script } from "node:vm";
import { expect, test } from "vitest";
import { HeapGrowth } from "./heap-growth.ts";

test("a large heap is collected earlier, until it is small again or the server ends", () => {
  let megabytes = 0;
  const flags: string[] = [];
  const growth = new HeapGrowth({
    usedBytes: () => megabytes * 1024 * 1024,
    setFlags: (flag) => void flags.push(flag),
  });
  for (megabytes of [100, 190, 200, 300, 150, 130, 120, 150, 200]) growth.check();
  expect(flags).toEqual([
    "--heap-growing-percent=50",
    "--heap-growing-percent=0",
    "--heap-growing-percent=50",
  ]);
  growth[Symbol.dispose]();
  growth[Symbol.dispose]();
  expect(flags.slice(3)).toEqual(["--heap-growing-percent=0"]);
});

test("after it ends, V8 accepts code again that was compiled before it", () => {
  const headOfCode = (): Buffer => new Script("(() => 1)").createCachedData().subarray(0, 16);
  const before = headOfCode();
  {
    using growth = new HeapGrowth({ usedBytes: () => Infinity, setFlags: setFlagsFromString });
    growth.check();
    expect(headOfCode()).not.toEqual(before);
  }
  expect(headOfCode()).toEqual(before);
});
