/** What the operating system reports about processes and open files. */
export { descriptorPath } from "./system/descriptor-path.ts";
export { readCommandLine, readProcess, systemTable } from "./system/process-table.ts";
