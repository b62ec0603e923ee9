import { spawnSync } from "node:child_process";
import { existsSync } from "node:fs";
import { readdir } from "node:fs/promises";
import { tmpdir } from "node:os";
import type { NetworkPolicy } from "@convoke/protocol";
import { createInProcessHost } from "@convoke/tool-host";
import { afterAll, beforeAll, expect, test } from "vitest";
import type { BoundSecret } from "../../egress/egress.ts";
import { readSource, type GitSource, type GivenSource } from "./extension-source.ts";
import { fetchFolder, type FetchDeps } from "./fetch-folder.ts";
import { openGitHost, type GitHost } from "./testing/git-host.ts";

const hasGit = spawnSync("git", ["http-backend", "--help"]).status !== null;
let host: GitHost;
let deps: FetchDeps;
const records: string[] = [];

beforeAll(async () => {
  host = await openGitHost();
  deps = {
    host: createInProcessHost({ tools: [], environment: { PATH: process.env["PATH"] ?? "" } }),
    ways: {
      environment: {},
      isOwnListener: () => false,
      onUnexpected: (error) => {
        throw error;
      },
      onRecord: (user, record) => records.push(JSON.stringify({ user, ...record })),
      outside: host.ways,
    },
  };
});
afterAll(async () => {
  await host[Symbol.asyncDispose]();
});

const allowed: NetworkPolicy = { allow: ["git.example.com"] };

async function fetched(
  given: GivenSource,
  { policy = allowed, secret = null }: { policy?: NetworkPolicy; secret?: BoundSecret | null } = {},
) {
  const source = readSource(given, ["body"]) as GitSource;
  return await fetchFolder(deps, {
    userId: "ada",
    source,
    limitedBy: [{ source: "server", policy }],
    secret,
    timeoutMs: 30_000,
  });
}

const address = (name: string): string => `https://git.example.com/${name}.git`;
const code = (name: string) => expect.objectContaining({ code: name });

test.skipIf(!hasGit)(
  "a folder of a commit is fetched by branch, tag and commit, through the policy, and nothing is left (needs git)",
  async () => {
    const first = await host.commit("tools", {
      "kit/a.txt": "one",
      "kit/run.sh": { run: "#!/bin/sh" },
      b: "b",
    });
    await host.git("tools", "tag", "-a", "v1", "-m", "First", first);
    const second = await host.commit("tools", { "kit/a.txt": "two" });
    const read = async (ref: string | null) => {
      const { commit, files } = await fetched({ source: address("tools"), ref, repo_path: "kit" });
      return { commit, files: files.map(({ path, bytes }) => `${path}=${bytes.toString()}`).toSorted() };
    };
    expect(await read(null)).toEqual({ commit: second, files: ["a.txt=two"] });
    const old = { commit: first, files: ["a.txt=one", "run.sh=#!/bin/sh"] };
    expect(await read("v1")).toEqual(old);
    expect(await read(first)).toEqual(old);
    expect(records.join("\n")).toContain('"user":"ada"');
    await expect(fetched({ source: address("tools"), ref: "gone" })).rejects.toThrow(/has no gone/);
    await expect(fetched({ source: address("tools"), repo_path: "none" })).rejects.toThrow(
      /no folder "none"/,
    );
    await expect(fetched({ source: address("nothing") })).rejects.toThrow(code("fetch_failed") as never);
    expect((await readdir(tmpdir())).filter((name) => name.startsWith("cvk-git-"))).toEqual([]);
  },
);

test.skipIf(!hasGit)(
  "hosts that the policies refuse, and private addresses, are refused by name",
  async () => {
    await host.commit("tools", { a: "a" });
    for (const policy of [
      "none",
      "registries",
      { allow: ["git.example.com"], deny: ["git.example.com"] },
    ] as const)
      await expect(
        fetched({ source: address("tools") }, { policy: policy as NetworkPolicy }),
      ).rejects.toMatchObject({
        code: "network_refused",
        message: expect.stringMatching(/network policy/),
      });
    await expect(fetched({ source: "https://127.0.0.1/tools.git" }, { policy: "all" })).rejects.toMatchObject(
      { code: "network_refused", message: expect.stringMatching(/not a public one/) },
    );
  },
);

test.skipIf(!hasGit)(
  "a private repository gets the token of its host on the way, and git never has it",
  async () => {
    host.password = "tok-first0value1of2three";
    await host.commit("private/shop", { a: "a" });
    const secret: BoundSecret = {
      name: "TOKEN",
      placeholder: "cvk_TOKEN_abcdefgh",
      value: host.password,
      hosts: ["git.example.com:443"],
      as: ["basic"],
    };
    await expect(fetched({ source: address("private/shop") })).rejects.toThrow(/it is private/);
    host.logins.length = 0;
    const { files } = await fetched({ source: address("private/shop") }, { secret });
    expect(files).toHaveLength(1);
    expect(host.logins).toContain(`x-access-token:${host.password}`);
    expect(records.join("\n")).not.toContain(host.password);
    await expect(
      fetched({ source: address("private/shop") }, { secret: { ...secret, value: "wrong-value-of-it" } }),
    ).rejects.toThrow(/it is private/);
  },
);

test.skipIf(!hasGit)(
  "hostile repositories are refused or have no effect: links, filters, hooks, submodules, names, sizes",
  async () => {
    const mark = `${tmpdir()}/cvk-hostile-mark`;
    const attributes = `* filter=evil\n`;
    await host.commit("calm", {
      ".gitattributes": attributes,
      ".gitmodules": `[submodule "x"]\n\tpath = sub\n\turl = ext::sh -c 'touch ${mark}'\n`,
      "hooks/post-checkout": { run: `#!/bin/sh\ntouch ${mark}\n` },
      "docs/a.md": "a",
      "docs/b.md": { link: "a.md" },
    });
    const tree = await host.git("calm", "rev-parse", "main^{tree}");
    const entries = await host.git("calm", "ls-tree", tree);
    const made = spawnSync(
      "git",
      ["-C", await host.git("calm", "rev-parse", "--absolute-git-dir"), "mktree", "--missing"],
      {
        input: `${entries}\n160000 commit ${"1".repeat(40)}\tsub\n`,
      },
    )
      .stdout.toString()
      .trim();
    const commit = await host.git("calm", "commit-tree", made, "-m", "x");
    await host.git("calm", "update-ref", "refs/heads/main", commit);
    const calm = await fetched({ source: address("calm") });
    expect(calm.submodules).toEqual(["sub"]);
    expect(Object.fromEntries(calm.files.map(({ path, bytes }) => [path, bytes.toString()]))).toMatchObject({
      ".gitattributes": attributes,
      "docs/b.md": "a",
    });
    expect(existsSync(mark)).toBe(false);
    for (const [name, hostile, words] of [
      ["out", { a: { link: "../../../etc/passwd" } }, /link "a"/],
      ["control", { "a\u001b[31m": "a" }, /control characters/],
    ] as const) {
      await host.commit(name, hostile);
      await expect(fetched({ source: address(name) }), name).rejects.toThrow(words);
    }
  },
);
