export { watchLeaks, type LeakCheck } from "./leaks.ts";
export { startStopwatch } from "./stopwatch.ts";
export { XtermPerson } from "./xterm-person.ts";
export { openTemporaryDirectory } from "./temporary-directory.ts";
