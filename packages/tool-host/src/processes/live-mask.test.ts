import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { LiveMask } from "./live-mask.ts";
import { hiddenMark, SecretMask } from "./mask.ts";

const secret = "s3cr3t-value-0123456789";

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

function open() {
  let seen = "";
  const mask = new LiveMask(new SecretMask([{ name: "TOKEN", value: secret }]), (text) => (seen += text));
  const type = (text: string): string => {
    mask.write(text);
    vi.advanceTimersByTime(100);
    return seen;
  };
  return { mask, type, seen: () => seen };
}

test("P13: text that begins like a secret is shown while it is typed, and nothing is shown twice", () => {
  const { type } = open();
  expect(type("$ s")).toBe("$ s");
  expect(type("3")).toBe("$ s3");
  expect(type("e")).toBe("$ s3e");
  expect(type(" s")).toBe("$ s3e s");
  expect(type("leep\r\n")).toBe("$ s3e sleep\r\n");
});

test("P13: of a secret that arrives letter by letter no more is shown than of any word", () => {
  const { mask, type, seen } = open();
  for (const letter of secret) type(letter);
  expect(type("\r\n")).toBe(`${secret.slice(0, 7)}${hiddenMark}\r\n`);
  type(secret.slice(0, 12));
  mask.cut();
  expect(seen()).not.toContain(secret.slice(0, 12));
});

test("P13: a secret inside one chunk, or across its end, is masked completely", () => {
  const { mask, type, seen } = open();
  mask.write(`a ${secret} b ${secret.slice(0, 10)}`);
  mask.write(`${secret.slice(10)} c`);
  type("\n");
  expect(seen()).toBe(`a ${hiddenMark} b ${hiddenMark} c\n`);
});
