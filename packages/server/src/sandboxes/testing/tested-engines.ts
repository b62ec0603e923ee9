const image = process.env["CONVOKE_TEST_ENGINE_IMAGE"] ?? "convoke-sandbox:offline";

/** The engines that tests of containers use where they run and have the image. */
export const testedEngines = {
  docker: { socketPath: process.env["CONVOKE_TEST_ENGINE_SOCKET"] ?? "/var/run/docker.sock", image },
  podman: { socketPath: process.env["CONVOKE_TEST_PODMAN_SOCKET"] ?? "/run/podman/podman.sock", image },
} as const;
