import { spawnSync } from "node:child_process";
import { expect, test } from "vitest";

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
