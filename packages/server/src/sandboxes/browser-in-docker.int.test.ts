import { describe } from "vitest";
import { DockerBackend } from "./docker.ts";
import { findContainerEngine } from "./open-sandbox.ts";
import { describeBrowserIn, openSandboxPlace } from "./testing/browser-place.ts";

const unprivileged = { uid: 65_534, gid: 65_534 };
const self = { uid: process.getuid?.() ?? 0, gid: process.getgid?.() ?? 0 };
const socketPath = process.env["CONVOKE_TEST_ENGINE_SOCKET"] ?? "/var/run/docker.sock";
const image = process.env["CONVOKE_TEST_ENGINE_IMAGE"] ?? "convoke-sandbox:offline";
const engine = await findContainerEngine({ socketPath, image });

describe.skipIf(!engine.isUsable)(`a browser in docker needs a container engine (${engine.detail})`, () => {
  describeBrowserIn(
    () =>
      openSandboxPlace(({ deps }) => new DockerBackend({ ...deps, socketPath, image, self, unprivileged })),
    1,
  );
});
