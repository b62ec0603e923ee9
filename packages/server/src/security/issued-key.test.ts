import { expect, test } from "vitest";
import { createIssuedKey, isIssuedForm } from "./issued-key.ts";

test("an issued key is recognised by its form, and nothing that could be guessed is", () => {
  expect(isIssuedForm(createIssuedKey())).toBe(true);
  for (const other of [
    "",
    "secret",
    "convoke_",
    "convoke_short",
    `${createIssuedKey()}x`,
    ` ${createIssuedKey()}`,
  ])
    expect(isIssuedForm(other), other).toBe(false);
});
