import { describe } from "vitest";
import { describeSandboxBackend } from "./contract.ts";
import { DockerBackend } from "./docker.ts";
import { findContainerEngine } from "./open-sandbox.ts";

const unprivileged = { uid: 65_534, gid: 65_534 };
const self = { uid: process.getuid?.() ?? 0, gid: process.getgid?.() ?? 0 };
const socketPath = process.env["CONVOKE_TEST_ENGINE_SOCKET"] ?? "/var/run/docker.sock";
const image = process.env["CONVOKE_TEST_ENGINE_IMAGE"] ?? "convoke-sandbox:offline";
const engine = await findContainerEngine({ socketPath, image });

describe.skipIf(!engine.isUsable)(`P52: needs a container engine (${engine.detail})`, () => {
  describeSandboxBackend({
    name: "docker",
    create: ({ deps }) => new DockerBackend({ ...deps, socketPath, image, self, unprivileged }),
    isIsolated: true,
    hasControlGroups: engine.hasControlGroups,
    uid: self.uid === 0 ? unprivileged.uid : self.uid,
  });
});
