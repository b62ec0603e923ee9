import { expect, test } from "vitest";
import { ConfigError } from "../lib/config-error.ts";
import { readOidc } from "./config-oidc.ts";

const complete = {
  CONVOKE_OIDC_ISSUER: "https://id.example.org/realm",
  CONVOKE_OIDC_CLIENT_ID: "convoke",
  CONVOKE_OIDC_CLIENT_SECRET: "canary-secret",
  CONVOKE_OIDC_ROLES: "admins=admin, staff=member",
};
const here = { host: "127.0.0.1", webUrl: null, isAuthDisabled: false };

test("without settings there is no provider", () => {
  expect(readOidc({}, here)).toBeNull();
  expect(readOidc({ CONVOKE_OIDC_ISSUER: "" }, { ...here, isAuthDisabled: true })).toBeNull();
});

test("four settings are enough, and the others have defaults", () => {
  expect(readOidc(complete, here)).toEqual({
    issuer: "https://id.example.org/realm",
    clientId: "convoke",
    clientSecret: "canary-secret",
    name: "id.example.org",
    scopes: "openid email profile",
    claim: "groups",
    roles: new Map([
      ["admins", "admin"],
      ["staff", "member"],
    ]),
    domains: [],
    isLogoutThere: true,
    loginMs: null,
  });
});

test("everything can be set", () => {
  const given = {
    ...complete,
    CONVOKE_OIDC_ISSUER: "http://[::1]:9000",
    CONVOKE_OIDC_NAME: "Example ID",
    CONVOKE_OIDC_SCOPES: "openid groups",
    CONVOKE_OIDC_CLAIM: "realm_access.roles",
    CONVOKE_OIDC_ROLES: '{"cn=admins,dc=example": "admin", "*": "viewer"}',
    CONVOKE_OIDC_DOMAINS: "Example.org, example.com",
    CONVOKE_OIDC_LOGIN_HOURS: "0.5",
    CONVOKE_OIDC_LOGOUT: "here",
  };
  expect(readOidc(given, { ...here, host: "0.0.0.0", webUrl: "https://agents.example.org" })).toMatchObject({
    issuer: "http://[::1]:9000/",
    name: "Example ID",
    scopes: "openid groups",
    claim: "realm_access.roles",
    roles: new Map([
      ["cn=admins,dc=example", "admin"],
      ["*", "viewer"],
    ]),
    domains: ["example.org", "example.com"],
    isLogoutThere: false,
    loginMs: 1_800_000,
  });
});

test.each<[object, RegExp]>([
  [{ CONVOKE_OIDC_CLIENT_ID: "", CONVOKE_OIDC_ROLES: "" }, /CLIENT_ID and CONVOKE_OIDC_ROLES must be set/],
  [{ CONVOKE_OIDC_ISSUER: "" }, /CLIENT_ID is set, so CONVOKE_OIDC_ISSUER must be set too/],
  [{ CONVOKE_OIDC_ISSUER: "http://id.example.org" }, /http works on this machine only/],
  [{ CONVOKE_OIDC_ISSUER: "http://127.0.0.1.example.org" }, /http works on this machine only/],
  [{ CONVOKE_OIDC_ISSUER: "https://u:p@id.example.org" }, /must be an address/],
  [{ CONVOKE_OIDC_ISSUER: "id.example.org" }, /must be an address/],
  [{ CONVOKE_OIDC_SCOPES: "email" }, /openid/],
  [{ CONVOKE_OIDC_ROLES: "admins" }, /must be a list/],
  [{ CONVOKE_OIDC_ROLES: "admins=root" }, /viewer, member, admin/],
  [{ CONVOKE_OIDC_ROLES: "=admin" }, /must be a list/],
  [{ CONVOKE_OIDC_ROLES: '{"admins": ["admin"]}' }, /must be a list/],
  [{ CONVOKE_OIDC_ROLES: "{}" }, /must be a list/],
  [{ CONVOKE_OIDC_ROLES: "{" }, /must be a list/],
  [{ CONVOKE_OIDC_DOMAINS: "@example.org" }, /not "@example.org"/],
  [{ CONVOKE_OIDC_DOMAINS: "*.example.org" }, /names such as example.org/],
  [{ CONVOKE_OIDC_LOGIN_HOURS: "13" }, /from 0.001 to 12/],
  [{ CONVOKE_OIDC_LOGIN_HOURS: "0" }, /from 0.001 to 12/],
  [{ CONVOKE_OIDC_LOGIN_HOURS: "x" }, /from 0.001 to 12/],
])("%j is refused with what to do, and without the secret", (given, message) => {
  const read = () => readOidc({ ...complete, ...given }, here);
  expect(read).toThrow(ConfigError);
  expect(read).toThrow(message);
  expect(read).not.toThrow(/canary/);
});

test("a server beyond loopback says where browsers come back to, and one without keys needs no login", () => {
  expect(() => readOidc(complete, { ...here, host: "0.0.0.0" })).toThrow(/needs CONVOKE_WEB_URL on 0.0.0.0/);
  expect(() => readOidc(complete, { ...here, isAuthDisabled: true })).toThrow(/--no-auth/);
});
