import { setTimeout as sleep } from "node:timers/promises";
import type { BenchResult } from "../bench-result.ts";
import type { BuiltServer } from "../node/built-server.ts";
import { coldPage, type PageClient } from "./page-client.ts";
import { traced } from "./page-trace.ts";
import { createConversation, say } from "./server-calls.ts";
import { StreamingModel } from "./streaming-model.ts";

const running = 200;
const seconds = 8;

/** U14: the home page with the list of all conversations while 200 of them run; in per cent of a core. */
export async function measureBusyList(server: BuiltServer, client: PageClient): Promise<BenchResult[]> {
  await using model = await StreamingModel.start({ tokensPerSecond: 1 });
  for (let number = 0; number < running; number += 1) {
    const id = await createConversation(server, model.url, `Busy ${number}`);
    await say(server, id, "Tell me everything", true);
  }
  const page = await coldPage(client);
  await page.goto(server.url);
  await page.locator('nav a[href*="/c/"]').first().waitFor();
  // Deferred parts are loaded by then.
  await page.waitForLoadState("networkidle");
  const { cpuMs } = await traced(client.browser, () => sleep(seconds * 1_000));
  await page.context().close();
  return [
    {
      id: "U14",
      name: "1,000 conversations in the list, 200 of them at work: processor time, of a core",
      value: cpuMs / seconds / 10,
      unit: "%",
    },
  ];
}
