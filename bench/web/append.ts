import { setTimeout as sleep } from "node:timers/promises";
import type { BenchResult } from "../bench-result.ts";
import { percentile } from "../journal/percentile.ts";
import type { BuiltServer } from "../node/built-server.ts";
import { coldPage, openAt, type PageClient } from "./page-client.ts";
import { traced } from "./page-trace.ts";
import { say } from "./server-calls.ts";

const rounds = 3;
const eventsARound = 40;
const waits = 200;
const pauseMs = 50;

type Place = { readonly id: string; readonly words: string };

/** U12: one more event in a long and in a short conversation; U13: time from storing an event until it is on the screen. */
export async function measureAppend(
  server: BuiltServer,
  client: PageClient,
  { long, short }: { readonly long: Place; readonly short: Place },
): Promise<BenchResult[]> {
  const longMs: number[] = [];
  const shortMs: number[] = [];
  for (let round = 0; round < rounds; round += 1) {
    shortMs.push(await appendTo(server, client, short, round));
    longMs.push(await appendTo(server, client, long, round));
  }
  const [value, beside] = [percentile(longMs, 0.5), percentile(shortMs, 0.5)];
  const delaysMs = await delaysIn(server, client, short);
  const delay = (share: number): number => percentile(delaysMs, share);
  return [
    {
      id: "U12",
      name: "one more event at 100,000: processor time of the main thread",
      value,
      unit: "ms",
      baseline: { name: "at 100", value: beside },
      ratio: value / beside,
    },
    {
      id: "U13.p50",
      name: "from the call that stores an event until it is painted: p50",
      value: delay(0.5),
      unit: "ms",
    },
    { id: "U13", name: "the same: p99", value: delay(0.99), unit: "ms" },
  ];
}

/** Milliseconds of processor time per event. */
async function appendTo(
  server: BuiltServer,
  client: PageClient,
  place: Place,
  round: number,
): Promise<number> {
  const page = await coldPage(client);
  await page.goto(client.addressOf(place.id));
  await page
    .getByRole("feed")
    .getByText(round === 0 ? place.words : `Round ${round - 1} ends`)
    .waitFor();
  await page.waitForLoadState("networkidle");
  const { cpuMs } = await traced(client.browser, async () => {
    for (let number = 0; number < eventsARound; number += 1) {
      await say(server, place.id, `Round ${round}, number ${number}`);
      await sleep(pauseMs);
    }
    await say(server, place.id, `Round ${round} ends`);
    await page.getByRole("feed").getByText(`Round ${round} ends`).waitFor();
  });
  await page.context().close();
  return cpuMs / (eventsARound + 1);
}

/** In milliseconds; both clocks are the machine's. */
async function delaysIn(server: BuiltServer, client: PageClient, place: Place): Promise<number[]> {
  const page = await coldPage(client);
  await openAt(page, client.addressOf(place.id), `Round ${rounds - 1} ends`);
  await page.getByRole("feed").evaluate((feed) => {
    const seen: Record<string, number> = {};
    Object.assign(window, { seen });
    new MutationObserver(() => {
      const found = [...(feed.textContent ?? "").matchAll(/Delay (\d+)\./g)].map(([words]) => words);
      const isNew = found.some((words) => seen[words] === undefined);
      if (!isNew) return;
      requestAnimationFrame(() => {
        // After the frame that draws it.
        setTimeout(() => {
          for (const words of found) seen[words] ??= performance.timeOrigin + performance.now();
        });
      });
    }).observe(feed, { childList: true, subtree: true, characterData: true });
  });
  const calledAt: number[] = [];
  for (let number = 0; number < waits; number += 1) {
    calledAt.push(performance.timeOrigin + performance.now());
    await say(server, place.id, `Delay ${number}.`);
    await sleep(pauseMs);
  }
  await page
    .getByRole("feed")
    .getByText(`Delay ${waits - 1}.`)
    .waitFor();
  await sleep(pauseMs);
  const seen = await page.evaluate(() => (window as unknown as { seen: Record<string, number> }).seen);
  await page.context().close();
  return calledAt.flatMap((atMs, number) => {
    const seenMs = seen[`Delay ${number}.`];
    return seenMs === undefined ? [] : [seenMs - atMs];
  });
}
