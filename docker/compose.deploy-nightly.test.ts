import { spawnSync } from "node:child_process";
import path from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { composeSecrets, foundCompose, openProject, runCompose, whyNoCompose } from "./testing/compose.ts";
import { conversationsOf, converse } from "./testing/converse.ts";
import { hasEngine } from "./testing/offline-image.ts";
import { docker, longestBuildMs, type RegistryImages, provideImages } from "./testing/registry-images.ts";

const why = foundCompose === undefined ? ` (skipped: ${whyNoCompose})` : "";
const env = { ...process.env, ...composeSecrets };

test.runIf(foundCompose !== undefined).each(["compose.yaml", "compose.single.yaml"])(
  `Compose accepts %s, and refuses it without its secrets${why}`,
  (file) => {
    const config = (environment: NodeJS.ProcessEnv) => runCompose(["--file", file, "config"], environment);
    expect(config(env)).toMatchObject({ status: 0, stdout: expect.stringContaining("SESSION_API_KEY: key") });
    const { status, stderr } = config({ ...env, SESSION_API_KEY: undefined });
    expect(status).not.toBe(0);
    expect(stderr).toContain("SESSION_API_KEY");
  },
);

const hasDebian = spawnSync("debootstrap", ["--version"], { stdio: "ignore" }).status === 0;
const can = foundCompose !== undefined && hasEngine && hasDebian && process.geteuid?.() === 0;
const whyNot = can ? "" : " (skipped: needs root, Compose, a container engine and debootstrap)";
const image = "convoke-test/server";
let images: RegistryImages | undefined;

beforeAll(() => {
  if (!can) return;
  images = provideImages(["node:24-bookworm-slim", "nginx:1.28.0-bookworm", "postgres:17.6-bookworm"]);
  const file = path.join(import.meta.dirname, "server.Dockerfile");
  docker("build", "--file", file, "--target", "server", "--tag", image, path.dirname(import.meta.dirname));
}, longestBuildMs);

afterAll(() => images?.[Symbol.dispose]());

/** A project, and the container of one of its services once that is healthy. */
function open(file: string) {
  const compose = openProject(file, image);
  const healthy = async (service: string): Promise<string> => {
    const id = compose("ps", "--quiet", service);
    const health = () => docker("inspect", "--format={{.State.Health.Status}}", id);
    await expect.poll(health, { timeout: 300_000, interval: 500 }).toBe("healthy");
    return id;
  };
  return { compose, healthy };
}

test.runIf(can)(`one server of Compose converses, and keeps it when it is made anew${whyNot}`, async () => {
  const { compose, healthy } = open("compose.single.yaml");
  compose("up", "--detach");
  await converse(await healthy("convoke"), "/data/workspaces/first");
  compose("down");
  compose("up", "--detach");
  expect(conversationsOf(await healthy("convoke"))).toBe(1);
});

test.runIf(can)(`three servers of Compose behind the proxy know each other${whyNot}`, async () => {
  const { compose, healthy } = open("compose.yaml");
  compose("up", "--detach");
  const [one = ""] = await Promise.all(["one", "two", "three"].map(healthy));
  const proxy = compose("port", "proxy", "8080").replace(/.*:/, "http://localhost:");
  /** Of the three, those that the proxy's server does not list. */
  const missing = async (): Promise<readonly string[]> => {
    const headers = { "x-session-api-key": env.SESSION_API_KEY };
    const listed = await (await fetch(`${proxy}/api/nodes`, { headers })).text();
    return ["one", "two", "three"].filter((name) => !listed.includes(`http://${name}:8000`));
  };
  await expect.poll(missing).toEqual([]);
  await converse(one, "/workspaces/first");
  expect(conversationsOf(await healthy("two"))).toBe(1);
});
