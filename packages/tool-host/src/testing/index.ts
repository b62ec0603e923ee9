export { watchLeaks, type LeakCheck } from "./leaks.ts";
export { openTemporaryDirectory } from "./temporary-directory.ts";
