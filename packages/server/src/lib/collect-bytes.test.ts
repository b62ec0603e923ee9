import { Readable } from "node:stream";
import { expect, test } from "vitest";
import { collectBytes } from "./collect-bytes.ts";

test("security 7: a stream above the maximum is ended, whatever its announced size", async () => {
  let given = 0;
  const endless = new Readable({
    read() {
      given += 65_536;
      this.push(Buffer.alloc(65_536));
    },
  });
  expect(await collectBytes(endless, 1024 * 1024)).toBeNull();
  expect(endless.destroyed).toBe(true);
  expect(given).toBeLessThan(3 * 1024 * 1024);
  expect((await collectBytes(Readable.from([Buffer.from("ab"), Buffer.from("c")]), 3))?.toString()).toBe(
    "abc",
  );
});
