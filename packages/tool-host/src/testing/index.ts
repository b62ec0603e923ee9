export { watchLeaks, type LeakCheck } from "./leaks.ts";
export { startStopwatch } from "./stopwatch.ts";
export { openTemporaryDirectory } from "./temporary-directory.ts";
