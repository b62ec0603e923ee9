import { openHardPages } from "./hard-pages.ts";

/** Serves the hard pages where it is started, for example inside a sandbox, and prints their addresses. */
const { url, otherUrl } = await openHardPages();
console.log(JSON.stringify({ url, otherUrl }));
