/** What needs a socket. Loaded with the first stream: a page can show a conversation before. */
export { attachBrowser } from "./browser.ts";
export { followEvents } from "./follow.ts";
export { followOverview } from "./overview.ts";
export { attachShell } from "./shell.ts";
export { attachTerminal } from "./terminal.ts";
