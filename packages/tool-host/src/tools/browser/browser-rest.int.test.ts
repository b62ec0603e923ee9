import { chromium } from "playwright-core";
import { expect, test } from "vitest";
import { untilStill } from "./come-to-rest.ts";
import { findChromium } from "./find-chromium.ts";

test("a page is idle once it shows something and no longer changes", async () => {
  const executablePath = findChromium(process.env);
  if (executablePath === null) throw new Error("There is no Chromium here.");
  const chromiumSandbox = process.getuid?.() !== 0;
  const browser = await chromium.launch({
    executablePath,
    chromiumSandbox,
    args: ["--disable-dev-shm-usage"],
  });
  try {
    const page = await browser.newPage();
    await page.setContent(`<div id="root"></div><script>
      const add = () => { root.append(document.createElement("p")); root.lastChild.textContent = "Item";
        if (root.children.length < 10) setTimeout(add, 20); };
      setTimeout(add, 300);</script>`);
    await page.evaluate(untilStill, 100);
    expect(await page.locator("p").count()).toBe(10);
  } finally {
    await browser.close();
  }
});
