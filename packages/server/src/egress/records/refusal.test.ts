import { expect, test } from "vitest";
import { ClientGone, isUnexpected, Refused, Unreachable } from "./refusal.ts";

const target = { host: "a.example.com", port: 443 };
const withCode = (code: string): Error => Object.assign(new Error("x"), { code });

test.each([
  new Refused(target, "denied", "No."),
  new Unreachable(target, 502, "No."),
  new ClientGone(),
  ...["ECONNRESET", "ERR_STREAM_PREMATURE_CLOSE", "HPE_INVALID_METHOD", "ERR_HTTP2_STREAM_ERROR"].map(
    withCode,
  ),
])("%s is what other machines do", (error) => {
  expect(isUnexpected(error)).toBe(false);
});

test.each([new Error("x"), new TypeError("x"), withCode("ERR_INVALID_ARG_TYPE"), "text", undefined])(
  "%s is a mistake of ours",
  (error) => {
    expect(isUnexpected(error)).toBe(true);
  },
);
