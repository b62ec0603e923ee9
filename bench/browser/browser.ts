import { readFileSync } from "node:fs";
import { chromium, type Browser, type Page } from "playwright-core";
import { findChromium as findProgram } from "../../packages/tool-host/src/tools/browser/find-chromium.ts";
import {
  createBrowserBench,
  type BrowserBench,
  type BrowserPlace,
  type Surfer,
} from "../../packages/tool-host/src/tools/browser/testing/browser-bench.ts";
import { findChromium } from "../../packages/tool-host/src/tools/browser/testing/chromium-processes.ts";
import { openLocalPlace } from "../../packages/tool-host/src/tools/browser/testing/local-place.ts";
import type { BenchResult } from "../bench-result.ts";
import { percentile } from "../journal/percentile.ts";

const coldRounds = 7;
const warmRounds = 30;
const stateRounds = 9;
const contexts = 10;

/** The browser tools in this process, alternating with bare playwright-core on the same Chromium. */
export async function run(): Promise<BenchResult[]> {
  const program = findProgram(process.env);
  if (program === null) {
    console.error("no Chromium here");
    return [];
  }
  return [await measureCold(program), ...(await measureWarm(program)), await measureMemory(program)];
}

/** Time from nothing to a loaded page, like the first action of a conversation. */
async function measureCold(program: string): Promise<BenchResult> {
  const ours: number[] = [];
  const bare: number[] = [];
  for (let round = 0; round < coldRounds; round++) {
    await using place = await openLocalPlace();
    const surfer = await createBrowserBench(place).surf();
    ours.push(await timed(() => open(surfer, "/second")));
    bare.push(
      await timed(async () => {
        const browser = await launch(program);
        await goTo(await browser.newPage(), place, "/second");
        return browser;
      }, close),
    );
  }
  return compare("browser.cold", "first action of a cold browser, a page opened: median", ours, bare);
}

async function measureWarm(program: string): Promise<BenchResult[]> {
  await using place = await openLocalPlace();
  const bench = createBrowserBench(place);
  const browser = await launch(program);
  try {
    const surfer = await bench.surf();
    const page = await browser.newPage();
    const opening = await alternate(
      warmRounds,
      () => open(surfer, "/second"),
      () => goTo(page, place, "/second"),
    );
    await open(surfer, "/fields");
    await goTo(page, place, "/fields");
    const small = await alternate(
      warmRounds,
      () => surfer.state(),
      () => page.ariaSnapshot(),
    );
    await open(surfer, "/buttons");
    await goTo(page, place, "/buttons");
    const large = await alternate(
      stateRounds,
      () => surfer.state(),
      () => page.ariaSnapshot(),
    );
    return [
      compare("browser.open", "a page opened in a warm browser, until it is at rest: median", ...opening),
      compare("browser.state", "get_state of a form: median", ...small, "its ariaSnapshot"),
      compare(
        "browser.state5000",
        "get_state of a page with 5,000 buttons: median",
        ...large,
        "its ariaSnapshot",
      ),
    ];
  } finally {
    await close(browser);
  }
}

/** Resources for ten conversations with a page each, including the browser itself. */
async function measureMemory(program: string): Promise<BenchResult> {
  await using place = await openLocalPlace();
  const browser = await launch(program);
  for (let count = 0; count < contexts; count++)
    await goTo(await (await browser.newContext()).newPage(), place, "/article");
  const bare = memoryMb();
  await close(browser);
  const bench: BrowserBench = createBrowserBench(place);
  for (let count = 0; count < contexts; count++) await open(await bench.surf(), "/article");
  const value = memoryMb();
  return {
    id: "browser.memory",
    name: `Chromium with ${contexts} conversations, a page each`,
    value,
    unit: "MiB",
    baseline: { name: `bare playwright-core, ${contexts} contexts`, value: bare },
    ratio: value / bare,
  };
}

/** Shared pages are counted proportionally. */
function memoryMb(): number {
  const kilobytes = findChromium(process.pid).map(({ pid }) => {
    try {
      return Number(/^Pss:\s+(\d+)/m.exec(readFileSync(`/proc/${pid}/smaps_rollup`, "utf8"))?.[1] ?? 0);
    } catch {
      return 0; // It ended in between.
    }
  });
  return kilobytes.reduce((sum, value) => sum + value, 0) / 1024;
}

async function open(surfer: Surfer, path: string): Promise<void> {
  const opened = await surfer.open(path);
  if (opened.isError) throw new Error(opened.text);
}

async function goTo(page: Page, { pages }: BrowserPlace, path: string): Promise<void> {
  await page.goto(`${pages.url}${path}`, { waitUntil: "load" });
}

async function launch(executablePath: string): Promise<Browser> {
  const chromiumSandbox = process.getuid?.() !== 0;
  return await chromium.launch({ executablePath, chromiumSandbox, args: ["--disable-dev-shm-usage"] });
}

async function close(browser: Browser): Promise<void> {
  await browser.close();
}

async function timed<T>(work: () => Promise<T>, after?: (result: T) => Promise<void>): Promise<number> {
  const startMs = performance.now();
  const result = await work();
  const took = performance.now() - startMs;
  await after?.(result);
  return took;
}

async function alternate(
  rounds: number,
  ours: () => Promise<unknown>,
  bare: () => Promise<unknown>,
): Promise<[number[], number[]]> {
  const taken: [number[], number[]] = [[], []];
  for (let round = 0; round < rounds; round++) {
    taken[0].push(await timed(ours));
    taken[1].push(await timed(bare));
  }
  return taken;
}

function compare(
  id: string,
  name: string,
  ours: readonly number[],
  bare: readonly number[],
  beside = "the same",
): BenchResult {
  const value = percentile(ours, 0.5);
  const least = percentile(bare, 0.5);
  return {
    id,
    name,
    value,
    unit: "ms",
    baseline: { name: `bare playwright-core, ${beside}`, value: least },
    ratio: value / least,
  };
}
