import { expect, test } from "vitest";
import { oidcSettingsOf } from "../testing/oidc/oidc-settings-of.ts";
import { admit } from "./admit.ts";

const client = { issuer: "https://id.example.org", clientId: "convoke", clientSecret: "" };
const proven = (claims: object) => ({ iss: client.issuer, sub: "1", exp: 0, ...claims });

test.each<[string, object, string]>([
  ["groups", { groups: "staff" }, "member"],
  ["groups", { groups: ["guests", "admins", "staff"] }, "admin"],
  ["realm_access.roles", { realm_access: { roles: ["guests"] } }, "viewer"],
  ["https://example.org/roles", { "https://example.org/roles": ["staff"] }, "member"],
])("the claim %s of %j is the role %s", (claim, claims, role) => {
  expect(admit(proven(claims), oidcSettingsOf(client, { claim })).role).toBe(role);
});

test("everybody can have a role, and who has a greater one keeps it", () => {
  const roles = new Map([
    ["*", "viewer"],
    ["admins", "admin"],
  ] as const);
  const settings = oidcSettingsOf(client, { roles });
  expect(admit(proven({}), settings).role).toBe("viewer");
  expect(admit(proven({ groups: ["admins"] }), settings).role).toBe("admin");
});

test("only a verified address is a name", () => {
  const nameOf = (claims: object) =>
    admit(proven({ groups: "staff", ...claims }), oidcSettingsOf(client)).name;
  expect(nameOf({ email: "Ada@Example.org", email_verified: true })).toBe("ada@example.org");
  expect(nameOf({ email: "ada@example.org", email_verified: "true" })).toBe("ada@example.org");
  for (const claims of [
    { email: "ada@example.org" },
    { email: "ada@example.org", email_verified: false },
    { email: "ada@example.org", email_verified: 1 },
    { email: ["ada@example.org"], email_verified: true },
    { email: "@example.org", email_verified: true },
    { preferred_username: "ada" },
  ])
    expect(nameOf(claims)).toBeNull();
});
