import { expect, test } from "vitest";
import { sharedIn } from "./shared-in.ts";

test("the path of a share link names the conversation, also behind a prefix", () => {
  expect(sharedIn("/shared/0198c0de-1")).toBe("0198c0de-1");
  expect(sharedIn("/prefix/shared/0198c0de-1")).toBe("0198c0de-1");
  for (const path of ["/c/0198c0de-1", "/shared/", "/shared/a/b", "/"]) expect(sharedIn(path)).toBeNull();
});
