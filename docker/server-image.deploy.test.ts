import { spawnSync } from "node:child_process";
import { beforeAll, expect, onTestFinished, test } from "vitest";
import { composeSecrets, foundCompose, openProject, whyNoCompose } from "./testing/compose.ts";
import { conversationsOf, converse } from "./testing/converse.ts";
import { buildOfflineImage, hasEngine, offlineImage } from "./testing/offline-image.ts";
import { docker } from "./testing/registry-images.ts";

const why = hasEngine ? "" : " (skipped: no container engine answers)";

beforeAll(() => {
  if (hasEngine) buildOfflineImage();
});

test.runIf(hasEngine)(`the image serves, answers its health check and ends in order${why}`, async () => {
  const settings = ["--env", "SESSION_API_KEY=a-key-of-the-test"];
  const id = docker("run", "--detach", "--network=none", "--init", ...settings, offlineImage);
  onTestFinished(() => void docker("rm", "--force", "--volumes", id));
  const health = () => spawnSync("docker", ["exec", id, "convoke", "health"], { encoding: "utf8" });
  await expect.poll(() => health().stdout).toMatch(/ is alive, release \d/);
  expect(docker("exec", id, "id", "--user")).toBe("10001");
  // Commands in the container find the data folder by themselves.
  expect(docker("exec", id, "convoke", "keys", "list")).toBeDefined();
  expect(docker("exec", id, "stat", "--format=%a", "/data/server")).toBe("700");
  expect(docker("exec", id, "stat", "--format=%U", "/data/workspaces")).toBe("convoke");
  expect(docker("logs", id)).toContain("off: this container is the only wall around agents");
  docker("stop", id);
  expect(docker("inspect", "--format={{.State.ExitCode}}", id)).toBe("0");
});

test.runIf(hasEngine)(`without a key it says what it needs${why}`, () => {
  const { status, stderr } = spawnSync("docker", ["run", "--rm", "--network=none", offlineImage], {
    encoding: "utf8",
  });
  expect([status, stderr]).toEqual([2, expect.stringContaining("Listening on 0.0.0.0 needs a key.")]);
});

const canCompose = hasEngine && foundCompose !== undefined;
const whyNot = hasEngine ? (foundCompose === undefined ? ` (skipped: ${whyNoCompose})` : "") : why;

test.runIf(canCompose)(`Compose starts one server, which answers and converses${whyNot}`, async () => {
  const compose = openProject("compose.single.yaml", offlineImage);
  compose("up", "--detach");
  const address = `http://${compose("port", "convoke", "8000")}`;
  const answerTo = async (path: string, key: string): Promise<number | null> => {
    const reply = await fetch(`${address}${path}`, { headers: { "x-session-api-key": key } }).catch(
      () => null,
    );
    return reply?.status ?? null;
  };
  await expect.poll(() => answerTo("/ready", "")).toBe(200);
  expect(await answerTo("/api/tools/", "another")).toBe(401);
  expect(await answerTo("/api/tools/", composeSecrets.SESSION_API_KEY)).toBe(200);
  const id = compose("ps", "--quiet", "convoke");
  await converse(id, "/data/workspaces/first");
  expect(conversationsOf(id)).toBe(1);
});
