import type { Browser } from "playwright-core";
import { CanvasPages, findCanvas } from "../../e2e/canvas.ts";
import type { BuiltServer } from "../node/built-server.ts";
import { coldPage, type PageClient } from "./page-client.ts";

/** Agent Canvas on the same server, if `CONVOKE_AGENT_CANVAS` names its folder. Its onboarding is done. */
export async function openCanvas(
  server: BuiltServer,
  browser: Browser,
): Promise<(PageClient & AsyncDisposable) | null> {
  const found = findCanvas();
  if (typeof found === "string") {
    console.error(`without Agent Canvas: ${found}`);
    return null;
  }
  const pages = await CanvasPages.start(found.build, server.url, "bench-key");
  const client = {
    name: "Agent Canvas 1.20",
    browser,
    addressOf: (id: string) => `${pages.url}/conversations/${id}`,
    storageState: undefined,
    [Symbol.asyncDispose]: () => pages[Symbol.asyncDispose](),
  };
  const page = await coldPage(client);
  await page.goto(pages.url);
  const consent = page.getByRole("dialog", { name: "Help improve OpenHands" });
  await consent.waitFor();
  await consent.getByRole("button").last().click();
  await page.getByText("Skip for now").click();
  await page.getByTestId("chat-input").waitFor();
  const storageState = await page.context().storageState();
  await page.context().close();
  return { ...client, storageState };
}
