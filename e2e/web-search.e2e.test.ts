import type { Page } from "playwright-core";
import { afterAll, afterEach, beforeAll, describe, expect, test } from "vitest";
import { everySecond } from "./every-case.ts";
import { desktop, noBrowser, phone, WebBrowser } from "./web-browser.ts";
import { about, expectStatus, sidewaysOf, takePictures, untilAtRest, violationsOf } from "./web-page.ts";

const talks = 2_000;
/** The messages that mention one bird. */
const birds = [7, 1_007, 1_907];

describe.skipIf(noBrowser !== null)("search and places of a log", () => {
  let web: WebBrowser;
  let id = "";

  beforeAll(async () => {
    web = await WebBrowser.open(about("", { text: "I have read it. It is about birds of the coast." }));
    id = await web.converse("begin");
    // Messages without a run: a long log in short time.
    for (let number = 0; number < talks; number += 1) {
      const words = `number ${number}${birds.includes(number) ? ", a kestrel" : ""}. ${"It is told at length. ".repeat(1 + (number % 9))}`;
      await web.call("POST", `/api/conversations/${id}/events`, {
        role: "user",
        content: [{ type: "text", text: words }],
      });
    }
  });
  afterAll(() => web[Symbol.asyncDispose]());
  afterEach(() => expect(web.faults.splice(0)).toEqual([]));

  const place = (page: Page) => page.locator('[aria-current="location"]');
  const topOf = (page: Page): Promise<number> =>
    place(page).evaluate((element) => element.getBoundingClientRect().top);

  for (const size of everySecond([desktop, phone], 0)) {
    const width = size.viewport.width;
    test(`J23: an old message is found, opened at its place and left for the newest one, at ${width} px`, async () => {
      const page = await web.logIn(size);
      // From the search field at home.
      const field = page.getByRole("searchbox", { name: "Search everything" });
      await field.fill("KESTREL");
      await page.keyboard.press("Enter");
      await page.waitForURL((url) => url.pathname === "/search");
      await page.locator("main mark").first().waitFor();
      await expect.poll(() => page.locator("main mark").count()).toBe(3);
      expect(await sidewaysOf(page)).toBe(0);
      expect(await violationsOf(page)).toEqual([]);
      if (size === desktop) await takePictures(page, "search", "phone");
      // The last one is the oldest; the keyboard reaches it.
      for (let presses = 0; presses < 4; presses += 1) await page.keyboard.press("ArrowDown");
      await page.keyboard.press("Enter");
      await place(page).getByText("number 7, a kestrel").waitFor();
      await page.getByText("Match 3 of 3").waitFor();
      await expect
        .poll(() => place(page).evaluate((element) => element === document.activeElement))
        .toBe(true);
      const height = size.viewport.height;
      const isSeen = async (): Promise<boolean> => {
        const top = await topOf(page);
        return top > 0 && top < height;
      };
      await expect.poll(isSeen).toBe(true);
      expect(await sidewaysOf(page)).toBe(0);
      await page.keyboard.press("p");
      await place(page).getByText("number 1007, a kestrel").waitFor();
      await page.getByRole("button", { name: "Back to now" }).click();
      await page.getByText(`number ${talks - 1}.`).waitFor();
      await expect.poll(() => new URL(page.url()).search).toBe("");
      await page.context().close();
    });
  }

  test("J8: an old place does not move while pages load before and after it, and its end is the live end", async () => {
    const events = (await web.call(
      "GET",
      `/api/conversations/${id}/events/search?kind=MessageEvent&source=user&limit=100`,
    )) as { items: { id: string }[] };
    const page = await web.logInAt(`/c/${id}?event=${events.items[80]!.id}`);
    await place(page).getByText("number 79.").waitFor();
    await expect.poll(() => place(page).evaluate((element) => element === document.activeElement)).toBe(true);
    // Pages are loaded on both sides by now, without scrolling.
    const tops: number[] = [];
    for (let frames = 0; frames < 20; frames += 1) {
      tops.push(await topOf(page));
      await page.evaluate(() => new Promise(requestAnimationFrame));
    }
    expect(Math.max(...tops) - Math.min(...tops)).toBeLessThanOrEqual(1);
    const feed = page.getByRole("feed");
    const isAtEnd = (): Promise<boolean> =>
      feed.evaluate((element) => {
        element.scrollTop += 3_000;
        return element.scrollHeight - element.clientHeight - element.scrollTop <= 1;
      });
    await expect
      .poll(async () => (await isAtEnd()) && (await page.getByText(`number ${talks - 1}.`).isVisible()), {
        timeout: 200_000,
        interval: 50,
      })
      .toBe(true);
    await expect.poll(() => page.getByRole("button", { name: "Back to now" }).count()).toBe(0);
    // From here on it is the live end: new events are followed.
    await web.call("POST", `/api/conversations/${id}/events`, {
      role: "user",
      content: [{ type: "text", text: "and one more" }],
    });
    await page.getByText("and one more").waitFor();
    await expect
      .poll(() => feed.evaluate((element) => element.scrollHeight - element.clientHeight - element.scrollTop))
      .toBeLessThanOrEqual(1);
    await page.context().close();
  });

  test("U7: a conversation reopens at the place where it was left", async () => {
    const other = await web.converse(null);
    const page = await web.logInAt(`/c/${id}`);
    const feed = page.getByRole("feed");
    await feed.getByText(`number ${talks - 1}.`).waitFor();
    await feed.hover();
    await page.mouse.wheel(0, -2_500);
    await page.getByRole("button", { name: "Jump to latest" }).waitFor();
    await untilAtRest(feed);
    const row = await feed.evaluate((list) => {
      const middle = list.getBoundingClientRect().top + list.clientHeight / 2;
      const found = [...list.querySelectorAll("article")].find(
        (each) => each.getBoundingClientRect().bottom > middle,
      )!;
      return { text: found.textContent, top: found.getBoundingClientRect().top };
    });
    const links = page.getByRole("navigation", { name: "Conversations" });
    await links.locator(`a[href$="${other}"]`).click();
    await page.getByRole("heading", { name: "Test without words" }).waitFor();
    await links.locator(`a[href$="${id}"]`).click();
    const moved = (): Promise<number> =>
      feed.evaluate((list, { text, top }) => {
        const found = [...list.querySelectorAll("article")].find((each) => each.textContent === text);
        return found === undefined ? Infinity : Math.abs(found.getBoundingClientRect().top - top);
      }, row);
    await expect.poll(moved).toBeLessThanOrEqual(2);
    await page.context().close();
  });

  test("S8: the outline has every turn from the first second, and navigates to each", async () => {
    const page = await web.logInAt(`/c/${id}?panel=outline`);
    await expectStatus(page, "idle");
    const inOutline = new RegExp(`number ${talks - 120}\\.`);
    const outline = page.getByRole("region", { name: "Outline" });
    for (;;) {
      const more = outline.getByRole("button", { name: "Show more" });
      if (await outline.getByRole("button", { name: inOutline }).count()) break;
      await more.click();
      await page.waitForLoadState("networkidle");
    }
    await outline.getByRole("button", { name: inOutline }).click();
    await place(page)
      .getByText(`number ${talks - 120}.`)
      .waitFor();
    expect(await violationsOf(page)).toEqual([]);
    await page.context().close();
  });
});
