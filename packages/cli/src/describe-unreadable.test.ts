import { readFile } from "node:fs/promises";
import { expect, test } from "vitest";
import { describeUnreadable } from "./describe-unreadable.ts";

const describe = async (path: string): Promise<string> =>
  await readFile(path, "utf8").catch((error: unknown) => describeUnreadable(path, error));

test("a file that cannot be read is named in a sentence without codes of the system", async () => {
  expect(await describe("/no-such-file")).toBe("There is no file /no-such-file.");
  expect(await describe("/dev/null/x")).toBe("There is no file /dev/null/x.");
  expect(await describe("/usr")).toBe("/usr is a folder, not a file.");
  expect(describeUnreadable("a", { code: "EACCES" })).toBe("Your user may not read a.");
  expect(describeUnreadable("a", { code: "EIO" })).toBe("a cannot be read: EIO");
  expect(describeUnreadable("a", new SyntaxError("no JSON"))).toBe("a cannot be read: no JSON");
});
