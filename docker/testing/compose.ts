import { execFileSync, spawnSync } from "node:child_process";
import path from "node:path";
import { onTestFinished } from "vitest";

const folder = path.resolve(import.meta.dirname, "..");
const plugins = [["docker", "compose"], ["docker-compose"]];

/** How Compose is called here; undefined where it is not installed. */
export const foundCompose = plugins.find(
  ([file = "", ...words]) => spawnSync(file, [...words, "version"]).status === 0,
);
export const whyNoCompose = "neither docker compose nor docker-compose is installed";

/** What the files ask for. */
export const composeSecrets = {
  SESSION_API_KEY: "key",
  CONVOKE_SECRET_KEY: "secret",
  DATABASE_PASSWORD: "password",
};

/** Runs Compose in the folder of its files. */
export function runCompose(words: readonly string[], environment: NodeJS.ProcessEnv) {
  const [program = "", ...first] = foundCompose ?? [];
  return spawnSync(program, [...first, ...words], { cwd: folder, env: environment, encoding: "utf8" });
}

/** A project of its own from one of the files, with ports of its own; its containers and volumes are removed after the test. */
export function openProject(file: string, image: string): (...words: string[]) => string {
  const [program = "", ...first] = foundCompose ?? [];
  const environment = {
    ...process.env,
    ...composeSecrets,
    CONVOKE_IMAGE: image,
    CONVOKE_PUBLISH: "127.0.0.1:0",
    PROXY_PORT: "127.0.0.1:0",
  };
  const project = ["--project-name", `convoketest${process.pid}`, "--file", file];
  const compose = (...words: string[]): string =>
    execFileSync(program, [...first, ...project, ...words], {
      cwd: folder,
      env: environment,
      encoding: "utf8",
      stdio: ["ignore", "pipe", "pipe"],
    }).trim();
  onTestFinished(() => void compose("down", "--volumes"));
  return compose;
}
