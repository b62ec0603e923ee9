import { workerData } from "node:worker_threads";
import { StandstillWatch } from "./standstill-watch.ts";
import type { WatchdogShared } from "./watchdog-memory.ts";

/** The watchdog's own thread, for when no other thread can check. */
new StandstillWatch(workerData as WatchdogShared).occupyThread();
