import { expect, test } from "vitest";
import type { SecretBindingFields } from "@convoke/protocol";
import { Fault } from "../lib/fault.ts";
import { checkSecretBinding, keepBinding, secretPlaces } from "./check-secret-binding.ts";

const loc = ["body", "secrets", "TOKEN"];
const problemOf = (
  binding: SecretBindingFields,
  value: string | null = "ghp_0123456789",
  name = "TOKEN",
): string => {
  try {
    checkSecretBinding(name, binding, value, loc);
    return "";
  } catch (error) {
    if (!(error instanceof Fault)) throw error;
    const [field] = error.fields;
    return `${field?.loc.slice(3).join(".")}: ${field?.msg}`;
  }
};

test("a secret may be bound to hosts, to names below one, and to ports", () => {
  for (const hosts of [["api.example.com"], ["*.example.com:8443", "[2001:db8::1]:443"], ["localhost:8443"]])
    expect(problemOf({ hosts })).toBe("");
  expect(problemOf({})).toBe("");
  expect(problemOf({ hosts: null, as: "header", shape: "ghp_" })).toBe("");
  expect(secretPlaces({})).toEqual(["header", "basic"]);
  expect(secretPlaces({ as: "query" })).toEqual(["query"]);
  expect(secretPlaces({ as: ["body", "header"] })).toEqual(["body", "header"]);
});

test("what binds to nothing or to everything is refused with the field and what to send", () => {
  expect(problemOf({ hosts: [] })).toContain("hosts: Name the hosts");
  expect(problemOf({ hosts: ["https://api.example.com/"] })).toContain(
    "hosts.0: Write a host without scheme",
  );
  expect(problemOf({ hosts: ["a.example", "*"] })).toContain("hosts.1: ");
  expect(problemOf({ hosts: ["*:443"] })).toContain("every host");
  expect(problemOf({ hosts: ["*.com"] })).toContain("top-level domain");
  expect(problemOf({ hosts: ["api.example.com:80"] })).toContain("over TLS only");
  expect(problemOf({ as: "body" })).toContain("as: ");
  expect(problemOf({ shape: "ghp_" })).toContain("shape: ");
});

test("a value that could not be put in, or not be found in an answer, is refused without showing it", () => {
  const hosts = ["api.example.com"];
  expect(problemOf({ hosts }, "short")).toContain("value: A secret that is bound to hosts has at least 8");
  const key = "-----BEGIN KEY-----\nabcdef\n-----END KEY-----";
  expect(problemOf({ hosts }, key)).toContain("value: A header cannot carry this value");
  expect(problemOf({ hosts }, key)).not.toContain("abcdef");
  expect(problemOf({ hosts, as: "body" }, key)).toBe("");
  // It is looked up later.
  expect(problemOf({ hosts }, null)).toBe("");
});

test("credentials of AWS are refused with the reason", () => {
  const hosts = ["api.example.com"];
  expect(problemOf({ hosts }, "AKIAABCDEFGHIJKLMNOP")).toContain("AWS requests are signed");
  expect(problemOf({ hosts }, "0123456789", "AWS_SECRET_ACCESS_KEY")).toContain("AWS requests are signed");
  expect(problemOf({ hosts: ["s3.eu-west-1.amazonaws.com"] })).toContain("AWS requests are signed");
});

test("a new value from a client that knows no hosts stays bound; null unbinds", () => {
  const hosts = ["git.example.com"];
  const bound = { kind: "StaticSecret", value: "value-of-the-token", hosts } as const;
  const next: SecretBindingFields & { kind: string; value: string } = {
    kind: "StaticSecret",
    value: "next-value",
  };
  expect(keepBinding(next, { ...bound, as: "basic" })).toEqual({ ...next, hosts, as: "basic" });
  expect(keepBinding({ ...next, hosts: ["other.example"] }, bound)).toEqual({
    ...next,
    hosts: ["other.example"],
  });
  expect(keepBinding({ ...next, hosts: null }, bound)).toEqual({ ...next, hosts: null });
  expect(keepBinding(next, undefined)).toBe(next);
});
