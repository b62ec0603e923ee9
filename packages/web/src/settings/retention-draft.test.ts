import { expect, test } from "vitest";
import { fromPolicy, newRule, problemOf, toPolicy } from "./retention-draft.ts";

const policy = {
  trash_days: 14,
  rules: [
    { name: "unused", idle_days: 180 },
    { name: "large and old", older_than_days: 30, larger_than_mib: 0.5 },
    { name: "drafts", tag: { key: "state", value: "draft" } },
    { name: "tagged", tag: { key: "state" } },
  ],
};

test("a policy is the same after the form", () => {
  expect(toPolicy(fromPolicy(policy))).toEqual(policy);
  expect(toPolicy(fromPolicy({ rules: [] }))).toEqual({ rules: [] });
});

test("a number may have a comma, and a tag any value", () => {
  const rule = { ...newRule(0), name: " a ", largerMib: "1,5", tagKey: " team ", tagValue: " " };
  expect(toPolicy({ trashDays: "", rules: [rule] })).toEqual({
    rules: [{ name: "a", larger_than_mib: 1.5, tag: { key: "team" } }],
  });
});

test("what is missing or wrong is said by field", () => {
  expect(problemOf(newRule(0))).toEqual({ name: "noName", rule: "noCondition" });
  expect(problemOf({ ...newRule(0), name: "a", olderDays: "-1", idleDays: "soon" })).toEqual({
    olderDays: "noNumber",
    idleDays: "noNumber",
  });
  expect(problemOf({ ...newRule(0), name: "a", olderDays: "0" })).toEqual({});
});
