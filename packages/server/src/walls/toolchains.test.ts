import { mkdir, mkdtempDisposable, realpath } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, test } from "vitest";
import { findToolchains, toolchainVariables, visiblePath } from "./toolchains.ts";

test("programs of the home show, and nothing that contains settings or data", async () => {
  await using folder = await mkdtempDisposable(join(tmpdir(), "convoke-toolchains-"));
  const home = await realpath(folder.path);
  const dataDir = join(home, ".convoke");
  for (const path of [
    ".cargo/bin",
    ".nvm/versions/node/v24/bin",
    "go/bin",
    ".local/bin",
    "own/bin",
    ".convoke/bin",
    ".ssh",
  ])
    await mkdir(join(home, path), { recursive: true });
  const environment = {
    PATH: [".nvm/versions/node/v24/bin", "own/bin", ".convoke/bin", "missing", ""]
      .map((path) => join(home, path))
      .concat("/usr/bin", "relative", "/")
      .join(":"),
    GOPATH: join(home, "go"),
    CARGO_HOME: join(home, ".cargo"),
    NVM_DIR: home,
  };
  const shown = await findToolchains({ home, dataDir, environment });
  expect(shown.map((path) => path.slice(home.length + 1))).toEqual([
    ".cargo/bin",
    ".local/bin",
    ".nvm/versions",
    "go/bin",
    "own/bin",
  ]);
  expect(visiblePath(environment.PATH, shown, "/own/node")).toBe(
    `${home}/.nvm/versions/node/v24/bin:${home}/own/bin:/usr/bin:/own/node`,
  );
  expect(
    toolchainVariables({ ...environment, JAVA_HOME: "/usr/lib/jvm/x", PYENV_ROOT: "/else" }, shown),
  ).toEqual({
    NVM_DIR: home,
    CARGO_HOME: environment.CARGO_HOME,
    GOPATH: environment.GOPATH,
    JAVA_HOME: "/usr/lib/jvm/x",
  });
});
