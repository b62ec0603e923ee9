import path from "node:path";
import { afterAll, afterEach, beforeAll, describe, expect, test } from "vitest";
import { desktop, noBrowser, phone, WebBrowser } from "./web-browser.ts";
import { about, sidewaysOf, violationsInBothThemes, violationsOf } from "./web-page.ts";

describe.skipIf(noBrowser !== null)("automations in the page", () => {
  let web: WebBrowser;

  beforeAll(async () => {
    web = await WebBrowser.open(about("broken links", { text: "All links work." }));
  });
  afterAll(() => web[Symbol.asyncDispose]());
  afterEach(() => expect(web.faults.splice(0)).toEqual([]));

  test("J31: a schedule is created with a look at its next times, run now, paused, and its conversation opened", async () => {
    const page = await web.logIn(desktop);
    await page.getByRole("link", { name: "Automations" }).click();
    await page.getByText("No automations yet").waitFor();
    await page.getByRole("link", { name: "New automation" }).click();
    await page.getByRole("textbox", { name: "Name" }).fill("Check links");
    await page.getByRole("textbox", { name: "Prompt" }).fill("Look for broken links.");
    await page.getByRole("combobox", { name: "Start" }).selectOption("cron");
    const expression = page.getByRole("textbox", { name: "Cron expression" });
    await expression.fill("0 9 * *");
    await page.getByText(/^Send five fields/).waitFor();
    expect(await expression.getAttribute("aria-invalid")).toBe("true");
    await page.getByRole("combobox", { name: "Start" }).selectOption("weekly");
    await page.getByRole("checkbox", { name: "Fri" }).uncheck();
    await expect.poll(() => page.getByText(/^(Mon|Tue|Wed|Thu), /).count()).toBe(5);
    await page.getByRole("textbox", { name: "Folder or Git URL" }).fill(path.join(web.place.folder, "links"));
    expect(await violationsInBothThemes(page)).toEqual([]);
    await page.getByRole("button", { name: "Create" }).click();

    await page.getByRole("heading", { name: "Check links" }).waitFor();
    await page.getByText("It has not started anything yet.").waitFor();
    await page.getByRole("button", { name: "Run now: Check links" }).click();
    await page.getByRole("list").getByText("done", { exact: true }).waitFor();
    expect(await violationsOf(page)).toEqual([]);
    await page.getByRole("button", { name: "Pause: Check links" }).click();
    await page.getByText("Paused: nothing starts by itself.").waitFor();
    await page.getByRole("link", { name: "Open conversation" }).click();
    await page.getByRole("main").getByText("All links work.").waitFor();

    await page.goto(`${web.url}/automations`);
    await page.getByRole("button", { name: "Resume: Check links" }).waitFor();
    expect(await violationsInBothThemes(page)).toEqual([]);
    await page.setViewportSize(phone.viewport);
    expect(await sidewaysOf(page)).toBe(0);
    await page.getByRole("link", { name: "Check links", exact: true }).click();
    await page.getByRole("button", { name: "Delete …" }).click();
    await page.getByRole("button", { name: "Delete", exact: true }).click();
    await page.getByText("No automations yet").waitFor();
    await page.context().close();
  });

  test("J31: the secret of a webhook is shown once; what is edited keeps the rest", async () => {
    const page = await web.logInAt("/automations/new");
    await page.getByRole("textbox", { name: "Name" }).fill("Reviews");
    await page.getByRole("textbox", { name: "Prompt" }).fill("Review {{payload.title}}.");
    await page.getByRole("combobox", { name: "Start" }).selectOption("webhook");
    await page.getByRole("textbox", { name: "Conditions" }).fill("draft = false");
    await page.getByRole("button", { name: "Create" }).click();
    const secret = page.getByRole("textbox", { name: "Secret" });
    const first = await secret.inputValue();
    expect(await page.getByRole("textbox", { name: "Address" }).inputValue()).toMatch(/\/hook$/);
    expect(await violationsOf(page)).toEqual([]);
    await page.reload();
    await page.getByRole("button", { name: "New secret …" }).click();
    await page.getByRole("button", { name: "New secret", exact: true }).click();
    await secret.waitFor();
    expect(await secret.inputValue()).not.toBe(first);

    await page.getByRole("button", { name: "Edit" }).click();
    await page.getByRole("textbox", { name: "Events" }).fill("push");
    await page.getByRole("button", { name: "Save" }).click();
    await page.getByRole("heading", { name: "History" }).waitFor();
    const { items } = await web.call("GET", "/api/automations");
    expect(items).toMatchObject([
      { trigger: { form: "github", events: ["push"], fields: [{ path: "draft", one_of: [false] }] } },
    ]);
    await page.context().close();
  });
});
