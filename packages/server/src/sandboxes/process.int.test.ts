import { describeSandboxBackend } from "./contract.ts";
import { createProcessBackend } from "./process.ts";

describeSandboxBackend({
  name: "process",
  create: (bench) => createProcessBackend(bench.deps),
  isIsolated: false,
  uid: process.getuid?.() ?? 0,
});
