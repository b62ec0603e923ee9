import { workerData } from "node:worker_threads";
import { StandstillWatch } from "./standstill-watch.ts";
import type { WatchdogShared } from "./watchdog-memory.ts";

/** The thread of a watchdog that no other thread lends its time to. */
new StandstillWatch(workerData as WatchdogShared).occupyThread();
