import { expect, test } from "vitest";
import { valueAt } from "../lib/json-object.ts";
import { branchOf, refusedBy } from "./hook-filter.ts";

const opened = {
  action: "opened",
  number: 7,
  pull_request: { draft: false, base: { ref: "main" }, labels: [{ name: "bug" }] },
};
const merge = { object_kind: "merge_request", object_attributes: { action: "open", target_branch: "main" } };

test("an empty filter lets everything pass, also what is no object", () => {
  for (const payload of [opened, merge, null, "text", [1]]) expect(refusedBy({}, null, payload)).toBeNull();
});

test("events are named with or without their action, as the header or the payload names them", () => {
  const passes = (name: string, event: string | null, payload: unknown) =>
    refusedBy({ events: ["other", name] }, event, payload) === null;
  for (const name of ["pull_request", "pull_request.opened", "Pull_Request"])
    expect(passes(name, "pull_request", opened)).toBe(true);
  expect(passes("pull_request.closed", "pull_request", opened)).toBe(false);
  for (const name of ["Merge Request Hook", "merge_request", "merge_request.open"])
    expect(passes(name, "Merge Request Hook", merge)).toBe(true);
  expect(passes("push", null, {})).toBe(false);
});

test.each([
  ["main", "refs/heads/main", true],
  ["main", "refs/heads/maintenance", false],
  ["release/*", "refs/heads/release/1.2/a", true],
  ["release/*", "refs/heads/release", false],
  ["*-fix", "refs/heads/a-fix", true],
  ["a*b*c", "refs/heads/a-b-c", true],
  ["a*b*c", "refs/heads/a-c", false],
  ["a*a", "refs/heads/a", false],
  ["*", "refs/heads/anything", true],
  ["*", "refs/tags/v1", false],
])("the pattern %s and %s: %s", (pattern, ref, isMatch) => {
  expect(refusedBy({ branches: [pattern] }, "push", { ref }) === null).toBe(isMatch);
});

test("the branch of a pull or merge request is its target; a tag is none", () => {
  expect(branchOf(opened)).toBe("main");
  expect(branchOf(merge)).toBe("main");
  expect(branchOf({ workflow_run: { head_branch: "a" } })).toBe("a");
  expect(branchOf({ object_kind: "pipeline", object_attributes: { ref: "b", tag: false } })).toBe("b");
  expect(branchOf({ object_kind: "pipeline", object_attributes: { ref: "v1", tag: true } })).toBeNull();
  expect(branchOf({ ref: "v1", ref_type: "tag" })).toBeNull();
  expect(branchOf("text")).toBeNull();
  expect(refusedBy({ branches: ["*"] }, "ping", {})).toBe("The event names no branch.");
});

test("fields are compared by their path, as values and not as texts", () => {
  const passes = (path: string, ...values: (string | number | boolean | null)[]) =>
    refusedBy({ fields: [{ path, one_of: values }] }, null, opened) === null;
  expect(passes("pull_request.draft", false)).toBe(true);
  expect(passes("pull_request.draft", "false")).toBe(false);
  expect(passes("pull_request.labels.0.name", "feature", "bug")).toBe(true);
  expect(passes("number", 7)).toBe(true);
  expect(passes("missing", null)).toBe(false);
  expect(passes("toString", "x")).toBe(false);
  expect(passes("__proto__.x", null)).toBe(false);
});

test("a path that leads nowhere has no value", () => {
  expect(valueAt({ a: [1] }, "a.0")).toBe(1);
  expect(valueAt({ a: null }, "a.b")).toBeUndefined();
  expect(valueAt("text", "length")).toBeUndefined();
});
