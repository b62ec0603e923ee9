import { openJournal } from "../../packages/server/src/journal/open-journal.ts";
import { findChromium } from "../../packages/tool-host/src/tools/browser/find-chromium.ts";
import type { BenchResult } from "../bench-result.ts";
import { BuiltServer } from "../node/built-server.ts";
import { benchId } from "../node/open-bench-node.ts";
import { measureAppend } from "./append.ts";
import { openCanvas } from "./canvas-client.ts";
import { measureBusyList } from "./busy-list.ts";
import { launchBrowser } from "./launch-browser.ts";
import { measureOpen } from "./open.ts";
import type { PageClient } from "./page-client.ts";
import { newestWords, writePageLog } from "./page-log.ts";
import { measureScroll } from "./scroll.ts";
import { measureStart } from "./start.ts";
import { measureStream } from "./stream.ts";
import { measureSwitch } from "./switch.ts";

const sizes = { long: 100_000, short: 100 };
const idle = 800;

/** The page in Chromium on the built server, compared with Agent Canvas on the same server if available. */
export async function run(): Promise<BenchResult[]> {
  const program = findChromium(process.env);
  if (program === null) {
    console.error("no Chromium here");
    return [];
  }
  const start = await measureStart(program);
  await using server = await BuiltServer.start({ hasPage: true, fill });
  const browser = await launchBrowser(program);
  try {
    await using canvas = await openCanvas(server, browser);
    const ours: PageClient = {
      name: "Convoke",
      browser,
      addressOf: (id) => `${server.url}/c/${id}`,
      storageState: undefined,
    };
    const long = { id: benchId(1), words: newestWords(sizes.long) };
    const short = { id: benchId(2), words: newestWords(sizes.short) };
    return [
      start,
      ...(await measureOpen(ours, canvas, long)),
      ...(await measureSwitch(ours, long, short)),
      ...(await measureStream(server, ours, canvas)),
      ...(await measureScroll(ours, long)),
      // From then on the long one ends with other words.
      ...(await measureAppend(server, ours, { long, short })),
      ...(await measureBusyList(server, ours)),
    ];
  } finally {
    await browser.close();
  }
}

async function fill(dataDir: string): Promise<void> {
  await using journal = await openJournal({ dataDir });
  for (let number = 0; number < idle - 2; number += 1)
    await writePageLog(journal, { id: benchId(number + 3), title: `Idle ${number}`, size: 0 }, dataDir);
  await writePageLog(journal, { id: benchId(2), title: "Short", size: sizes.short }, dataDir);
  await writePageLog(journal, { id: benchId(1), title: "Long", size: sizes.long }, dataDir);
}

if (import.meta.main) console.table(await run());
