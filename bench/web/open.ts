import type { BenchResult } from "../bench-result.ts";
import { percentile } from "../journal/percentile.ts";
import { coldPage, countLoads, openAt, type PageClient } from "./page-client.ts";
import { traced } from "./page-trace.ts";

const rounds = 3;

type Opened = {
  readonly wallMs: number;
  readonly cpuMs: number;
  readonly taskMs: number;
  readonly requests: number;
  readonly wireKilobytes: number;
  readonly scriptKilobytes: number;
  readonly styleKilobytes: number;
};

/** U6: a long conversation opened at its newest event by a browser with an empty cache, alternating with another client. */
export async function measureOpen(
  ours: PageClient,
  other: PageClient | null,
  place: { readonly id: string; readonly words: string },
): Promise<BenchResult[]> {
  const mine: Opened[] = [];
  const theirs: Opened[] = [];
  for (let round = 0; round < rounds; round += 1) {
    mine.push(await openOnce(ours, place));
    if (other !== null) theirs.push(await openOnce(other, place));
  }
  const result = (id: string, name: string, unit: string, pick: (opened: Opened) => number): BenchResult => {
    const value = percentile(mine.map(pick), 0.5);
    if (other === null) return { id, name, value, unit };
    const beside = percentile(theirs.map(pick), 0.5);
    return { id, name, value, unit, baseline: { name: other.name, value: beside }, ratio: value / beside };
  };
  return [
    result(
      "U6",
      "100,000 events: cold, from the address to the newest event painted: median",
      "ms",
      ({ wallMs }) => wallMs,
    ),
    result("U6.cpu", "the same: processor time of the main thread", "ms", ({ cpuMs }) => cpuMs),
    result("U6.task", "the same: its longest task, processor time", "ms", ({ taskMs }) => taskMs),
    result("U6.requests", "the same: requests", "", ({ requests }) => requests),
    result("U6.wire", "the same: over the wire", "KB", ({ wireKilobytes }) => wireKilobytes),
    result(
      "U3.loaded",
      "the same: scripts, gzip, with those that come for later",
      "KB",
      ({ scriptKilobytes }) => scriptKilobytes,
    ),
    result("U4", "the same: styles, gzip", "KB", ({ styleKilobytes }) => styleKilobytes),
  ];
}

async function openOnce(client: PageClient, { id, words }: { id: string; words: string }): Promise<Opened> {
  const page = await coldPage(client);
  const loaded = await countLoads(page);
  const { cpuMs, longestTaskMs, result } = await traced(client.browser, () =>
    openAt(page, client.addressOf(id), words),
  );
  const opened = { wallMs: result, cpuMs, taskMs: longestTaskMs, ...(await loaded()) };
  await page.context().close();
  return opened;
}
