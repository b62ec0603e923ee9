import fc from "fast-check";
import { expect, test } from "vitest";
import { hideUrlSecrets, openUrlValues, restoreUrlSecrets, urlHas, urlSecrets } from "./url-secrets.ts";

const hide = (url: string): string => hideUrlSecrets(url, () => "**********");

test.each([
  ["https://h/mcp?token=abc", "https://h/mcp?token=**********", ["abc"]],
  [
    "https://h/mcp?v=2&x=a%2Fb9&mode=fast#top",
    "https://h/mcp?v=2&x=**********&mode=fast#top",
    ["a%2Fb9", "a/b9"],
  ],
  ["https://h/mcp?token=${TOKEN}", "https://h/mcp?token=${TOKEN}", []],
  ["https://h/mcp?flag&empty=", "https://h/mcp?flag&empty=", []],
  ["https://h/a=b", "https://h/a=b", []],
])("S26: the values in the query of %s that prove who asks are hidden", (url, hidden, values) => {
  expect(hide(url)).toBe(hidden);
  expect(urlSecrets(url)).toEqual(values);
});

test("P33, S26: an address that was shown and is sent back is the one that was stored", () => {
  const value = fc.string({ maxLength: 8 }).map(encodeURIComponent);
  const name = fc.constantFrom("token", "v", "q", "api_key");
  const query = fc.uniqueArray(fc.tuple(name, value), { maxLength: 4, selector: ([key]) => key });
  fc.assert(
    fc.property(query, (pairs) => {
      const url = `https://h/mcp?${pairs.map(([key, text]) => `${key}=${text}`).join("&")}`;
      fc.pre(!urlHas(url, "**********"));
      expect(restoreUrlSecrets(hide(url), url, "**********")).toBe(url);
      const sealed = hideUrlSecrets(url, (text) => `sealed:${btoa(encodeURIComponent(text))}`);
      const opened = openUrlValues(sealed, (text) =>
        text.startsWith("sealed:") ? decodeURIComponent(atob(text.slice(7))) : null,
      );
      expect(new URL(opened).searchParams.toString()).toBe(new URL(url).searchParams.toString());
    }),
  );
});

test("P33, S26: a masked value of another server, or without a stored one, is nothing that could be meant", () => {
  const stored = "https://h/mcp?token=abc&k=1x2";
  expect(restoreUrlSecrets("https://h/mcp?k=**********&token=new", stored, "**********")).toBe(
    "https://h/mcp?k=1x2&token=new",
  );
  expect(restoreUrlSecrets("https://other/mcp?token=**********", stored, "**********")).toBeNull();
  expect(restoreUrlSecrets("https://h/mcp?other=**********", stored, "**********")).toBeNull();
});
