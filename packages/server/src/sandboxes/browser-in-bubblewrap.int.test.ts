import { describe } from "vitest";
import { createBubblewrapBackend } from "./bubblewrap.ts";
import { findBubblewrap } from "./find-bubblewrap.ts";
import { describeBrowserIn, openSandboxPlace } from "./testing/browser-place.ts";

const unprivileged = { uid: 65_534, gid: 65_534 };
const self = { uid: process.getuid?.() ?? 0, gid: process.getgid?.() ?? 0 };
const probe = await findBubblewrap({ self, unprivileged, environment: process.env });

describe.skipIf(!probe.isUsable)(`a browser in bubblewrap needs a working one (${probe.detail})`, () => {
  describeBrowserIn(
    () => openSandboxPlace(({ deps }) => createBubblewrapBackend({ ...deps, self, unprivileged })),
    0,
  );
});
