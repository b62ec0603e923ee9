import type { Page } from "playwright-core";
import { afterAll, afterEach, beforeAll, describe, expect, test } from "vitest";
import { hostileTexts } from "@convoke/client/testing/hostile-texts";
import { everySecond } from "./every-case.ts";
import { devices, noBrowser, WebBrowser } from "./web-browser.ts";
import { finish, goWithin, terminal } from "./web-page.ts";

const texts = Object.entries(hostileTexts);
const numbers = [...texts.keys()];
const marker = "MARKER-OF-A-CARD-THAT-FAILS";

/** The text in every place that a model writes: beside a call, as a thought, as names and arguments of calls, at the end. */
const turnsOf = (text: string, index: number): object[] =>
  [
    {
      text,
      tool_calls: [
        { name: "think", arguments: { thought: text } },
        terminal(`echo ${index}`, text),
        { name: "no_such_tool", arguments: { value: text } },
        { name: "file_editor", arguments: { command: "create", path: text.slice(0, 200), file_text: text } },
      ],
    },
    finish(text),
  ].map((turn) => ({ match: { last_user_contains: `Text ${index}:` }, ...turn }));

describe.skipIf(noBrowser !== null)("the page never goes blank", () => {
  let web: WebBrowser;
  const ids: string[] = [];

  beforeAll(async () => {
    web = await WebBrowser.open([
      ...texts.flatMap(([, text], index) => turnsOf(text, index)),
      ...[{ tool_calls: [terminal(`echo ${marker}`, "A card that fails")] }, finish("Done.")].map((turn) => ({
        match: { last_user_contains: "break" },
        ...turn,
      })),
    ]);
    for (const [index, [name, text]] of texts.entries()) {
      ids.push(await web.converse(`Text ${index}: ${text}`, { title: `Hostile: ${name}` }));
    }
  });
  afterAll(() => web[Symbol.asyncDispose]());
  afterEach(() => expect(web.faults.splice(0)).toEqual([]));

  test.each([
    [...devices[0], everySecond(numbers, 0)],
    [...devices[1], everySecond(numbers, 1)],
  ] as const)("no hostile text empties it, %s", async (_, size, shown) => {
    for (const number of shown) await expect.poll(() => statusOf(web, ids[number]!)).toBe("finished");
    const page = await web.logIn(size);
    for (const number of shown) {
      const id = ids[number]!;
      await page.goto(`${web.url}/c/${id}`);
      await expectAlive(page, texts[number]![0]);
      await goWithin(page, `/c/${id}?panel=events`);
      await page.locator("[data-panel]").waitFor();
      await page.getByRole("textbox", { name: "Message" }).waitFor({ state: "attached" });
    }
    await page.goto(web.url);
    await page.getByRole("textbox", { name: "Message" }).waitFor();
    await page.context().close();
  });

  test("a card that fails to render shows its text, and everything else is rendered", async () => {
    const id = await web.converse("break");
    await expect.poll(() => statusOf(web, id)).toBe("finished");
    const page = await web.logIn();
    await page.addInitScript((planted) => {
      // The text of a command is made visible with this method while its card is drawn.
      // eslint-disable-next-line no-extend-native -- only in this page
      Object.defineProperty(String.prototype, "replaceAll", {
        value(this: string, pattern: RegExp, replacement: string) {
          if (this.includes(planted)) throw new Error("planted");
          return this.replace(pattern, replacement);
        },
      });
    }, marker);
    await page.goto(`${web.url}/c/${id}`);
    await page.locator("[data-plain-row]").getByText(marker).first().waitFor();
    await page.getByText("Done.").waitFor();
    await page.getByRole("textbox", { name: "Message" }).waitFor();
    // React reports what a boundary caught; there was no other fault.
    expect(web.faults.splice(0).filter((fault) => !fault.includes("planted"))).toEqual([]);
    await page.context().close();
  });
});

async function statusOf(web: WebBrowser, id: string): Promise<unknown> {
  return (await web.call("GET", `/api/conversations/${id}`))["execution_status"];
}

/** The message box works, and all rows are drawn, none of them as a failed card. */
async function expectAlive(page: Page, name: string): Promise<void> {
  await page.getByRole("textbox", { name: "Message" }).waitFor();
  await page.getByRole("feed").getByRole("article").first().waitFor({ state: "attached" });
  expect(await page.locator("[data-plain-row]").count(), name).toBe(0);
  expect(await page.getByRole("feed").innerText(), name).not.toBe("");
}
