import { execFileSync, spawnSync } from "node:child_process";
import path from "node:path";
import { afterAll, beforeAll, expect, onTestFinished, test } from "vitest";
import { conversationsOf, converse } from "./testing/converse.ts";
import { docker, longestBuildMs, type RegistryImages, provideImages } from "./testing/registry-images.ts";

const plugins = [["docker", "compose"], ["docker-compose"]];
const found = plugins.find(([file = "", ...words]) => spawnSync(file, [...words, "version"]).status === 0);
const why = found === undefined ? " (skipped: neither docker compose nor docker-compose is installed)" : "";

const env = {
  ...process.env,
  SESSION_API_KEY: "key",
  CONVOKE_SECRET_KEY: "secret",
  DATABASE_PASSWORD: "password",
};

test.runIf(found !== undefined).each(["compose.yaml", "compose.single.yaml"])(
  `Compose accepts %s, and refuses it without its secrets${why}`,
  (file) => {
    const [program = "", ...words] = found ?? [];
    const config = (environment: NodeJS.ProcessEnv) =>
      spawnSync(program, [...words, "--file", file, "config"], {
        cwd: import.meta.dirname,
        env: environment,
        encoding: "utf8",
      });
    expect(config(env)).toMatchObject({ status: 0, stdout: expect.stringContaining("SESSION_API_KEY: key") });
    const { status, stderr } = config({ ...env, SESSION_API_KEY: undefined });
    expect(status).not.toBe(0);
    expect(stderr).toContain("SESSION_API_KEY");
  },
);

const hasEngine = spawnSync("docker", ["info"], { stdio: "ignore" }).status === 0;
const hasDebian = spawnSync("debootstrap", ["--version"], { stdio: "ignore" }).status === 0;
const can = found !== undefined && hasEngine && hasDebian && process.geteuid?.() === 0;
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

/** A project of its own from one of the files; its containers and volumes are removed after the test. */
function openProject(file: string) {
  const [program = "", ...words] = found ?? [];
  const environment = {
    ...env,
    CONVOKE_IMAGE: image,
    CONVOKE_PUBLISH: "127.0.0.1:0",
    PROXY_PORT: "127.0.0.1:0",
  };
  const compose = (...more: string[]): string =>
    execFileSync(program, [...words, "--project-name", "convoketest", "--file", file, ...more], {
      cwd: import.meta.dirname,
      env: environment,
      encoding: "utf8",
      stdio: ["ignore", "pipe", "pipe"],
    }).trim();
  onTestFinished(() => void compose("down", "--volumes"));
  const container = (service: string): string => compose("ps", "--quiet", service);
  const healthy = async (service: string): Promise<string> => {
    const id = container(service);
    const health = () => docker("inspect", "--format={{.State.Health.Status}}", id);
    await expect.poll(health, { timeout: 300_000, interval: 500 }).toBe("healthy");
    return id;
  };
  return { compose, healthy };
}

test.runIf(can)(`one server of Compose converses, and keeps it when it is made anew${whyNot}`, async () => {
  const { compose, healthy } = openProject("compose.single.yaml");
  compose("up", "--detach");
  await converse(await healthy("convoke"), "/data/workspaces/first");
  compose("down");
  compose("up", "--detach");
  expect(conversationsOf(await healthy("convoke"))).toBe(1);
});

test.runIf(can)(`three servers of Compose behind the proxy know each other${whyNot}`, async () => {
  const { compose, healthy } = openProject("compose.yaml");
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
