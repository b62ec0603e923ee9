import { cpSync, existsSync, readFileSync, readdirSync } from "node:fs";
import path from "node:path";
import { hasTmux, tryChat } from "./install-chat.ts";
import { InstallPlace, type Tools } from "./install-place.ts";

/** What a cell of the matrix installs. */
export type CellDeps = {
  readonly tools: Tools;
  /** The command's tarball. */
  readonly tarball: string;
  readonly version: string;
  /** Address of the registry of the scope `@convoke`. */
  readonly registry: string;
  /** Data folders of earlier releases: each has `data` and `expected.json`. */
  readonly golden: readonly string[];
};

export type CellResult = {
  /** What is wrong; none when all is well. */
  readonly problems: readonly string[];
  /** Lines that the installation printed. */
  readonly lines: number;
  /** From nothing to the first page, with npm's cache empty and full. */
  readonly coldMs: number;
  readonly warmMs: number;
};

/** A user installs the command, tries it, upgrades and removes it. */
export async function tryInstall(deps: CellDeps): Promise<CellResult> {
  await using place = new InstallPlace(deps.tools, deps.registry);
  const problems: string[] = [];
  const expect = (isRight: boolean, problem: string): void => void (isRight || problems.push(problem));
  const project = await place.makeProject("project");
  const cold = await installAndServe(place, project, deps, expect);
  if (problems.length > 0) return { problems, lines: cold.lines, coldMs: cold.ms, warmMs: 0 };
  const version = await place.convoke(project, ["--version"]);
  expect(version.stdout.trim() === deps.version, `--version: ${version.stdout}${version.stderr}`);
  const demo = await place.convoke(project, ["demo"]);
  expect(demo.code === 0, `demo ended with ${demo.code}: ${demo.stdout}${demo.stderr}`);
  const chat = hasTmux ? await tryChat(place, project) : null;
  if (chat !== null) problems.push(chat);
  for (const folder of deps.golden) await upgrade(place, project, folder, expect);
  const removed = await place.npm(project, ["uninstall", "convoke"]);
  expect(removed.code === 0, `uninstall: ${removed.stderr}`);
  for (const left of findLeftOvers(place, project)) problems.push(`left behind: ${left}`);
  const again = await installAndServe(place, await place.makeProject("again"), deps, expect);
  return { problems, lines: cold.lines, coldMs: cold.ms, warmMs: again.ms };
}

type Expect = (isRight: boolean, problem: string) => void;

async function installAndServe(
  place: InstallPlace,
  project: string,
  { tarball }: Pick<CellDeps, "tarball">,
  expect: Expect,
): Promise<{ readonly lines: number; readonly ms: number }> {
  const startedMs = performance.now();
  const installed = await place.npm(project, ["install", tarball]);
  const printed = `${installed.stdout}${installed.stderr}`;
  const lines = printed.split("\n").filter((line) => line.trim() !== "").length;
  expect(installed.code === 0, `install: ${printed}`);
  expect(lines <= maxLines, `install printed ${lines} lines: ${printed}`);
  if (installed.code !== 0) return { lines, ms: 0 };
  const pageAtMs = await servePage(place, project, expect);
  return { lines, ms: pageAtMs - startedMs };
}

/** Starts the server, asks for the page and ends it with SIGTERM. Returns when the page was there, in `performance.now()`. */
async function servePage(place: InstallPlace, project: string, expect: Expect): Promise<number> {
  const server = await place.serve(project);
  const page = await fetch(server.url, { headers: { accept: "text/html" } });
  const text = await page.text();
  const atMs = performance.now();
  expect(page.status === 200 && text.includes('id="root"'), `the page: ${page.status} ${text.slice(0, 200)}`);
  const code = await server.stop();
  expect(code === 0, `serve ended with ${code} after SIGTERM`);
  return atMs;
}

const maxLines = 3;

/** A server of the release on a copy of a data folder that an earlier one made. */
async function upgrade(place: InstallPlace, project: string, golden: string, expect: Expect): Promise<void> {
  const data = path.join(project, `data-${path.basename(golden)}`);
  cpSync(path.join(golden, "data"), data, { recursive: true });
  const { events } = JSON.parse(readFileSync(path.join(golden, "expected.json"), "utf8")) as {
    readonly events: Readonly<Record<string, readonly unknown[]>>;
  };
  const server = await place.serve(project, ["--data-dir", data]);
  const key = readFileSync(path.join(data, "session-api-key"), "utf8").trim();
  for (const [id, expected] of Object.entries(events)) {
    const reply = await fetch(`${server.url}/api/conversations/${id}/events/count`, {
      headers: { "x-session-api-key": key },
    });
    const count = Number(await reply.text());
    const what = `${path.basename(golden)}: conversation ${id} has ${count} events, not ${expected.length}`;
    expect(count === expected.length, what);
  }
  const code = await server.stop();
  expect(code === 0, `serve on ${path.basename(golden)} ended with ${code}`);
}

/** Nothing is left but the data folder, the cache, what was typed in `chat`, and npm's own, which also leaves empty folders. */
function findLeftOvers(place: InstallPlace, project: string): readonly string[] {
  const modules = path.join(project, "node_modules");
  const files = existsSync(modules)
    ? readdirSync(modules, { recursive: true, withFileTypes: true })
        .filter((entry) => !entry.isDirectory() && entry.name !== ".package-lock.json")
        .map((entry) => path.join(entry.parentPath, entry.name))
    : [];
  const left = (folder: string, known: readonly string[]): readonly string[] =>
    existsSync(folder)
      ? readdirSync(folder)
          .filter((name) => !known.includes(name))
          .map((name) => path.join(folder, name))
      : [];
  return [
    ...files,
    ...left(place.home, [".npm", ".convoke", ".cache", ".local"]),
    ...left(path.join(place.home, ".cache"), ["convoke"]),
    ...left(path.join(place.home, ".local"), ["state"]),
    ...left(path.join(place.home, ".local/state"), ["convoke"]),
    // npm compiles itself into it.
    ...left(place.temporary, ["node-compile-cache"]),
  ];
}

/** Without optional packages the command says in one line what is missing. */
export async function tryWithoutOptional({ tools, tarball, registry }: CellDeps): Promise<readonly string[]> {
  await using place = new InstallPlace(tools, registry);
  const project = await place.makeProject("project");
  const installed = await place.npm(project, ["install", "--omit=optional", tarball]);
  if (installed.code !== 0) return [`install: ${installed.stderr}`];
  const { code, stdout, stderr } = await place.convoke(project, ["serve"]);
  const isRight =
    code === 2 && /^Convoke needs .* because npm left out optional packages\. [^\n]*\n$/.test(stderr);
  return isRight ? [] : [`serve ended with ${code}: ${stdout}${stderr}`];
}

/** The least that has to work: the command is installed and serves the page. */
export async function tryPage(deps: Omit<CellDeps, "golden" | "version">): Promise<readonly string[]> {
  await using place = new InstallPlace(deps.tools, deps.registry);
  const problems: string[] = [];
  const expect: Expect = (isRight, problem) => void (isRight || problems.push(problem));
  await installAndServe(place, await place.makeProject("project"), deps, expect);
  return problems;
}
