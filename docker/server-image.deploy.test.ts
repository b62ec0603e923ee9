import { execFileSync, spawnSync } from "node:child_process";
import path from "node:path";
import { beforeAll, expect, onTestFinished, test } from "vitest";

const hasEngine = spawnSync("docker", ["info"], { stdio: "ignore" }).status === 0;
const image = "convoke:offline";
const why = hasEngine ? "" : " (skipped: no container engine answers)";

beforeAll(() => {
  if (!hasEngine) return;
  const build = path.join(import.meta.dirname, "build-offline.ts");
  execFileSync(process.execPath, [build, "--kind", "server", "--image", image], { stdio: "inherit" });
});

const docker = (...words: string[]): string =>
  execFileSync("docker", words, { encoding: "utf8", stdio: ["ignore", "pipe", "pipe"] }).trim();

function runOnce(...words: string[]): { readonly code: number | null; readonly text: string } {
  const { status, stdout, stderr } = spawnSync("docker", ["run", "--rm", "--network=none", ...words], {
    encoding: "utf8",
  });
  return { code: status, text: stdout + stderr };
}

test.runIf(hasEngine)(`the image serves, answers its health check and ends in order${why}`, async () => {
  const settings = ["--env", "SESSION_API_KEY=a-key-of-the-test"];
  const id = docker("run", "--detach", "--network=none", "--init", ...settings, image);
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
  const { code, text } = runOnce(image);
  expect([code, text]).toEqual([2, expect.stringContaining("Listening on 0.0.0.0 needs a key.")]);
});

test.runIf(hasEngine).each([
  ["a usual container", [], "missing", "This container allows no namespaces."],
  ["one that may make namespaces", ["seccomp=unconfined"], "missing", "This container masks /proc"],
  ["one that hides nothing", ["seccomp=unconfined", "systempaths=unconfined"], "ok", "bubblewrap"],
])(`doctor says in words whether walls work in %s${why}`, (_title, security, state, words) => {
  const options = security.flatMap((option) => ["--security-opt", option]);
  const { text } = runOnce("--env=CONVOKE_WALL=auto", ...options, image, "doctor", "--json");
  const findings = JSON.parse(text.slice(text.indexOf("["))) as {
    name: string;
    state: string;
    detail: string;
  }[];
  expect(findings.find(({ name }) => name === "wall")).toMatchObject({
    state,
    detail: expect.stringContaining(words),
  });
});
