import { execFile, spawnSync } from "node:child_process";
import { mkdir, mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { createSecureServer } from "node:http2";
import { createServer as createHttpsServer } from "node:https";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import { openEgressListener } from "@convoke/tool-host/serve";
import { expect, test } from "vitest";
import type { BoundSecret, EgressOptions } from "./egress.ts";
import { egressEnvironment, insideProxy } from "./egress-environment.ts";
import { type EgressWorld, openEgressWorld } from "./testing/egress-world.ts";
import { runGitBackend } from "./testing/run-git-backend.ts";

const run = promisify(execFile);
const has = (program: string, ...rest: string[]): boolean => spawnSync(program, rest).status === 0;
const hasCurl = has("curl", "--version");
const hasGit = has("git", "--version");
const hasPython = has("python3", "-c", "import ssl, urllib.request");

const token: BoundSecret = {
  name: "GIT_TOKEN",
  placeholder: "cvk_GIT_TOKEN_0123456789abcdefghijklmn",
  value: "ghp_value-of-the-token",
  hosts: ["git.example.com"],
  as: ["header", "basic"],
};

type Inside = AsyncDisposable & {
  readonly world: EgressWorld;
  readonly folder: string;
  readonly environment: Record<string, string>;
};

/** A world behind the listener that tools have inside of a wall, and the environment of a program there. */
async function openInside(options: Partial<EgressOptions>): Promise<Inside> {
  await using scope = new AsyncDisposableStack();
  const world = scope.use(await openEgressWorld({ secrets: () => [token], ...options }));
  const folder = await mkdtemp(join(tmpdir(), "inside-"));
  scope.defer(async () => rm(folder, { recursive: true, force: true }));
  const onWarning = (text: string): never => {
    throw new Error(text);
  };
  const listener = scope.use(await openEgressListener({ socketPath: world.socketPath, port: 0, onWarning }));
  const authority = join(folder, "ca.pem");
  await writeFile(authority, world.egress.certificate);
  const variables = Object.entries(
    egressEnvironment({ bundle: authority, authority, publicKeyDigest: "" }),
  ).map(([name, value]) => [name, value.replace(insideProxy, `http://127.0.0.1:${listener.port}`)]);
  const environment = {
    ...(Object.fromEntries(variables) as Record<string, string>),
    PATH: process.env["PATH"] ?? "",
    HOME: folder,
    GIT_CONFIG_NOSYSTEM: "1",
    GIT_TERMINAL_PROMPT: "0",
  };
  const moved = scope.move();
  return { world, folder, environment, [Symbol.asyncDispose]: async () => moved.disposeAsync() };
}

const curl = async ({ environment }: Inside, ...rest: string[]): Promise<string> =>
  (await run("curl", ["--silent", "--show-error", "--max-time", "60", ...rest], { env: environment })).stdout;

test.skipIf(!hasCurl)(
  "curl reads a refusal, and gets the placeholder back from a host that echoes (needs curl)",
  async () => {
    await using inside = await openInside({ policy: { allow: ["git.example.com"] } });
    const server = createSecureServer(
      { ...inside.world.leaf("git.example.com"), allowHTTP1: true },
      (request, response) => {
        response.setHeader("Content-Type", "text/plain");
        response.end(
          `${request.httpVersion} ${request.headers.authorization === `Bearer ${token.value}`} ${request.headers.authorization}`,
        );
      },
    );
    await inside.world.place("git.example.com", 443, server);
    const header = `Authorization: Bearer ${token.placeholder}`;
    for (const [option, version] of [
      ["--http1.1", "1.1"],
      ["--http2", "2.0"],
    ] as const) {
      expect(await curl(inside, option, "--header", header, "https://git.example.com/")).toBe(
        `${version} true Bearer ${token.placeholder}`,
      );
    }
    expect(await curl(inside, "https://files.example.com/")).toBe(
      "files.example.com:443 was refused: This conversation's network policy has no rule that allows it. Ask for it with request_network.\n",
    );
    const port = new URL(inside.environment["http_proxy"]!).port;
    expect(
      await curl(
        inside,
        "--proxy",
        `socks5h://127.0.0.1:${port}`,
        "--header",
        header,
        "https://git.example.com/",
      ),
    ).toContain(" true ");
  },
);

test.skipIf(!hasCurl)(
  "a program that does not trust the wall is recorded, and the agent learns of it (needs curl)",
  async () => {
    await using inside = await openInside({});
    await inside.world.place("git.example.com", 443, createHttpsServer(inside.world.leaf("git.example.com")));
    const other = join(inside.folder, "other.pem");
    await writeFile(other, inside.world.leaf("other.example").cert);
    await expect(curl(inside, "--cacert", other, "https://git.example.com/")).rejects.toThrow("certificate");
    await expect
      .poll(() => inside.world.records)
      .toContainEqual(expect.objectContaining({ kind: "untrusted", host: "git.example.com" }));
    expect(inside.world.egress.refusalsSince(0).text).toContain(
      "Network: git.example.com:443 was refused (the program does not trust this wall's certificate).",
    );
  },
);

test.skipIf(!hasPython)(
  "Python reads a host over HTTPS, and 403 for a refused one (needs python3)",
  async () => {
    await using inside = await openInside({ policy: { read_only: ["git.example.com"] } });
    await inside.world.place(
      "git.example.com",
      443,
      createHttpsServer(inside.world.leaf("git.example.com"), (_, response) => response.end("hello")),
    );
    const script = `import urllib.request, urllib.error
print(urllib.request.urlopen("https://git.example.com/").read().decode())
try: urllib.request.urlopen("https://files.example.com/")
except urllib.error.HTTPError as error: print(error.code)`;
    const { stdout } = await run("python3", ["-c", script], { env: inside.environment });
    expect(stdout).toBe("hello\n403\n");
  },
);

test("Node's fetch uses the proxy and trusts the wall", async () => {
  await using inside = await openInside({ policy: { read_only: ["git.example.com"] } });
  await inside.world.place(
    "git.example.com",
    443,
    createHttpsServer(inside.world.leaf("git.example.com"), (_, response) => response.end("hello")),
  );
  const script = `const read = async (url) => { const r = await fetch(url); console.log(r.status, (await r.text()).trim().slice(0, 40)); };
    await read("https://git.example.com/"); await read("https://files.example.com/");`;
  const { stdout } = await run(process.execPath, ["--input-type=module", "--eval", script], {
    env: inside.environment,
  });
  expect(stdout).toBe("200 hello\n403 files.example.com:443 was refused: This \n");
});

test.skipIf(!hasGit)("git clones and pushes with a token that it never sees (needs git)", async () => {
  await using inside = await openInside({ policy: { read_only: ["git.example.com"] } });
  const { world, folder, environment } = inside;
  const logins: string[] = [];
  await run("git", ["init", "--quiet", "--bare", "--initial-branch=main", join(folder, "host", "shop.git")]);
  await run("git", ["-C", join(folder, "host", "shop.git"), "config", "http.receivepack", "true"]);
  const server = createHttpsServer(world.leaf("git.example.com"), (request, response) => {
    const login = Buffer.from((request.headers.authorization ?? "").slice(6), "base64").toString();
    logins.push(login);
    if (login !== `x:${token.value}`) {
      response.writeHead(401, { "WWW-Authenticate": 'Basic realm="git"' }).end();
      return;
    }
    runGitBackend(join(folder, "host"), request, response);
  });
  await world.place("git.example.com", 443, server);
  const own = join(folder, "own");
  await mkdir(own);
  const helper = `!printf 'username=x\\npassword=${token.placeholder}\\n'`;
  const git = async (cwd: string, ...rest: string[]) =>
    run(
      "git",
      [
        "-c",
        `credential.helper=${helper}`,
        "-c",
        "user.name=Ada",
        "-c",
        "user.email=ada@example.com",
        ...rest,
      ],
      {
        cwd,
        env: environment,
      },
    );
  await git(own, "clone", "--quiet", "https://git.example.com/shop.git");
  const shop = join(own, "shop");
  // Larger than what git posts as one: it is sent in chunks, compressed.
  await writeFile(
    join(shop, "large.txt"),
    Array.from({ length: 200_000 }, (_, at) => `${at * 7919}`).join("\n"),
  );
  await git(shop, "add", ".");
  await git(shop, "commit", "--quiet", "--message", "Add a file");
  await git(shop, "push", "--quiet", "origin", "HEAD:main");
  await git(own, "clone", "--quiet", "https://git.example.com/shop.git", "again");
  expect(await readFile(join(own, "again", "large.txt"), "utf8")).toBe(
    await readFile(join(shop, "large.txt"), "utf8"),
  );
  expect(logins).toContain(`x:${token.value}`);
  const seen = await run("grep", ["-r", "-c", "-F", token.value, own]).catch(
    (error: { stdout: string }) => error,
  );
  expect(seen.stdout.split("\n").filter((line) => line !== "" && !line.endsWith(":0"))).toEqual([]);
  // Without the token the host is read-only.
  const push = git(shop, "-c", "credential.helper=", "push", "origin", "HEAD:other");
  await expect(push).rejects.toThrow("could not read Username");
  await run("git", ["-C", shop, "config", "http.extraHeader", "Authorization: Bearer foreign"]);
  await expect(git(shop, "fetch")).rejects.toThrow(
    "the header Authorization has credentials of the program's own",
  );
});
