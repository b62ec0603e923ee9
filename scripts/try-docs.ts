import path from "node:path";
import { startTestServer } from "@convoke/server/testing";
import { type Page, chromium } from "playwright-core";

/**
 * Opens the built documentation in Chromium as the server serves it, without a network: pages, a search, the dark scheme. Ends with 1 when
 * a page asks another origin, breaks its content security policy, says an error, or when the search finds nothing.
 *
 * Usage: npm run docs && npx node scripts/try-docs.ts
 */
const docsDir = path.resolve(import.meta.dirname, "../site/dist");
await using server = await startTestServer({ config: { docsDir } });
const browser = await chromium.launch({
  executablePath: process.env["CHROMIUM"] ?? "/usr/bin/chromium",
  args: ["--no-sandbox", "--disable-gpu", "--disable-background-networking"],
});
const complaints: string[] = [];
try {
  for (const width of [1440, 390]) {
    const page = await browser.newPage({ viewport: { width, height: 900 } });
    watch(page, width);
    await visit(page, "", "Convoke documentation");
    await visit(page, "guides/chat-bot.html", "A chat bot in 15 minutes");
    await visit(page, "reference/agent-server/conversations.html", "Conversations");
    await visit(page, "reference/client/classes/ConvokeClient.html", "Class: ConvokeClient");
    await page.keyboard.press("Control+k");
    await page.locator("#localsearch-input").fill("bubblewrap");
    await page.locator("#localsearch-list li a").first().click();
    await page.waitForURL(/\.html/);
    await page.emulateMedia({ colorScheme: "dark" });
    await page.reload();
    await page.locator("html.dark").waitFor();
    await page.close();
  }
} finally {
  await browser.close();
}
console.log(complaints.length === 0 ? "The documentation works." : complaints.join("\n"));
process.exitCode = complaints.length === 0 ? 0 : 1;

function watch(page: Page, width: number): void {
  page.on("request", (request) => {
    const url = request.url();
    if (!url.startsWith(server.url) && !url.startsWith("data:")) complaints.push(`${width}: asks ${url}`);
  });
  page.on("console", (message) => {
    if (["error", "warning"].includes(message.type())) complaints.push(`${width}: ${message.text()}`);
  });
  page.on("pageerror", (error) => complaints.push(`${width}: ${error.message}`));
}

async function visit(page: Page, address: string, title: string): Promise<void> {
  await page.goto(`${server.url}/docs/${address}`);
  await page.getByRole("heading", { level: 1, name: title }).waitFor();
  const extra = await page.evaluate(() => document.documentElement.scrollWidth - innerWidth);
  if (extra > 0) complaints.push(`${address}: ${extra} pixels wider than the window`);
}
