import { existsSync } from "node:fs";

/** Whether this process runs in a container of Docker, Podman or Kubernetes. */
export function isInContainer(environment: Readonly<Record<string, string | undefined>>): boolean {
  return (
    environment["KUBERNETES_SERVICE_HOST"] !== undefined ||
    ["/.dockerenv", "/run/.containerenv"].some((file) => existsSync(file))
  );
}
