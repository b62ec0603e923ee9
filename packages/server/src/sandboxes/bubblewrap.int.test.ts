import { describe } from "vitest";
import { createBubblewrapBackend } from "./bubblewrap.ts";
import { describeSandboxBackend } from "./contract.ts";
import { findBubblewrap } from "./find-bubblewrap.ts";

const unprivileged = { uid: 65_534, gid: 65_534 };
const self = { uid: process.getuid?.() ?? 0, gid: process.getgid?.() ?? 0 };
const probe = await findBubblewrap({ self, unprivileged, environment: process.env });

describe.skipIf(!probe.isUsable)(`needs a working bubblewrap (${probe.detail})`, () => {
  describeSandboxBackend({
    name: "bubblewrap",
    create: (bench) => createBubblewrapBackend({ ...bench.deps, self, unprivileged }),
    isIsolated: true,
    uid: self.uid === 0 ? unprivileged.uid : self.uid,
  });
});
