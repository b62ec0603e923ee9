import type { BenchResult } from "../bench-result.ts";
import { BuiltServer } from "../node/built-server.ts";
import { launchBrowser } from "./launch-browser.ts";

/** U1: from the start of the built command, and of a browser, until the first card of the demo is on the screen. */
export async function measureStart(program: string): Promise<BenchResult> {
  await using server = await BuiltServer.start({ hasPage: true });
  const browser = await launchBrowser(program);
  try {
    const page = await browser.newPage();
    await page.goto(server.url);
    await page.getByRole("button", { name: "Run the demo" }).click();
    await page.getByRole("feed").getByRole("button", { expanded: false }).first().waitFor();
    const value = (performance.now() - server.startedAtMs) / 1_000;
    return {
      id: "U1",
      name: "from the start of the command to the demo moving in a browser",
      value,
      unit: "s",
    };
  } finally {
    await browser.close();
  }
}
