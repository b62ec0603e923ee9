import { expect, test } from "vitest";
import { ConfigError, readConfig } from "./config.ts";

test("a server has no limits of its own until it is given some", () => {
  expect(readConfig({})).toMatchObject({ maxBudgetPerUserPerDay: null, approvalDefault: null });
  const environment = {
    CONVOKE_MAX_BUDGET_PER_USER_PER_DAY: "2.5",
    CONVOKE_APPROVAL_TIMEOUT_SECONDS: "600",
  };
  expect(readConfig(environment)).toMatchObject({
    maxBudgetPerUserPerDay: 2.5,
    approvalDefault: { timeout_seconds: 600, on_timeout: "reject" },
  });
});

test("a server may name a reviewer, with a deadline or without", () => {
  const environment = { CONVOKE_APPROVAL_REVIEWER: "careful" };
  const reviewer = { llm: "careful", up_to: "MEDIUM" };
  expect(readConfig(environment).approvalDefault).toEqual({ reviewer });
  const more = { CONVOKE_APPROVAL_REVIEWER_UP_TO: "LOW", CONVOKE_APPROVAL_TIMEOUT_SECONDS: "60" };
  expect(readConfig({ ...environment, ...more }).approvalDefault).toEqual({
    timeout_seconds: 60,
    on_timeout: "reject",
    reviewer: { llm: "careful", up_to: "LOW" },
  });
});

test.each([
  { CONVOKE_APPROVAL_REVIEWER: "careful", CONVOKE_APPROVAL_REVIEWER_UP_TO: "low" },
  { CONVOKE_MAX_BUDGET_PER_USER_PER_DAY: "much" },
  { CONVOKE_MAX_BUDGET_PER_USER_PER_DAY: "-1" },
  { CONVOKE_APPROVAL_TIMEOUT_SECONDS: "0" },
  { CONVOKE_APPROVAL_TIMEOUT_SECONDS: "5", CONVOKE_APPROVAL_ON_TIMEOUT: "maybe" },
])("limits that cannot be meant are refused at the start: %o", (environment) => {
  expect(() => readConfig(environment)).toThrow(ConfigError);
});
