import { expect, test } from "vitest";
import {
  fetchedOf,
  toBoundSecrets,
  toToolSecrets,
  withNewPlaceholders,
  withPlaceholders,
} from "./bound-secrets.ts";
import type { ConversationSecrets } from "./conversation-config.ts";

const hosts = ["git.example.com"];
const value = "value-of-the-token";
const bound = { kind: "StaticSecret", value, hosts } as const;
const given: ConversationSecrets = {
  llm: {},
  sources: {
    TOKEN: bound,
    PLAIN: { kind: "StaticSecret", value: "plain-value" },
    LOOKUP: { kind: "LookupSecret", url: "https://vault.example/x", headers: {}, hosts, as: "query" },
  },
};

test("bound secrets get placeholders, which stay over changes, and a fork gets its own", () => {
  const first = withPlaceholders(given);
  expect(Object.keys(first.placeholders ?? {})).toEqual(["TOKEN", "LOOKUP"]);
  expect(first.placeholders?.["TOKEN"]).toMatch(/^cvk_TOKEN_\w{24}$/);
  const rotated = withPlaceholders({
    ...first,
    sources: { ...first.sources, TOKEN: { ...bound, value: "another-value" } },
  });
  expect(rotated.placeholders).toEqual(first.placeholders);
  expect(withNewPlaceholders(first).placeholders?.["TOKEN"]).not.toBe(first.placeholders?.["TOKEN"]);
  const shaped = withPlaceholders({ ...first, sources: { TOKEN: { ...bound, shape: "ghp_" } } });
  expect(shaped.placeholders).toEqual({ TOKEN: expect.stringMatching(/^ghp_\w{36}$/) });
  expect(withPlaceholders({ ...first, sources: {} }).placeholders).toBeUndefined();
});

test("tools get placeholders and never the value, also when there is no placeholder", () => {
  const resolved = [
    { name: "TOKEN", value },
    { name: "PLAIN", value: "plain-value" },
  ];
  const secrets = withPlaceholders(given);
  expect(toToolSecrets(resolved, secrets)).toEqual([
    { name: "TOKEN", value: secrets.placeholders?.["TOKEN"], isPlaceholder: true },
    { name: "PLAIN", value: "plain-value" },
  ]);
  expect(toToolSecrets(resolved, given)).toEqual([{ name: "PLAIN", value: "plain-value" }]);
});

test("the wall gets the values, those of lookups once they are known", () => {
  const secrets = withPlaceholders(given);
  const placeholder = (name: string): string => secrets.placeholders?.[name] ?? "";
  const token = { name: "TOKEN", placeholder: placeholder("TOKEN"), value, hosts, as: ["header", "basic"] };
  expect(toBoundSecrets(secrets)).toEqual([token]);
  const fetchedValues = fetchedOf(
    [
      { name: "LOOKUP", value: "looked-up-value" },
      { name: "PLAIN", value: "plain-value" },
    ],
    secrets.sources,
  );
  expect(toBoundSecrets({ ...secrets, fetchedValues })).toEqual([
    token,
    { name: "LOOKUP", placeholder: placeholder("LOOKUP"), value: "looked-up-value", hosts, as: ["query"] },
  ]);
  // One whose value was removed is put in no more.
  expect(toBoundSecrets({ ...secrets, sources: { TOKEN: { ...bound, value: "" } } })).toEqual([]);
});
