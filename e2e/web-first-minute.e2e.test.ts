import type { Page } from "playwright-core";
import { expect, test } from "vitest";
import { CommandFolder } from "./run-command.ts";
import { takePictures } from "./web-page.ts";
import { sharedBrowser } from "./launch-browser.ts";
import { desktop, noBrowser, phone } from "./web-browser.ts";

/** Promises of issue and guide from the start of the command on. */
const promisedMs = 120_000;

/** The page's address, as the command prints it. */
async function linkOf(stream: AsyncIterable<Buffer>): Promise<string> {
  let text = "";
  for await (const chunk of stream) {
    text += chunk.toString("utf8");
    const link = /page\s+(https?:\/\/\S+)\s/.exec(text)?.[1];
    if (link !== undefined) return link;
  }
  throw new Error(`It printed no link: ${text}`);
}

/** Clicks the element with exactly this text, as soon as it is visible. */
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
  "J1: a new user gets from the command to a repaired test with one approval in two minutes, following the texts, %s",
  async (_, options) => {
    await using place = await CommandFolder.open();
    const startedMs = performance.now();
    // The command behind `npm start`.
    const { child } = place.spawn(["serve", "--open", "--port", "0"]);
    const link = await linkOf(child.stdout!);
    const context = await (await sharedBrowser()).newContext({ locale: "en-GB", ...options });
    try {
      const page = await context.newPage();
      page.setDefaultTimeout(promisedMs);
      await page.goto(link);
      await see(page, "What should the agent do?");
      await see(page, /The agent can write to this folder only/);
      await press(page, "Run the demo");
      await see(page, "Always allow …");
      // For half a second after it appears a card accepts no answer.
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
      await context.close();
    }
  },
);

test.skipIf(noBrowser !== null)(
  "a new user gets from the command to an answer of a local model in a minute, following the texts",
  async () => {
    await using place = await CommandFolder.open();
    const model = await place.startModel([{ text: "Hello from this machine." }]);
    place.environment["OLLAMA_HOST"] = new URL(model).host;
    const startedMs = performance.now();
    const { child } = place.spawn(["serve", "--open", "--port", "0"]);
    const link = await linkOf(child.stdout!);
    const context = await (await sharedBrowser()).newContext({ locale: "en-GB", ...desktop });
    try {
      const page = await context.newPage();
      page.setDefaultTimeout(60_000);
      await page.goto(link);
      await see(page, /Ollama answers on the server's machine/);
      await takePictures(page, "local-model", "phone");
      await press(page, "Use ollama/scripted");
      await page.getByText("No model is configured yet.").waitFor({ state: "detached" });
      // The message is next for a keyboard, too.
      await page.keyboard.type("Hello?");
      await page.keyboard.press("Enter");
      await see(page, "Hello from this machine.");
      expect(performance.now() - startedMs).toBeLessThan(60_000);

      await page.goto(`${new URL(link).origin}/settings/models`);
      const field = page.getByRole("combobox", { name: "Model" });
      await field.fill("sonnet");
      await page
        .getByRole("option", { name: /claude-sonnet/ })
        .first()
        .waitFor();
      await takePictures(page, "models", "phone");
      await field.fill("scripted");
      await page.keyboard.press("ArrowDown");
      await page.keyboard.press("Enter");
      expect(await field.inputValue()).toBe("ollama/scripted");
      expect(await page.getByRole("textbox", { name: "Base URL" }).inputValue()).toBe(`${model}/v1`);
      expect(await page.getByRole("textbox", { name: "Name" }).inputValue()).toBe("scripted");
    } finally {
      await context.close();
    }
  },
);
