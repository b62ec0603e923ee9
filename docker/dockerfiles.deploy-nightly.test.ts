import { spawnSync } from "node:child_process";
import { chownSync, mkdtempDisposableSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { afterAll, beforeAll, expect, onTestFinished, test } from "vitest";
import { conversationsOf, converse } from "./testing/converse.ts";
import { docker, longestBuildMs, type RegistryImages, provideImages } from "./testing/registry-images.ts";

const hasEngine = spawnSync("docker", ["info"], { stdio: "ignore" }).status === 0;
const hasDebian = spawnSync("debootstrap", ["--version"], { stdio: "ignore" }).status === 0;
const isRoot = process.geteuid?.() === 0;
const can = hasEngine && hasDebian && isRoot;
const why = can ? "" : " (skipped: needs root, a container engine and debootstrap)";
const root = path.resolve(import.meta.dirname, "..");
let images: RegistryImages | undefined;

beforeAll(() => {
  if (!can) return;
  images = provideImages(["node:24-bookworm-slim"]);
  for (const target of ["server", "with-browser"])
    docker(
      "build",
      "--file",
      path.join(root, "docker/server.Dockerfile"),
      "--target",
      target,
      "--tag",
      `convoke-test/${target}`,
      root,
    );
}, longestBuildMs);

afterAll(() => images?.[Symbol.dispose]());

test.runIf(can)(
  `the image of the Dockerfile serves with a key of a file, becomes healthy and keeps its volume${why}`,
  async () => {
    using folder = mkdtempDisposableSync(path.join(tmpdir(), "convoke-key-"));
    const key = path.join(folder.path, "key");
    writeFileSync(key, "a-key-of-the-test\n", { mode: 0o400 });
    chownSync(key, 10001, 10001);
    const volume = docker("volume", "create");
    onTestFinished(() => void docker("volume", "rm", volume));
    const start = (): string => {
      const settings = [
        "--env",
        "SESSION_API_KEY_FILE=/run/secrets/key",
        "--volume",
        `${key}:/run/secrets/key:ro`,
      ];
      const id = docker(
        "run",
        "--detach",
        "--init",
        "--volume",
        `${volume}:/data`,
        ...settings,
        "convoke-test/server",
      );
      onTestFinished(() => void docker("rm", "--force", id));
      return id;
    };
    const healthOf = (id: string) => docker("inspect", "--format={{.State.Health.Status}}", id);
    const first = start();
    await expect.poll(() => healthOf(first)).toBe("healthy");
    await converse(first, "/data/workspaces/first");
    docker("stop", "--time", "60", first);
    expect(docker("inspect", "--format={{.State.ExitCode}}", first)).toBe("0");
    const second = start();
    await expect.poll(() => healthOf(second)).toBe("healthy");
    expect(conversationsOf(second)).toBe(1);
  },
);

test.runIf(can)(`the image with a browser finds it${why}`, () => {
  const text = docker("run", "--rm", "--network=none", "convoke-test/with-browser", "doctor", "--json");
  const findings = JSON.parse(text.slice(text.indexOf("["))) as { name: string; state: string }[];
  expect(findings.find(({ name }) => name === "browser")).toMatchObject({ state: "ok" });
});
