import { execFile, spawnSync } from "node:child_process";
import { chmodSync, existsSync, mkdirSync, readFileSync, symlinkSync, writeFileSync } from "node:fs";
import { delimiter, dirname, join } from "node:path";
import { promisify } from "node:util";
import { openTemporaryDirectory } from "@convoke/tool-host/testing";
import { runConvoke, testedPrograms } from "@convoke/server/testing";
import { expect, test } from "vitest";
import { unitText, type ServiceScope } from "../service/unit-text.ts";

const { command } = testedPrograms();
const run = promisify(execFile);

/** A home, and a `systemctl` that notes what it is asked and answers `shown`. */
async function openHome(shown = "") {
  const folder = await openTemporaryDirectory();
  const at = (name: string): string => join(folder.path, name);
  mkdirSync(at("bin"));
  writeFileSync(at("shown"), shown);
  writeFileSync(
    at("bin/systemctl"),
    `#!/bin/sh\necho "$*" >>'${at("asked")}'\ncase "$*" in *fail*) exit 1;; esac\ncat '${at("shown")}'\n`,
  );
  chmodSync(at("bin/systemctl"), 0o755);
  return {
    at,
    unit: at(".config/systemd/user/convoke.service"),
    asked: (): string[] =>
      existsSync(at("asked")) ? readFileSync(at("asked"), "utf8").trim().split("\n") : [],
    service: (...words: string[]) =>
      runConvoke(["service", ...words, "--user"], {
        HOME: folder.path,
        PATH: [at("bin"), dirname(process.execPath), "/usr/bin", "/bin"].join(delimiter),
      }),
    [Symbol.asyncDispose]: () => folder[Symbol.asyncDispose](),
  };
}

test("service install writes the unit, prints the two commands and runs neither", async () => {
  await using home = await openHome();
  expect(await home.service("install", "--port", "9000")).toEqual({
    code: 0,
    stdout: `\
Wrote ${home.unit}
Now run:
  systemctl --user daemon-reload
  systemctl --user enable --now convoke.service
It ends when you log out, unless you run: loginctl enable-linger
`,
    stderr: "",
  });
  expect(home.asked()).toEqual([]);
  const text = readFileSync(home.unit, "utf8");
  expect(text).toContain(`ExecStart=${process.execPath} --disable-sigusr1 ${command} serve --json`);
  expect(text).toContain("--port 9000\n");
  const again = await home.service("install");
  expect(again.stdout).toContain("takes the change with: systemctl --user restart convoke.service");
});

test("with --now the commands are run, and uninstall removes what enabled the unit", async () => {
  await using home = await openHome();
  expect((await home.service("install", "--now")).stdout).not.toContain("Now run");
  const [reload, enable] = ["--user daemon-reload", "--user enable --now convoke.service"];
  expect(home.asked()).toEqual([reload, enable]);
  const link = join(dirname(home.unit), "default.target.wants/convoke.service");
  mkdirSync(dirname(link));
  symlinkSync(home.unit, link);
  const { code, stdout } = await home.service("uninstall", "--now");
  expect([code, stdout.split("\n")[0]]).toEqual([0, `Removed ${home.unit}`]);
  expect([existsSync(home.unit), existsSync(link)]).toEqual([false, false]);
  expect(home.asked()).toEqual([reload, enable, "--user stop convoke.service", reload]);
  expect(await home.service("uninstall")).toMatchObject({ code: 0, stdout: `There is no ${home.unit}\n` });
});

test("a unit that somebody else wrote is neither replaced nor removed", async () => {
  await using home = await openHome();
  mkdirSync(dirname(home.unit), { recursive: true });
  writeFileSync(home.unit, "[Service]\nExecStart=/bin/true\n");
  for (const word of ["install", "uninstall"]) {
    const { code, stderr } = await home.service(word);
    expect([code, stderr]).toEqual([2, expect.stringContaining("was not written by convoke service")]);
  }
  expect(readFileSync(home.unit, "utf8")).toBe("[Service]\nExecStart=/bin/true\n");
});

test("service status says what systemd knows; exit code 1 unless it is active", async () => {
  const loaded = "LoadState=loaded\nFragmentPath=/u/convoke.service\nUnitFileState=enabled\n";
  await using home = await openHome(`${loaded}ActiveState=active\nMainPID=42\n`);
  expect(await home.service("status", "--json")).toEqual({
    code: 0,
    stdout: '{"unit":"/u/convoke.service","enabled":true,"active":true,"pid":42}\n',
    stderr: "",
  });
  writeFileSync(home.at("shown"), `${loaded}ActiveState=failed\nMainPID=0\n`);
  const failed = await home.service("status");
  expect([failed.code, failed.stdout]).toEqual([1, expect.stringMatching(/^active {3}failed$/m)]);
  writeFileSync(home.at("shown"), "LoadState=not-found\nActiveState=inactive\n");
  expect(await home.service("status")).toMatchObject({
    code: 1,
    stdout: "not installed (convoke service install)\n",
  });
});

test("without systemd it says so", async () => {
  const { code, stderr } = await runConvoke(["service", "status", "--user"], {
    PATH: "/nowhere",
    HOME: "/nowhere",
  });
  expect([code, stderr]).toEqual([1, expect.stringContaining("systemd is not installed here")]);
});

test.runIf(process.geteuid?.() === 0)("a service of the system needs a user of its own", async () => {
  const { code, stderr } = await runConvoke(["service", "install", "--system", "--run-as", "nobody-at-all"]);
  expect([code, stderr]).toEqual([2, expect.stringContaining("useradd --system")]);
});

const hasSystemd = spawnSync("systemd-analyze", ["--version"]).status === 0;

test.runIf(hasSystemd)(
  `systemd accepts both units${hasSystemd ? "" : " (skipped: systemd-analyze is not installed)"}`,
  async () => {
    await using folder = await openTemporaryDirectory();
    const environment = { ...process.env, XDG_RUNTIME_DIR: folder.path };
    for (const scope of ["system", "user"] satisfies ServiceScope[]) {
      const file = join(folder.path, `convoke-${scope}.service`);
      writeFileSync(
        file,
        unitText({ scope, command: [process.execPath, command], user: "daemon", host: null, port: null }),
      );
      const analyze = [...(scope === "user" ? ["--user"] : []), "verify", "--man=no", file];
      const { stderr } = await run("systemd-analyze", analyze, { env: environment });
      expect(stderr).toBe("");
    }
    // Agents run commands, so most of what it counts stays open; what counts here is that it can be said at all.
    const rating = ["security", "--offline=true", join(folder.path, "convoke-system.service")];
    expect((await run("systemd-analyze", rating)).stdout).toMatch(/Overall exposure level .*: \d/);
  },
);

/** What systemd does for `ProtectSystem=full` and `NoNewPrivileges=yes` of the unit. */
const asUnit = `
mount --make-rslave /
for folder in /usr /boot /etc; do
  if [ -d $folder ]; then mount --bind $folder $folder && mount -o remount,bind,ro $folder || exit 9; fi
done
exec setpriv --reuid=65534 --regid=65534 --clear-groups --no-new-privs "$@"`;

const canTry =
  process.geteuid?.() === 0 &&
  ["unshare", "setpriv", "bwrap"].every((name) => spawnSync("which", [name]).status === 0) &&
  spawnSync("unshare", ["--mount", "true"]).status === 0;

test.runIf(canTry)(
  `a wall works under what the unit forbids${canTry ? "" : " (skipped: needs root, unshare, setpriv and bwrap)"}`,
  async () => {
    await using folder = await openTemporaryDirectory();
    chmodSync(folder.path, 0o777);
    const doctor = [process.execPath, command, "doctor", "--json"];
    const { stdout } = await run("unshare", ["--mount", "sh", "-c", asUnit, "sh", ...doctor], {
      cwd: folder.path,
      env: { PATH: "/usr/local/bin:/usr/bin:/bin:/usr/sbin:/sbin", HOME: folder.path },
    });
    const findings = JSON.parse(stdout) as readonly { readonly name: string; readonly state: string }[];
    expect(findings.find(({ name }) => name === "wall")).toMatchObject({ state: "ok" });
  },
);
