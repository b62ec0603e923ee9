import { execFileSync, spawnSync } from "node:child_process";
import { existsSync } from "node:fs";
import path from "node:path";

const root = path.resolve(import.meta.dirname, "../..");
const built = path.join(root, "dist/convoke");

/** The image of a server that is built without a registry. */
export const offlineImage = "convoke:offline";

export const hasEngine = spawnSync("docker", ["info"], { stdio: "ignore" }).status === 0;

export function buildOfflineImage(): void {
  if (!existsSync(path.join(built, "lib/bin.js")))
    throw new Error("dist has no convoke: npm run build first");
  const words = ["--kind", "server", "--built", built, "--image", offlineImage];
  execFileSync(process.execPath, [path.join(root, "docker/build-offline.ts"), ...words], {
    stdio: "inherit",
  });
}
