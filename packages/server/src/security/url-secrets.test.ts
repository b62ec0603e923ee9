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
  ["https://u:p%40ss@h/v1", "https://**********@h/v1", ["p%40ss", "p@ss"]],
  ["https://tok9@h/v1?key=k9", "https://**********@h/v1?key=**********", ["tok9", "k9"]],
  ["https://h/@a?b=c@d", "https://h/@a?b=**********", ["c@d"]],
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

test("K14: a login in an address is hidden, sealed and put back like a value of its query", () => {
  const url = "https://u:p%40s@h/v1?key=a9";
  expect(restoreUrlSecrets(hide(url), url, "**********")).toBe(url);
  expect(urlHas("https://**********@h/v1", "**********")).toBe(true);
  expect(restoreUrlSecrets("https://**********@other/v1", url, "**********")).toBeNull();
  const sealed = hideUrlSecrets(url, (text) => `sealed:${btoa(text)}`);
  expect(sealed).not.toContain("p%40s");
  const open = (text: string) => (text.startsWith("sealed:") ? atob(text.slice(7)) : null);
  const opened = new URL(openUrlValues(sealed, open));
  expect([opened.username, opened.password, opened.search]).toEqual(["u", "p%40s", "?key=a9"]);
});
