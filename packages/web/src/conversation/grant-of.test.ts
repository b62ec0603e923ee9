import { expect, test } from "vitest";
import { grantOf } from "./grant-of.ts";

test("a grant names the port where it is not one of the web", () => {
  expect(grantOf({ host: "files.example.com", port: 443 })).toBe("files.example.com");
  expect(grantOf({ host: "db.example.com", port: 5432 })).toBe("db.example.com:5432");
  expect(grantOf({ host: "2001:db8::1", port: 8443 })).toBe("[2001:db8::1]:8443");
});
