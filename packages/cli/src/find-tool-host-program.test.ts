import { mkdirSync, mkdtempDisposableSync, realpathSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { expect, test } from "vitest";
import { findToolHostProgram } from "./find-tool-host-program.ts";

/** The command installed at `place` below a folder, with its dependency in the `node_modules` that is named. */
function install(folder: string, place: string, dependency: string): string {
  const files = {
    [join(place, "package.json")]: JSON.stringify({ dependencies: { addon: "1" } }),
    [join(place, "lib", "cli-sandbox-host.js")]: "",
    [join(dependency, "addon", "package.json")]: JSON.stringify({
      optionalDependencies: { "addon-linux": "1", "addon-other": "1" },
    }),
    [join(dependency, "addon-linux", "package.json")]: "{}",
  };
  for (const [file, text] of Object.entries(files)) {
    mkdirSync(join(folder, dirname(file)), { recursive: true });
    writeFileSync(join(folder, file), text);
  }
  return join(folder, place, "lib", "cli-sandbox-host.js");
}

test.each([
  ["installed for all", "node_modules/convoke", "node_modules/convoke/node_modules", "node_modules/convoke"],
  ["installed in a project", "node_modules/convoke", "node_modules", ""],
  ["built in a checkout", "dist/convoke", "node_modules", ""],
])(
  "%s: the program is found with what is beside it, where Node will look",
  (_what, place, dependency, expected) => {
    using temporary = mkdtempDisposableSync(join(tmpdir(), "convoke-program-"));
    const folder = realpathSync(temporary.path);
    const program = findToolHostProgram(install(folder, place, dependency));
    const root = join(folder, expected);
    expect(program).toMatchObject({ root });
    expect(join(root, program.entry)).toBe(join(folder, place, "lib/cli-sandbox-host.js"));
    expect(program.parts.map((part) => join(root, part)).toSorted()).toEqual(
      [
        join(folder, place, "package.json"),
        join(folder, place, "lib"),
        join(folder, dependency, "addon"),
        join(folder, dependency, "addon-linux"),
      ].toSorted(),
    );
    expect(
      program.parts.filter((part) => part.includes("addon")).every((part) => part.includes("node_modules")),
    ).toBe(true);
  },
);

test("in a checkout the sources are the program", () => {
  const program = findToolHostProgram();
  expect(program.entry).toBe("packages/cli/src/sandbox-host.ts");
});
