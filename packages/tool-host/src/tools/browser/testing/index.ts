import { fileURLToPath } from "node:url";

export { describeActing } from "./acting-cases.ts";
export type { BrowserPlace } from "./browser-bench.ts";
export { BrowserPerson } from "./browser-person.ts";
export { describeReading } from "./reading-cases.ts";
export { shareBrowserBench, type PartOfCases } from "./share-browser-bench.ts";
export { describeWatching } from "./watching-cases.ts";

/** Files that serve the hard pages and need only Node; the first one is the entry, and prints their addresses as JSON. */
export const hardPagesProgram: readonly string[] = [
  new URL("./serve-hard-pages.ts", import.meta.url),
  new URL("./hard-pages.ts", import.meta.url),
].map((url) => fileURLToPath(url));
