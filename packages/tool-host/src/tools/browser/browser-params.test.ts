import { expect, test } from "vitest";
import { parseBrowserParams } from "./browser-params.ts";

test.each(["allowed_domain", "prohibited_domains", "blocked_hosts", "allow", "deny_list"])(
  "audit F4: the parameter %s, which would keep pages away, is refused and not passed over",
  (name) => {
    expect(() => parseBrowserParams({ [name]: ["example.com"] })).toThrow(`The tool parameter ${name}`);
  },
);

test("parameters of other engines are ignored", () => {
  const params = parseBrowserParams({ allowed_domains: ["Example.com"], headless: true });
  expect(params.allowedDomains).toEqual(["example.com"]);
});
