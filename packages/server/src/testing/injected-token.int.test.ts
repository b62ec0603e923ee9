import { execFile, spawnSync } from "node:child_process";
import { createHash } from "node:crypto";
import { once } from "node:events";
import { mkdir, readFile, writeFile } from "node:fs/promises";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import { promisify } from "node:util";
import { defaultTools, hiddenMark } from "@convoke/tool-host";
import { expect, test } from "vitest";
import { runGitBackend } from "../egress/testing/run-git-backend.ts";
import { findBubblewrap, ownAccount } from "../sandboxes/find-bubblewrap.ts";
import { openOutside } from "./canaries/outside.ts";
import { startTestServer, type TestServer } from "./start-server.ts";
import { withWalls } from "./walled-server.ts";

const run = promisify(execFile);
const probe = await findBubblewrap({
  self: ownAccount(),
  unprivileged: { uid: 65_534, gid: 65_534 },
  environment: process.env,
});
const hasPrograms = ["git", "npm", "tar"].every((name) => spawnSync(name, ["--version"]).status === 0);
const terminal = (command: string) => ({
  tool_calls: [{ name: "terminal", arguments: { command: `(${command}) 2>&1`, timeout: 120 } }],
});

test.skipIf(!probe.isUsable || !hasPrograms)(
  `a project is installed, built, tested, committed and pushed from a linked worktree with a token that is never inside (needs git, npm and a working bubblewrap: ${probe.detail})`,
  { timeout: 180_000 },
  async () => {
    let token = "ghp_first0value1of2the3token";
    const logins: string[] = [];
    const fetched = "value-that-is-fetched-when-used";
    using vault = await openVault(fetched);
    const places = { repositories: "", registry: "" };
    await using world = await openOutside({
      "git.example.com": (request, response) => {
        const login = Buffer.from((request.headers.authorization ?? "").slice(6), "base64").toString();
        logins.push(login);
        if (request.url === "/whoami")
          return void response.end(`known: ${request.headers.authorization === `Bearer ${fetched}`}`);
        if (login === `x-access-token:${token}`) runGitBackend(places.repositories, request, response);
        else response.writeHead(401, { "WWW-Authenticate": 'Basic realm="git"' }).end();
      },
      "registry.npmjs.org": (request, response) => {
        const name = request.url === "/tiny" ? "packument.json" : "tiny.tgz";
        void readFile(join(places.registry, name)).then((bytes) => response.end(bytes));
      },
    });
    const turns = [
      terminal("npm install --no-audit --no-fund && npm run build && npm test"),
      terminal("git add . && git commit --quiet -m 'Build it' && git push --quiet origin HEAD:first"),
      terminal("env; cat /proc/[0-9]*/environ | tr '\\0' '\\n'; echo $TOKEN; git config --list"),
      terminal("git ls-remote git@git.example.com:shop.git; git ls-remote git@other.example.com:shop.git"),
      terminal('curl -sS -H "Authorization: Bearer $FETCHED" https://git.example.com/whoami'),
      { text: "Done." },
      terminal("git push --quiet origin HEAD:second && echo $TOKEN"),
      { text: "Done." },
      terminal("GIT_TERMINAL_PROMPT=0 git push --quiet origin HEAD:third"),
      { text: "Done." },
    ];
    await using server = await startTestServer({
      script: { select: "in_order", turns },
      tools: defaultTools(),
      ...withWalls(world.ways),
    });
    places.repositories = join(server.folder, "host");
    places.registry = join(server.folder, "registry");
    const folder = await layOut(server.folder);
    const { agent } = server.startRequest();
    const id = await server.runTo("finished", "Build and push.", {
      agent: { ...agent, tools: [{ name: "terminal" }] },
      workspace: { kind: "LocalWorkspace", working_dir: folder },
      secrets: {
        TOKEN: { kind: "StaticSecret", value: token, hosts: ["git.example.com"] },
        FETCHED: { kind: "LookupSecret", url: vault.url, headers: {}, hosts: ["git.example.com"] },
      },
    });
    const first = await outputs(server, id);
    expect(first[0]).toContain("tests passed");
    expect(first[2]).toMatch(/cvk_TOKEN_[a-z0-9]{24}/);
    expect(first[3]).toContain("refs/heads/first");
    expect(first[3]).toContain("git over ssh does not work behind this wall");
    expect(first[4]).toContain("known: true");
    const placeholder = /cvk_TOKEN_[a-z0-9]{24}/.exec(first[2]!)![0];

    // A new value, from a client that knows no hosts, counts at the next request.
    const old = token;
    token = "ghp_second0value1of2the3token";
    const update = async (value: string): Promise<unknown> =>
      server.call("POST", `/api/conversations/${id}/secrets`, { secrets: { TOKEN: value } });
    await update(token);
    const goOn = async (): Promise<string> => {
      await server.client.sendMessage(id, { content: [{ type: "text", text: "Go on." }], run: true });
      await server.waitForStatus(id, "finished");
      return (await outputs(server, id)).at(-1)!;
    };
    expect(await goOn()).toContain(placeholder);
    await update("");
    expect(await goOn()).toContain("Authentication failed");

    expect(logins).toEqual(expect.arrayContaining([`x-access-token:${old}`, `x-access-token:${token}`]));
    const { stdout: branches } = await run("git", ["-C", join(places.repositories, "shop.git"), "branch"]);
    expect(branches.split("\n").map((line) => line.slice(2))).toEqual(["first", "main", "second", ""]);
    const all = (await server.events(id)).map((event) => JSON.stringify(event)).join("\n");
    expect(all).not.toContain(hiddenMark);
    for (const value of [old, token, fetched]) {
      expect(all).not.toContain(value);
      const { stdout } = await run("grep", ["-rlF", value, server.folder]).catch(
        // It ends with 1 where nothing was found.
        (error: { stdout: string }) => error,
      );
      expect(stdout).toBe("");
    }
  },
);

/** Where the value of a secret is fetched. */
async function openVault(value: string): Promise<{ readonly url: string } & Disposable> {
  const server = createServer((_request, response) => response.end(value));
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  const { port } = server.address() as AddressInfo;
  return { url: `http://127.0.0.1:${port}/`, [Symbol.dispose]: () => void server.close() };
}

/** A repository on the host and a package in the registry; resolves with a linked worktree of a clone. */
async function layOut(folder: string): Promise<string> {
  const at = (...parts: string[]): string => join(folder, ...parts);
  const git = async (...rest: string[]): Promise<unknown> =>
    run("git", ["-c", "user.name=Ada", "-c", "user.email=ada@example.com", ...rest]);
  for (const name of ["host", "registry/package", "work"]) await mkdir(at(name), { recursive: true });
  await git("init", "--quiet", "--bare", "--initial-branch=main", at("host/shop.git"));
  await git("-C", at("host/shop.git"), "config", "http.receivepack", "true");
  const clone = at("work/shop");
  await git("clone", "--quiet", at("host/shop.git"), clone);
  const scripts = {
    build: "node -e \"require('fs').writeFileSync('built.txt', require('tiny'))\"",
    test: "node -e \"if (require('fs').readFileSync('built.txt', 'utf8') === 'tiny') console.log('tests passed')\"",
  };
  const files = {
    "package.json": JSON.stringify({
      name: "shop",
      version: "1.0.0",
      scripts,
      dependencies: { tiny: "1.0.0" },
    }),
    ".gitignore": "node_modules\n",
  };
  for (const [name, text] of Object.entries(files)) await writeFile(join(clone, name), text);
  await git("-C", clone, "add", ".");
  await git("-C", clone, "commit", "--quiet", "-m", "Begin");
  await git("-C", clone, "push", "--quiet", "origin", "HEAD:main");
  await git("-C", clone, "config", "user.name", "Ada");
  await git("-C", clone, "config", "user.email", "ada@example.com");
  await git("-C", clone, "remote", "set-url", "origin", "https://git.example.com/shop.git");
  await git("-C", clone, "worktree", "add", "--quiet", at("work/linked"), "-b", "feature");
  const tiny = { name: "tiny", version: "1.0.0", main: "index.js" };
  await writeFile(at("registry/package/package.json"), JSON.stringify(tiny));
  await writeFile(at("registry/package/index.js"), 'module.exports = "tiny";\n');
  await run("tar", ["-czf", at("registry/tiny.tgz"), "-C", at("registry"), "package"]);
  const bytes = await readFile(at("registry/tiny.tgz"));
  const integrity = `sha512-${createHash("sha512").update(bytes).digest("base64")}`;
  const dist = { tarball: "https://registry.npmjs.org/tiny/-/tiny-1.0.0.tgz", integrity };
  const packument = {
    name: "tiny",
    "dist-tags": { latest: "1.0.0" },
    versions: { "1.0.0": { ...tiny, dist } },
  };
  await writeFile(at("registry/packument.json"), JSON.stringify(packument));
  return at("work/linked");
}

async function outputs(server: TestServer, id: string): Promise<string[]> {
  const events = await server.events(id);
  return events.filter(({ kind }) => kind === "ObservationEvent").map((event) => JSON.stringify(event));
}
