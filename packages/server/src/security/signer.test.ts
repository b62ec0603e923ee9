import { expect, test } from "vitest";
import { createSigner } from "./signer.ts";

const [first, second] = [Buffer.alloc(32, 1), Buffer.alloc(32, 2)];

test("a signature holds for its text, its purpose and its key alone", () => {
  const signer = createSigner([first]);
  const signature = signer.sign("heads", "text");
  expect(signer.isSigned("heads", "text", signature)).toBe(true);
  expect(signer.isSigned("heads", "texts", signature)).toBe(false);
  expect(signer.isSigned("others", "text", signature)).toBe(false);
  expect(signer.isSigned("heads", "text", "")).toBe(false);
  expect(createSigner([second]).isSigned("heads", "text", signature)).toBe(false);
});

test("during a rotation, what either key signed is accepted", () => {
  const signature = createSigner([first]).sign("heads", "text");
  expect(createSigner([second, first]).isSigned("heads", "text", signature)).toBe(true);
  expect(createSigner([second, first]).sign("heads", "text")).not.toBe(signature);
});
