import { expect, test } from "vitest";
import { previousSecretMs } from "./decision.ts";
import { newHookSecret, secretsIn, withSecret } from "./hook-secrets.ts";

test("a secret of before is valid for a day, and a further one ends it", () => {
  const first = withSecret("one", null, 0);
  expect(secretsIn(first, 0)).toEqual(["one"]);
  const second = withSecret("two", first, 10);
  expect(secretsIn(second, 9 + previousSecretMs)).toEqual(["two", "one"]);
  expect(secretsIn(second, 10 + previousSecretMs)).toEqual(["two"]);
  expect(secretsIn(withSecret("three", second, 20), 20)).toEqual(["three", "two"]);
});

test("the same secret again changes nothing", () => {
  const second = withSecret("two", withSecret("one", null, 0), 10);
  expect(withSecret("two", second, 20)).toBe(second);
});

test("a new secret has the form of Standard Webhooks, with 32 random bytes", () => {
  const [secret, other] = [newHookSecret(), newHookSecret()];
  expect(secret).toMatch(/^whsec_[A-Za-z0-9+/]{43}=$/);
  expect(secret).not.toBe(other);
});
