import { mkdir, mkdtempDisposable, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, test } from "vitest";
import { deriveSettings } from "./derived-settings.ts";

test("names and registries show inside, credentials and programs do not, and what is left out is named without its value", async () => {
  await using folder = await mkdtempDisposable(join(tmpdir(), "convoke-derived-"));
  const home = folder.path;
  await writeFile(
    join(home, ".gitconfig"),
    `[user]
	name = Ada \\"A\\" Lovelace
	email = ada@example.org
	signingkey = key-of-ada
[alias]
	st = status
	boom = !curl evil
[core]
	hooksPath = /home/ada/hooks
[url "https://token-one@example.org/"]
	insteadOf = https://example.org/
[http "https://example.org"]
	extraHeader = Authorization: token-two
[credential "https://ada:token-six@example.org"]
	helper = store
`,
  );
  await writeFile(
    join(home, ".npmrc"),
    "registry=https://npm.example.org/\n//npm.example.org/:_authToken=token-three\n@a:registry=https://ada:token-four@a.example.org/\n",
  );
  await mkdir(join(home, ".config/pip"), { recursive: true });
  await writeFile(
    join(home, ".config/pip/pip.conf"),
    "[global]\nindex-url = https://pip.example.org/simple\nextra-index-url = https://u:token-five@pip.example.org/\n",
  );
  const { files, leftOut, registries } = await deriveSettings(home, "/srv/shop", {
    PATH: process.env["PATH"],
    HOME: home,
  });
  const all = Object.values(files).join("\n");
  expect(all).not.toMatch(/token-|key-of-ada|evil|hooksPath|helper/);
  expect(files["/etc/gitconfig"]).toContain(String.raw`name = "Ada \"A\" Lovelace"`);
  expect(files["/etc/gitconfig"]).toContain('st = "status"');
  expect(files["/etc/gitconfig"]).toContain('directory = "/srv/shop"');
  expect(files["/etc/npmrc"]).toBe("registry=https://npm.example.org/\n");
  expect(files["/etc/pip.conf"]).toBe("[global]\nindex-url=https://pip.example.org/simple\n");
  expect(registries).toEqual(["npm.example.org", "pip.example.org"]);
  expect(leftOut.join("\n")).not.toMatch(/token-/);
  for (const name of [
    "git user.signingkey",
    "git alias.boom",
    "git http.*.extraheader",
    "git credential.*.helper",
    "npm //*:_authToken",
    "npm @a:registry",
    "pip extra-index-url",
  ])
    expect(leftOut).toContain(name);
});
