import { expect, test } from "vitest";
import { createValidator } from "../validate.ts";
import { NetworkPolicy } from "./network-policy.ts";

const validator = createValidator();
const check = (value: unknown) => validator.check(NetworkPolicy, value, ["body", "network"]);

test("a policy is a word, or rules whose missing lists are empty", () => {
  expect(check("registries")).toEqual({ ok: true, value: "registries" });
  expect(check({ allow: ["*.example.com"] })).toEqual({
    ok: true,
    value: {
      allow: ["*.example.com"],
      read_only: [],
      private: [],
      deny: [],
      presets: [],
      intercept: true,
    },
  });
});

test.each([
  ["everything", ["body", "network"], "enum"],
  [7, ["body", "network"], "object_type"],
  [{ allowed: [] }, ["body", "network", "allowed"], "extra_forbidden"],
  [{ allow: "a.example" }, ["body", "network", "allow"], "list_type"],
  [{ allow: ["a.example", ""] }, ["body", "network", "allow", 1], "string_too_short"],
  [{ presets: ["npm"] }, ["body", "network", "presets", 0], "enum"],
  [{ intercept: "no" }, ["body", "network", "intercept"], "bool_type"],
])("an error of %j names its field", (value, loc, type) => {
  expect(check(value)).toMatchObject({ ok: false, errors: [{ loc, type }] });
});
