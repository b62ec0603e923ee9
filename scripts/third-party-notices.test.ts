import { expect, test } from "vitest";
import { thirdPartyNotices } from "./third-party-notices.ts";

const file = (name: string): string =>
  new URL(`../node_modules/${name}/package.json`, import.meta.url).pathname;

test("hardening 14: a package under the MPL is named with where its source is, others without", () => {
  const mozilla = thirdPartyNotices([file("web-push")]);
  expect(mozilla).toMatch(/^web-push [\d.]+ \(MPL-2\.0\)/);
  expect(mozilla).toMatch(/Their source is the npm package web-push@[\d.]+, and \S*web-push\S*\./);
  expect(mozilla).toContain("Mozilla Public License");
  expect(thirdPartyNotices([file("fastify")])).not.toContain("Their source is");
});

test("a package without a licence text is named with its licence and where it is from", () => {
  expect(thirdPartyNotices([file("@rrweb/record")])).toMatch(
    /^@rrweb\/record [\d.]+ \(MIT\)\n\nThe package has no licence text\. It is of https:\S+rrweb\.\n\n$/,
  );
});
