import type { BenchResult } from "./bench-result.ts";

/** Runs one bench in a separate process: memory of another bench would be measured too. */
const [file = "", part] = process.argv.slice(2);
const { run } = (await import(new URL(file, import.meta.url).href)) as {
  run: (part?: string) => Promise<BenchResult[]>;
};
const results = await run(part);
process.send?.(results, undefined, {}, () => process.disconnect());
