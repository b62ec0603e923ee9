import fc from "fast-check";
import { expect, test } from "vitest";
import { toHost, toTarget } from "./host-name.ts";
import { matchesHost, parseHostPattern } from "./host-pattern.ts";

const matches = (pattern: string, target: string): boolean => {
  const parsed = parseHostPattern(pattern, "web");
  if (typeof parsed === "string") throw new Error(parsed);
  return matchesHost(parsed, toTarget(target)!);
};

test.each([
  ["example.com", "example.com:443", true],
  ["example.com", "example.com:80", true],
  ["example.com", "example.com:8443", false],
  ["example.com", "www.example.com:443", false],
  ["Example.COM.", "EXAMPLE.com:443", true],
  ["*.example.com", "www.example.com:443", true],
  ["*.example.com", "a.b.example.com:443", true],
  ["*.example.com", "example.com:443", false],
  ["*.example.com", "badexample.com:443", false],
  ["db.example.com:5432", "db.example.com:5432", true],
  ["db.example.com:5432", "db.example.com:443", false],
  ["db.example.com:*", "db.example.com:1", true],
  ["*", "anything.example:443", true],
  ["*", "anything.example:22", false],
  ["*:*", "anything.example:22", true],
  ["[2606:4700:0::1111]:53", "[2606:4700::1111]:53", true],
  ["2606:4700::1111", "[2606:4700::1111]:443", true],
  ["1.1.1.1", "0x01.0x01.0x01.0x01:443", true],
  ["1.1.1.1", "[::ffff:1.1.1.1]:443", true],
  ["[::ffff:101:101]", "1.1.1.1:443", true],
  ["::ffff:1.1.1.1", "[::ffff:0101:0101]:443", true],
  ["bücher.example", "xn--bcher-kva.example:443", true],
])("%s and %s: %s", (pattern, target, expected) => {
  expect(matches(pattern, target)).toBe(expected);
});

test.each([
  ["https://example.com", 'Write a host without scheme and path, not "https://example.com".'],
  ["example.com/path", 'Write a host without scheme and path, not "example.com/path".'],
  ["example.com:0", 'Write a port from 1 to 65535, not "0".'],
  ["example.com:70000", 'Write a port from 1 to 65535, not "70000".'],
  ...["a b", "*.1.1.1.1", "user@example.com", "ex*mple.com", "a..b", ":443", "*."].map((text) => [
    text,
    `Write a host such as example.com, *.example.com or db.example.com:5432, not "${text}".`,
  ]),
])("%s is not a pattern", (text, sentence) => {
  expect(parseHostPattern(text, "web")).toBe(sentence);
});

test.each(["", "a/b", "a?b", "a#b", "a@b", "a\\b", "a\u0000b", "a%62", "[::1%eth0]", "a:b", "fe80::1%1"])(
  "%j is no host",
  (text) => {
    expect(toHost(text)).toBeNull();
  },
);

test.each([
  ["::ffff:127.0.0.1", "127.0.0.1"],
  ["[0:0:0:0:0:ffff:a00:1]", "10.0.0.1"],
  ["::FFFF:0:1", "0.0.0.1"],
  ["::fffe:7f00:1", "::fffe:7f00:1"],
  ["::7f00:1", "::7f00:1"],
])("%s is read as %s", (text, host) => {
  expect(toHost(text)).toBe(host);
});

test("a host stays as it is when it is read again", () => {
  fc.assert(
    fc.property(fc.oneof(fc.domain(), fc.ipV4Extended(), fc.ipV6(), fc.string()), (text) => {
      const host = toHost(text);
      if (host !== null) expect(toHost(host)).toBe(host);
    }),
  );
});
