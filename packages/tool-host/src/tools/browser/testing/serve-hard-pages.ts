import { openHardPages } from "./hard-pages.ts";

/** Serves the hard pages where it is started, inside of a sandbox for example, and prints their addresses. */
const { url, otherUrl } = await openHardPages();
console.log(JSON.stringify({ url, otherUrl }));
