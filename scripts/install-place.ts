import { type ChildProcess, execFile, execFileSync, spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync, mkdirSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { wallSettings } from "@convoke/server/testing/wall-settings";

/** A Node and an npm of their own, as a user might have them. */
export type Tools = { readonly bin: string; readonly npm: string };

/** Installs both from npm into a cache of this clone; `node` and `npm` are majors. */
export function openTools(root: string, node: string, npm: string): Tools {
  const folder = path.join(root, "node_modules/.cache/convoke-install", `node-${node}-npm-${npm}`);
  const program = `node-${process.platform}-${process.arch}`;
  const tools = {
    bin: path.join(folder, "node_modules", program, "bin"),
    npm: path.join(folder, "node_modules/npm/bin/npm-cli.js"),
  };
  if (existsSync(tools.bin) && existsSync(tools.npm)) return tools;
  mkdirSync(folder, { recursive: true });
  const wanted = [`${program}@${node}`, `npm@${npm}`];
  execFileSync("npm", ["install", "--prefix", folder, "--ignore-scripts", "--silent", ...wanted]);
  return tools;
}

export type Ended = { readonly code: number; readonly stdout: string; readonly stderr: string };

/** A machine for one user: a home, a folder for temporary files and projects, with nothing else of ours. */
export class InstallPlace implements AsyncDisposable {
  readonly home: string;
  readonly temporary: string;
  /** Of what runs in it. */
  readonly environment: NodeJS.ProcessEnv;
  readonly #root: string;
  readonly #tools: Tools;
  readonly #children = new Set<ChildProcess>();

  /** `registry` is that of the scope `@convoke`. */
  constructor(tools: Tools, registry: string) {
    this.#tools = tools;
    this.#root = mkdtempSync(path.join(tmpdir(), "convoke-install-"));
    this.home = path.join(this.#root, "home");
    this.temporary = path.join(this.#root, "tmp");
    for (const folder of [this.home, this.temporary]) mkdirSync(folder);
    const npmSetting = (name: string): string =>
      execFileSync("npm", ["config", "get", name], { encoding: "utf8", cwd: this.#root }).trim();
    this.environment = {
      PATH: `${tools.bin}:/usr/local/bin:/usr/bin:/bin`,
      HOME: this.home,
      TMPDIR: this.temporary,
      ...wallSettings(),
      ...networkVariables(),
      npm_config_registry: npmSetting("registry"),
      npm_config_userconfig: npmSetting("userconfig"),
      npm_config_cache: path.join(this.home, ".npm"),
      "npm_config_@convoke:registry": registry,
    };
  }

  /** An empty project; returns its folder. */
  async makeProject(name: string): Promise<string> {
    const folder = path.join(this.#root, name);
    mkdirSync(folder);
    await this.npm(folder, ["init", "--yes"]);
    return folder;
  }

  async npm(folder: string, args: readonly string[]): Promise<Ended> {
    return await this.#run(path.join(this.#tools.bin, "node"), [this.#tools.npm, ...args], folder);
  }

  /** The installed command, through the launcher and the Node of the place. */
  async convoke(folder: string, args: readonly string[]): Promise<Ended> {
    return await this.#run(commandIn(folder), args, folder);
  }

  /** Starts the server, and answers when it is ready; `stop` sends SIGTERM and gives the exit code. */
  async serve(
    folder: string,
    args: readonly string[] = [],
  ): Promise<{ readonly url: string; readonly stop: () => Promise<number | null> }> {
    const child = spawn(commandIn(folder), ["serve", "--port", "0", "--json", ...args], {
      cwd: folder,
      env: this.environment,
      stdio: ["ignore", "pipe", "pipe"],
    });
    this.#children.add(child);
    await once(child, "spawn");
    const ended = once(child, "close") as Promise<[number | null]>;
    const url = await readUrl(child);
    const stop = async (): Promise<number | null> => {
      child.kill("SIGTERM");
      const timer = setTimeout(() => child.kill("SIGKILL"), longestStopMs);
      const [code] = await ended;
      clearTimeout(timer);
      return code;
    };
    return { url, stop };
  }

  async [Symbol.asyncDispose](): Promise<void> {
    for (const child of this.#children) {
      if (child.exitCode !== null || child.signalCode !== null) continue;
      child.kill("SIGKILL");
      await once(child, "close");
    }
    rmSync(this.#root, { recursive: true, force: true });
  }

  #run(file: string, args: readonly string[], cwd: string): Promise<Ended> {
    const options = { cwd, env: this.environment, timeout: longestRunMs, maxBuffer: 2 ** 26 };
    return new Promise((resolve) => {
      execFile(file, args, options, (error, stdout, stderr) => {
        const code = error === null ? 0 : typeof error.code === "number" ? error.code : -1;
        resolve({ code, stdout, stderr });
      });
    });
  }
}

/** How this machine reaches a registry. */
function networkVariables(): NodeJS.ProcessEnv {
  const names = ["NODE_EXTRA_CA_CERTS", "SSL_CERT_FILE", "HTTPS_PROXY", "HTTP_PROXY", "NO_PROXY"];
  const given = names.flatMap((name) => [name, name.toLowerCase()]);
  return Object.fromEntries(
    given.filter((name) => process.env[name] !== undefined).map((name) => [name, process.env[name]]),
  );
}

const longestRunMs = 300_000;
const longestStopMs = 30_000;

function commandIn(folder: string): string {
  return path.join(folder, "node_modules/.bin/convoke");
}

/** From the line of JSON that a server prints when it is ready. */
async function readUrl(child: ChildProcess): Promise<string> {
  let errors = "";
  child.stderr!.on("data", (bytes: Buffer) => (errors += bytes.toString()));
  let text = "";
  for await (const bytes of child.stdout as AsyncIterable<Buffer>) {
    text += bytes.toString();
    if (!text.includes("\n")) continue;
    child.stdout!.resume();
    return (JSON.parse(text) as { readonly url: string }).url;
  }
  throw new Error(`The server ended before it was ready: ${text}${errors}`);
}
