import { randomUUID } from "node:crypto";
import { silentLogger } from "../../lib/logger.ts";
import { WallContainers } from "../wall-containers.ts";

/** Containers as walls of tests, and the engine and image that they are made with. */
export function testContainers() {
  const place = {
    socketPath: process.env["CONVOKE_TEST_ENGINE_SOCKET"] ?? "/var/run/docker.sock",
    image: process.env["CONVOKE_TEST_ENGINE_IMAGE"] ?? "convoke-sandbox:offline",
  };
  const installationId = `test-${randomUUID().slice(0, 8)}`;
  return { place, walls: new WallContainers({ ...place, installationId, logger: silentLogger }) };
}
