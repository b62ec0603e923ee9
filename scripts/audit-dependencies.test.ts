import { expect, test } from "vitest";
import { readAudit } from "./audit-dependencies.ts";

test("an audit is clean, names what it found, or says why there was no answer", () => {
  expect(readAudit('{"vulnerabilities":{},"metadata":{}}')).toEqual({ type: "clean" });
  const found = { left: { severity: "high", range: "<2", fixAvailable: true } };
  expect(readAudit(JSON.stringify({ vulnerabilities: found }))).toEqual({
    type: "found",
    problems: ["left <2: high, a fix is available"],
  });
  const refused = {
    message: "405 Method Not Allowed - POST",
    statusCode: 405,
    error: { summary: "", detail: "" },
  };
  expect(readAudit(JSON.stringify(refused))).toEqual({
    type: "unanswered",
    reason: "405 Method Not Allowed - POST (HTTP 405)",
  });
  expect(readAudit("")).toEqual({ type: "unanswered", reason: "npm said nothing" });
  expect(readAudit("not JSON")).toEqual({ type: "unanswered", reason: "not JSON" });
});
