import { expect, test } from "vitest";
import { oidcSettingsOf } from "../testing/oidc/oidc-settings-of.ts";
import { startForgingProvider } from "../testing/oidc/forging-provider.ts";
import { IdentityProvider } from "./identity-provider.ts";

const begun = { redirectUri: "http://127.0.0.1:1/callback", returnTo: "/" };

test("a provider that hangs is given up, wherever it hangs, and tried again by the next login", async () => {
  await using forging = await startForgingProvider();
  const settings = oidcSettingsOf(forging);
  const provider = new IdentityProvider({ settings, timeoutMs: 50 });
  const hang = (path: string): void => void (forging.forgery = { answers: { [path]: null } });
  hang("/.well-known/openid-configuration");
  await expect(provider.prepare()).rejects.toMatchObject({ code: "unreachable" });
  const calm = new IdentityProvider({ settings, timeoutMs: 60_000 });
  forging.forgery = {};
  const login = { ...(await calm.prepare()), ...begun };
  hang("/token");
  const impatient = new IdentityProvider({ settings, timeoutMs: 500 });
  await impatient.prepare();
  const answer = new URLSearchParams({ code: "c", state: "s" });
  await expect(impatient.readAnswer(answer, "s", login)).rejects.toMatchObject({
    code: "unreachable",
    message: expect.stringMatching(/did not answer in 500 ms/) as string,
  });
});

test("a provider that is not there is unreachable", async () => {
  const settings = oidcSettingsOf({ issuer: "http://127.0.0.1:9", clientId: "c", clientSecret: "s" });
  const provider = new IdentityProvider({ settings });
  await expect(provider.prepare()).rejects.toMatchObject({ code: "unreachable" });
});

test("logins at once read the provider's description once", async () => {
  await using forging = await startForgingProvider();
  const provider = new IdentityProvider({ settings: oidcSettingsOf(forging) });
  await Promise.all([1, 2, 3].map(() => provider.prepare()));
  expect(forging.requests).toEqual(["/.well-known/openid-configuration"]);
});

test("a login that was begun at another provider is not finished at this one", async () => {
  await using forging = await startForgingProvider();
  const provider = new IdentityProvider({ settings: oidcSettingsOf(forging) });
  const login = { ...(await provider.prepare()), ...begun, issuer: "https://id.example.org" };
  const answer = new URLSearchParams({ code: "c", state: "s" });
  await expect(provider.readAnswer(answer, "s", login)).rejects.toMatchObject({ code: "expired" });
  expect(forging.requests).not.toContain("/token");
});
