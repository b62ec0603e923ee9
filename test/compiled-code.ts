import { flushCompileCache } from "node:module";
import { afterAll } from "vitest";

// Node writes it when a process ends by itself; those of test files are ended.
afterAll(() => flushCompileCache());
