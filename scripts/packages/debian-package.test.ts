import { expect, test } from "vitest";
import { control, packagedUnit } from "./debian-package.ts";
import { targets } from "./target.ts";

test("the unit of the package is that of convoke service, for the command that it installs", () => {
  const unit = packagedUnit();
  expect(unit).toMatch(/^\[Unit\]\n/);
  expect(unit).toContain("ExecStart=/usr/bin/convoke serve --json ");
  expect(unit).toContain("User=convoke\nStateDirectory=convoke convoke/data convoke/workspaces\n");
});

test.each(targets)("the package for $cpu names its machine and what it needs", (target) => {
  const fields = control({ target, version: "1.2.3" }, 42).split("\n");
  expect(fields).toEqual(
    expect.arrayContaining([
      "Version: 1.2.3",
      `Architecture: ${target.architecture}`,
      "Installed-Size: 42",
      "Depends: libc6 (>= 2.28), libstdc++6, git, passwd",
      "Recommends: bubblewrap",
    ]),
  );
});
