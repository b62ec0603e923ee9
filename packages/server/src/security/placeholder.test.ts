import { expect, test } from "vitest";
import { createPlaceholder } from "./placeholder.ts";

test("a placeholder has the name of its secret, or the shape that programs expect", () => {
  expect(createPlaceholder("GITHUB_TOKEN", null)).toMatch(/^cvk_GITHUB_TOKEN_[a-z0-9]{24}$/);
  expect(createPlaceholder("a b\n:c", null)).toMatch(/^cvk_a_b__c_[a-z0-9]{24}$/);
  expect(createPlaceholder("GITHUB_TOKEN", "ghp_")).toMatch(/^ghp_[A-Za-z0-9]{36}$/);
  expect(createPlaceholder("A", null)).not.toBe(createPlaceholder("A", null));
});
