import { createHmac } from "node:crypto";
import { afterAll, beforeAll, beforeEach, expect, test } from "vitest";
import { CookieJar } from "../../testing/oidc/cookie-jar.ts";
import {
  startForgingProvider,
  type ForgingProvider,
  type Forgery,
} from "../../testing/oidc/forging-provider.ts";
import { oidcSettingsOf } from "../../testing/oidc/oidc-settings-of.ts";
import { startTestServer, type TestServer } from "../../testing/start-server.ts";

let provider: ForgingProvider;
let server: TestServer;
beforeAll(async () => {
  provider = await startForgingProvider();
  server = await startTestServer({ config: { oidc: oidcSettingsOf(provider) } });
});
afterAll(async () => {
  await server[Symbol.asyncDispose]();
  await provider[Symbol.asyncDispose]();
});
beforeEach(() => {
  provider.forgery = {};
  provider.claims = { sub: "ada", groups: ["staff"] };
  provider.moreClaims = {};
  provider.requests.length = 0;
  server.log.length = 0;
});

/** What is behind the `#` of the page's login; `in` in place of a ticket. */
async function end(browser = new CookieJar()): Promise<string> {
  const { hash } = await browser.follow(
    `${server.url}/api/auth/oidc`,
    ({ pathname }) => pathname === "/login",
  );
  return hash.startsWith("#t=") ? "in" : hash.slice(1);
}

async function users(): Promise<number> {
  return ((await server.call("GET", "/api/users")).json as { users: unknown[] }).users.length;
}

const claim = (name: string, value: unknown): Forgery => ({
  claims: (claims) => ({ ...claims, [name]: value }),
});
/** On PostgreSQL a restart has warnings of its own. */
const warnings = () => server.log.filter((line) => line.level !== "info" && line.message.includes("login"));
const now = (): number => Math.floor(Date.now() / 1000);

test("without a forgery the person is let in", async () => {
  expect(await end()).toBe("in");
  expect(warnings()).toEqual([]);
});

test.each<[string, () => Forgery]>([
  ["another nonce", () => claim("nonce", "of another login")],
  ["no nonce", () => claim("nonce", undefined)],
  ["another audience", () => claim("aud", "another-client")],
  [
    "several audiences and another party",
    () => ({
      claims: (claims) => ({ ...claims, aud: ["convoke", "another-client"], azp: "another-client" }),
    }),
  ],
  ["no audience", () => claim("aud", undefined)],
  ["another issuer", () => claim("iss", "https://id.evil.example")],
  ["no subject", () => claim("sub", undefined)],
  ["a subject that is no text", () => claim("sub", { toString: "ada" })],
  ["an end in the past", () => claim("exp", now() - 3600)],
  ["no end", () => claim("exp", undefined)],
  ["a beginning in the future", () => claim("nbf", now() + 3600)],
  ["a signature of another key", () => ({ signature: "other" })],
  ["no signature", () => ({ signature: "none" })],
  [
    "no signature and the algorithm none",
    () => ({
      signature: "none",
      header: () => ({ alg: "none" }),
      describe: (described) => ({ ...described, id_token_signing_alg_values_supported: ["none", "RS256"] }),
    }),
  ],
  [
    "an algorithm with a shared key",
    () => ({
      header: (header) => ({ ...header, alg: "HS256" }),
      describe: (described) => ({ ...described, id_token_signing_alg_values_supported: ["HS256", "RS256"] }),
    }),
  ],
  ["a key that is not published", () => ({ header: (header) => ({ ...header, kid: "2" }) })],
  [
    "no ID token",
    () => ({
      answers: { "/token": JSON.stringify({ access_token: "canary-access", token_type: "Bearer" }) },
    }),
  ],
  ["a text in place of JSON", () => ({ answers: { "/token": "<html>canary-access</html>" } })],
  ["JSON of a million brackets", () => ({ answers: { "/token": "[".repeat(1_000_000) } })],
  ["no keys", () => ({ answers: { "/jwks": "{}" } })],
])("an ID token with %s lets nobody in, and makes no user", async (_what, forgery) => {
  const before = await users();
  provider.claims = { sub: `new ${_what}`, groups: ["admins"] };
  const { describe, answers = {} } = forgery();
  // Description and keys are read once an hour: forged ones need a server that has read none.
  const isRead = describe !== undefined || answers["/jwks"] !== undefined;
  if (isRead) await server.restart();
  provider.forgery = forgery();
  expect(await end()).toBe("e=invalid_answer");
  expect(await users()).toBe(before);
  expect(warnings()).toMatchObject([{ level: "warn", fields: { code: "invalid_answer" } }]);
  expect(JSON.stringify(server.log)).not.toMatch(/canary|eyJ/);
  if (isRead) {
    provider.forgery = {};
    await server.restart();
  }
});

test("a token that is signed with the published key as a shared secret lets nobody in", async () => {
  const { keys } = (await (await fetch(`${provider.issuer}/jwks`)).json()) as { keys: object[] };
  const encode = (part: object): string => Buffer.from(JSON.stringify(part)).toString("base64url");
  const claims = { iss: provider.issuer, aud: "convoke", sub: "ada", iat: now(), exp: now() + 60 };
  const signed = `${encode({ alg: "HS256", kid: "1" })}.${encode(claims)}`;
  const mac = createHmac("sha256", JSON.stringify(keys[0])).update(signed).digest("base64url");
  const tokens = { access_token: "a", token_type: "Bearer", id_token: `${signed}.${mac}` };
  provider.forgery = { answers: { "/token": JSON.stringify(tokens) } };
  expect(await end()).toBe("e=invalid_answer");
});

test("an answer that names another issuer is refused before its code is sent anywhere", async () => {
  provider.forgery = { sendBack: (parameters) => parameters.set("iss", "https://id.evil.example") };
  expect(await end()).toBe("e=invalid_answer");
  expect(provider.requests).not.toContain("/token");
});

test.each<[string, (parameters: URLSearchParams) => void]>([
  ["the state of nobody", (parameters) => parameters.set("state", "x".repeat(32))],
  ["no state", (parameters) => parameters.delete("state")],
  ["an empty state", (parameters) => parameters.set("state", "")],
])("an answer with %s is late, and its code is sent nowhere", async (_what, sendBack) => {
  provider.forgery = { sendBack };
  expect(await end()).toBe("e=expired");
  expect(provider.requests).not.toContain("/token");
});

test("a state that is there twice, and an answer without a code, let nobody in", async () => {
  provider.forgery = { sendBack: (parameters) => parameters.append("state", "x") };
  expect(await end()).toBe("e=invalid_answer");
  provider.forgery = { sendBack: (parameters) => parameters.delete("code") };
  expect(await end()).toBe("e=invalid_answer");
});

test("an error of the provider is told, and what it says is shown to nobody", async () => {
  provider.forgery = {
    sendBack: (parameters) => {
      parameters.delete("code");
      parameters.set("error", "access_denied");
      parameters.set("error_description", "<script>canary</script>");
    },
  };
  expect(await end()).toBe("e=declined");
  expect(JSON.stringify(server.log)).not.toContain("canary");
});

test("user info of another person is refused", async () => {
  provider.claims = { sub: "ada" };
  provider.moreClaims = { groups: ["admins"], sub: "eve" };
  expect(await end()).toBe("e=invalid_answer");
  provider.moreClaims = { groups: ["staff"] };
  expect(await end()).toBe("in");
});

test("user info does not replace what is signed", async () => {
  provider.claims = { sub: "bob", groups: ["others"] };
  provider.moreClaims = { groups: ["admins"], iss: "https://id.evil.example" };
  expect(await end()).toBe("e=no_role");
});

test.each<[string, unknown]>([
  ["an object", { staff: true }],
  ["a list in a list", [["staff"]]],
  ["a number", 1],
  ["null", null],
  ["a name of every object", "constructor"],
  ["the sign for everybody", ["*"]],
  ["one text with several names", "staff,admins"],
])("a claim that is %s has no role", async (_what, groups) => {
  provider.claims = { sub: "eve", groups };
  expect(await end()).toBe("e=no_role");
});

test.each(["/token", "/jwks", "/userinfo"])(
  "an error of the server at %s, and more than it may say, is as if it were not there",
  async (path) => {
    await server.restart();
    provider.claims = { sub: "ada" };
    for (const answer of [{ status: 503 }, `"${"x".repeat(2_000_000)}"`]) {
      provider.forgery = { answers: { [path]: answer } };
      expect(await end()).toBe("e=unreachable");
    }
    expect(warnings()).toMatchObject([
      { level: "warn", fields: { reason: expect.stringContaining("status 503") as string } },
      { level: "warn", fields: { reason: expect.stringContaining("more than 1048576 bytes") as string } },
    ]);
  },
);

test("a description of another issuer is not believed, and one that comes later is read", async () => {
  await server.restart();
  provider.forgery = { describe: (described) => ({ ...described, issuer: "https://id.evil.example" }) };
  expect(await end()).toBe("e=invalid_answer");
  provider.forgery = { answers: { "/.well-known/openid-configuration": { status: 502 } } };
  expect(await end()).toBe("e=unreachable");
  provider.forgery = {};
  expect(await end()).toBe("in");
});

test("no other host is called without TLS", async () => {
  await server.restart();
  provider.forgery = {
    describe: (described) => ({
      ...described,
      token_endpoint: provider.issuer.replace("127.0.0.1", "localhost"),
    }),
  };
  expect(await end()).toBe("e=unreachable");
  provider.forgery = {};
  await server.restart();
});
