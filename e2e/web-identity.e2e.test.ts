import path from "node:path";
import { startTestServer, type TestServer } from "@convoke/server/testing";
import { oidcSettingsOf, startCertifiedProvider, type CertifiedProvider } from "@convoke/server/testing/oidc";
import type { BrowserContext, Page } from "playwright-core";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { sharedBrowser } from "./launch-browser.ts";
import { desktop, noBrowser, phone } from "./web-browser.ts";
import { sidewaysOf } from "./web-page.ts";

const webDir = path.resolve(import.meta.dirname, "../packages/web/dist");

describe.skipIf(noBrowser !== null)("the button of the identity provider in the page", () => {
  let provider: CertifiedProvider;
  let server: TestServer;
  const contexts: BrowserContext[] = [];

  beforeAll(async () => {
    provider = await startCertifiedProvider();
    server = await startTestServer({ config: { oidc: oidcSettingsOf(provider), webDir } });
    provider.register(`${server.url}/api/auth/oidc/callback`);
    provider.people.set("1001", { groups: ["staff"], email: "ada@example.org", email_verified: true });
    provider.people.set("1002", { groups: ["strangers"], email: "eve@example.org", email_verified: true });
  });
  afterAll(async () => {
    for (const context of contexts) await context.close();
    await server[Symbol.asyncDispose]();
    await provider[Symbol.asyncDispose]();
  });

  async function openPage(options: object = desktop): Promise<Page> {
    const context = await (await sharedBrowser()).newContext({ locale: "en-GB", ...options });
    contexts.push(context);
    context.setDefaultTimeout(90_000);
    return await context.newPage();
  }

  const button = (page: Page) => page.getByRole("button", { name: "Sign in with Example ID" });

  test("a person goes to the provider, comes back where they were, and stays logged in", async () => {
    provider.person = "1001";
    const page = await openPage();
    await page.goto(`${server.url}/settings/keys`);
    await button(page).click();
    await page.getByText("This browser").waitFor();
    expect(new URL(page.url()).pathname).toBe("/settings/keys");
    expect(page.url()).not.toContain("#");
    const users = (await server.call("GET", "/api/users")).json as { users: { id: string; role: string }[] };
    expect(users.users).toContainEqual(expect.objectContaining({ id: "ada@example.org", role: "member" }));
    await page.reload();
    await page.getByText("This browser").waitFor();
    await page.context().clearCookies();
    await page.reload();
    await button(page).waitFor();
  });

  test("who is not let in reads why, and may try again; also on a phone", async () => {
    provider.person = "1002";
    const page = await openPage(phone);
    await page.goto(server.url);
    await button(page).click();
    await page.getByRole("alert").waitFor();
    expect(await page.getByRole("alert").innerText()).toMatch(/role/);
    expect(await sidewaysOf(page)).toBe(0);
    provider.person = "1001";
    await page.context().clearCookies();
    await button(page).click();
    await page.getByRole("textbox", { name: "Message" }).waitFor();
  });
});
