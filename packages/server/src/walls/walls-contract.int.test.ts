import { describe, expect, test } from "vitest";
import { silentLogger } from "../lib/logger.ts";
import { findBubblewrap, ownAccount } from "../sandboxes/find-bubblewrap.ts";
import { findContainerEngine } from "../sandboxes/open-sandbox.ts";
import { listContainers } from "../sandboxes/remove-container.ts";
import { describeWalls } from "./contract.ts";
import { processName } from "./home-uses.ts";
import { testContainers } from "./testing/test-containers.ts";
import { WallContainers } from "./wall-containers.ts";

const owner = { uid: 1000, gid: 1000 };
const bubblewrap = await findBubblewrap({
  self: ownAccount(),
  unprivileged: owner,
  environment: process.env,
});
const containers = testContainers();
const engine = await findContainerEngine(containers.place);

describe.skipIf(!bubblewrap.isUsable)(`bubblewrap: needs a working one (${bubblewrap.detail})`, () => {
  describeWalls({ kind: "bubblewrap", deps: {}, owner });
});

describe.skipIf(!engine.isUsable || !engine.hasControlGroups)(
  `docker: needs a container engine (${engine.detail})`,
  () => {
    // Its wall is closed before the case below.
    describe("one container", () => {
      describeWalls({ kind: "docker", deps: { containers: containers.walls }, owner });
    });

    test("no container is left", async () => {
      const label = `convoke.wall.process=${processName()}`;
      await expect.poll(() => listContainers(containers.walls.engine, [label])).toEqual([]);
    });
  },
);

test("each way in which containers are no walls is said in words", async () => {
  const whyNot = async (socketPath: string, image: string | null) =>
    await new WallContainers({ socketPath, image, installationId: "test", logger: silentLogger }).whyNot();
  expect((await whyNot("/none", null))?.reason).toBe("A wall of the kind docker needs an image.");
  expect((await whyNot("/none", "image"))?.reason).toContain("No container engine answers");
  if (engine.isUsable)
    expect((await whyNot(containers.place.socketPath, "convoke-absent:none"))?.fix).toBe(
      "Fetch it: docker pull convoke-absent:none.",
    );
});
