import { chromium, type Page } from "playwright-core";
import { expect, test } from "vitest";
import { CommandFolder } from "./run-command.ts";
import { desktop, noBrowser, phone, program } from "./web-browser.ts";

/** What issue and guide promise from the start of the command on. */
const promisedMs = 120_000;

/** Where the page is, as the command says. */
async function linkOf(stream: AsyncIterable<Buffer>): Promise<string> {
  let text = "";
  for await (const chunk of stream) {
    text += chunk.toString("utf8");
    const link = /page\s+(https?:\/\/\S+)\s/.exec(text)?.[1];
    if (link !== undefined) return link;
  }
  throw new Error(`It printed no link: ${text}`);
}

/** Clicks what says this and nothing else, as soon as it can be seen. */
async function press(page: Page, words: string): Promise<void> {
  await page.getByText(words, { exact: true }).filter({ visible: true }).first().click();
}

async function see(page: Page, words: string | RegExp): Promise<void> {
  await page.getByText(words).filter({ visible: true }).first().waitFor();
}

test.skipIf(noBrowser !== null).each([
  ["at a desk", desktop],
  ["on a phone", phone],
] as const)(
  "J1: who never saw it gets from the command to a repaired test with one approval in two minutes, by what is to be read, %s",
  async (_, options) => {
    await using place = await CommandFolder.open();
    const startedMs = performance.now();
    // What `npm start` runs.
    const { child } = place.spawn(["serve", "--open", "--port", "0"]);
    const link = await linkOf(child.stdout!);
    const browser = await chromium.launch({ executablePath: program, args: ["--no-sandbox"] });
    try {
      const page = await (await browser.newContext({ locale: "en-GB", ...options })).newPage();
      page.setDefaultTimeout(promisedMs);
      await page.goto(link);
      await see(page, "What should the agent do?");
      await see(page, /Not sandboxed/);
      await press(page, "Run the demo");
      await see(page, "Always allow …");
      // For half a second after it appears a card takes no answer.
      const allow = page.getByText("Allow", { exact: true }).filter({ visible: true });
      await expect
        .poll(async () => {
          if ((await allow.count()) > 0) await press(page, "Allow");
          return await allow.count();
        })
        .toBe(0);
      await see(page, /npm test passes/);
      await see(page, "done");
      expect(performance.now() - startedMs).toBeLessThan(promisedMs);
    } finally {
      await browser.close();
    }
  },
);
