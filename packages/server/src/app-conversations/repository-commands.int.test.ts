import { execFileSync, spawn, spawnSync } from "node:child_process";
import { once } from "node:events";
import { existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { mkdtempDisposable } from "node:fs/promises";
import { createServer } from "node:http";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, test } from "vitest";
import { cloneCommand, emptyRepositoryCommand, hookCommand, ownBranch } from "./repository-commands.ts";
import type { RepositoryOrder } from "./start-order.ts";

const conversationId = "0198c0de-0000-7000-8000-00000000abcd";
const identity = {
  GIT_AUTHOR_NAME: "a",
  GIT_AUTHOR_EMAIL: "a@b",
  GIT_COMMITTER_NAME: "a",
  GIT_COMMITTER_EMAIL: "a@b",
};

function bash(command: string, environment: Readonly<Record<string, string>> = {}) {
  const { status, stdout, stderr } = spawnSync("bash", ["--norc", "-c", command], {
    env: { PATH: process.env["PATH"], ...identity, ...environment },
    encoding: "utf8",
    timeout: 120_000,
  });
  return { status, printed: stdout + stderr };
}

test("a clone has the wanted branch or one of its own, again changes nothing, and half a clone is made whole", async () => {
  await using folder = await mkdtempDisposable(join(tmpdir(), "convoke-clone it's-"));
  const origin = join(folder.path, "origin.git");
  expect(
    bash(
      `git init -q -b main '${origin.replaceAll("'", `'\\''`)}' && cd "$ORIGIN" && echo one > a.txt && git add . && git commit -qm one && git checkout -qb other && git commit -qm two --allow-empty && git checkout -q main`,
      { ORIGIN: origin },
    ).status,
  ).toBe(0);
  const order: RepositoryOrder = {
    name: "x/y",
    url: `file://${origin}`,
    branch: null,
    isFull: false,
    login: null,
  };
  const target = join(folder.path, "work", "y");
  const part = `${target}.part-${conversationId.replaceAll("-", "")}`;
  mkdirSync(part, { recursive: true });
  writeFileSync(join(part, "rubbish"), "left by a crash");
  for (let round = 0; round < 2; round++) {
    expect(bash(cloneCommand(order, target, conversationId))).toEqual({ status: 0, printed: "" });
  }
  expect(readFileSync(join(target, "a.txt"), "utf8")).toBe("one\n");
  expect(readdirSync(join(folder.path, "work"))).toEqual(["y"]);
  expect(bash(`git -C "$T" branch --show-current`, { T: target }).printed.trim()).toBe(
    ownBranch(conversationId),
  );
  const other = join(folder.path, "work", "z");
  bash(cloneCommand({ ...order, branch: "other" }, other, conversationId));
  expect(bash(`git -C "$T" branch --show-current`, { T: other }).printed.trim()).toBe("other");
  const absent = bash(cloneCommand({ ...order, branch: "absent" }, join(folder.path, "no"), conversationId));
  expect(absent.status).not.toBe(0);
  expect(existsSync(join(folder.path, "no"))).toBe(false);
});

test("starts that clone one repository into one folder at once all have it, whole, and leave nothing else", async () => {
  await using folder = await mkdtempDisposable(join(tmpdir(), "convoke-clones-"));
  const at = (...names: string[]) => join(folder.path, ...names);
  const environment = {
    ...identity,
    PATH: `${at("bin")}:${process.env["PATH"]}`,
    MET: at("met"),
    ORIGIN: at("origin"),
  };
  mkdirSync(at("bin"));
  mkdirSync(at("met"));
  expect(
    bash(
      `git init -q -b main "$ORIGIN" && cd "$ORIGIN" && echo one > a.txt && git add . && git commit -qm one`,
      environment,
    ).status,
  ).toBe(0);
  // None clones before all of them are about to.
  const real = bash("command -v git").printed.trim();
  const meeting = `case " $* " in *" clone "*) touch "$MET/$$"; while [ "$(ls "$MET" | wc -l)" -lt 3 ]; do sleep 0.05; done;; esac`;
  writeFileSync(at("bin", "git"), `#!/bin/sh\n${meeting}\nexec ${real} "$@"\n`, { mode: 0o755 });
  const order = { name: "x/y", url: `file://${at("origin")}`, branch: null, isFull: false, login: null };
  const ended = [1, 2, 3].map(async (number) => {
    const id = conversationId.replace(/.$/, String(number));
    const child = spawn("bash", ["--norc", "-c", cloneCommand(order, at("work", "y"), id)], {
      env: environment,
      stdio: "ignore",
    });
    return (await once(child, "exit")) as [number | null];
  });
  expect((await Promise.all(ended)).map(([code]) => code)).toEqual([0, 0, 0]);
  expect(readdirSync(at("work"))).toEqual(["y"]);
  expect(bash(`git -C "$T" status --porcelain && cat "$T/a.txt"`, { T: at("work", "y") }).printed).toBe(
    "one\n",
  );
});

test("the token reaches the server as a password and stands in no configuration", async () => {
  await using folder = await mkdtempDisposable(join(tmpdir(), "convoke-token-"));
  const { promise: authorized, resolve } = Promise.withResolvers<string>();
  const server = createServer((request, response) => {
    const { authorization } = request.headers;
    if (authorization !== undefined) resolve(Buffer.from(authorization.slice(6), "base64").toString());
    response.writeHead(401, { "WWW-Authenticate": "Basic" }).end();
  });
  await new Promise<void>((listening) => server.listen(0, "127.0.0.1", listening));
  const { port } = server.address() as { port: number };
  const order: RepositoryOrder = {
    name: "x/y",
    url: `http://127.0.0.1:${port}/x/y.git`,
    branch: null,
    isFull: false,
    login: { user: "oauth2", secret: "GITLAB_TOKEN" },
  };
  const command = cloneCommand(order, join(folder.path, "y"), conversationId);
  expect(command).not.toContain("top-secret");
  const child = spawn("bash", ["--norc", "-c", command], {
    env: { PATH: process.env["PATH"], GITLAB_TOKEN: "top-secret" },
    stdio: "ignore",
  });
  const ended = new Promise((done) => child.once("exit", done));
  expect(await authorized).toBe("oauth2:top-secret");
  expect(await ended).not.toBe(0);
  server.close();
});

test("an empty workspace becomes a repository once; the hook runs the project's script and keeps an older hook", async () => {
  await using folder = await mkdtempDisposable(join(tmpdir(), "convoke-hook-"));
  const directory = folder.path;
  for (let round = 0; round < 2; round++) expect(bash(emptyRepositoryCommand(directory)).status).toBe(0);
  mkdirSync(join(directory, ".openhands"));
  writeFileSync(join(directory, ".openhands/pre-commit.sh"), "echo project >> hooks.log\n");
  writeFileSync(join(directory, ".git/hooks/pre-commit"), "#!/bin/sh\necho older >> hooks.log\n", {
    mode: 0o755,
  });
  for (let round = 0; round < 2; round++)
    expect(bash(hookCommand(directory))).toEqual({ status: 0, printed: "" });
  execFileSync("git", ["-C", directory, "commit", "-qm", "x", "--allow-empty"], {
    env: { PATH: process.env["PATH"], ...identity },
  });
  expect(readFileSync(join(directory, "hooks.log"), "utf8")).toBe("older\nproject\n");
});
