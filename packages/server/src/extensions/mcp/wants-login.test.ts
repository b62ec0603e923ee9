import { expect, test } from "vitest";
import { LoginNeededError, wantsLogin } from "./wants-login.ts";

test.each([
  ["our own word", new LoginNeededError(), true],
  ["a refusal of the server", Object.assign(new Error("Unauthorized"), { status: 401 }), true],
  ["one that is told as the cause", new Error("no", { cause: new LoginNeededError() }), true],
  ["a server that is broken", Object.assign(new Error("it is broken"), { status: 500 }), false],
  ["what is no error", "401", false],
] as const)("S22: %s wants a login: %o, %s", (_, error, expected) => {
  expect(wantsLogin(error)).toBe(expected);
});
