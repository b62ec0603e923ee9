import { openTestTerminal } from "../../tools/terminal/testing/open-terminal.ts";
import { openGuardian } from "../guardian.ts";

/** Host process for the guardian's test: starts processes that are hard to end, reports it, and waits to be killed. */
const [marker = ""] = process.argv.slice(2);
const guardian = await openGuardian({ marker });
const terminal = await openTestTerminal({ environment: guardian.environment });
await terminal.run("setsid nohup sleep 600 >/dev/null 2>&1 &");
await terminal.run("nohup bash -c 'trap \"\" TERM HUP INT; while :; do sleep 1; done' >/dev/null 2>&1 &");
await terminal.run("(setsid bash -c 'sleep 600 & sleep 600' >/dev/null 2>&1 &)");
await terminal.run("sleep 600 & disown");
await terminal.run("trap '' HUP TERM; sleep 600", { timeout: 1 });
console.log("ready");
setInterval(() => {}, 60_000);
