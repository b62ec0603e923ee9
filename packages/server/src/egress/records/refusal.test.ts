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

test("what clients and hosts write makes no long sentence", () => {
  const long = "x".repeat(100_000);
  const refused = new Refused(target, "unusable-secret", `The header ${long} is wrong.`);
  expect(refused.message.length).toBeLessThan(600);
  expect(refused.why.length).toBeLessThan(600);
  expect(new Unreachable(target, 502, `Its TLS failed (${long}).`).message).toMatch(
    /^a.example.com:443 .{0,500}\.\.\.$/,
  );
  expect(new Refused(target, "denied", "Short.").why).toBe("Short.");
});

test.each([new Error("x"), new TypeError("x"), withCode("ERR_INVALID_ARG_TYPE"), "text", undefined])(
  "%s is a mistake of ours",
  (error) => {
    expect(isUnexpected(error)).toBe(true);
  },
);
