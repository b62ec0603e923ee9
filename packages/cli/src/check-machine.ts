import { execFile } from "node:child_process";
import { existsSync, statSync } from "node:fs";
import { access, constants } from "node:fs/promises";
import { dirname } from "node:path";
import { promisify } from "node:util";
import { ConfigError, readConfig, type ConfigOverrides, type ServerConfig } from "@convoke/server";
import {
  allowedEnvironment,
  chromiumFix,
  createInProcessHost,
  defaultTools,
  findChromium,
} from "@convoke/tool-host";
import { bashFix, checkSystem, ownSystem, requireBash } from "./check-system.ts";
import { describeNetwork } from "@convoke/server/describe-network";
import type { Finding } from "./finding.ts";
import { findToolHostProgram } from "./find-tool-host-program.ts";

const execute = promisify(execFile);

/** Looks at the machine and the configuration; changes nothing. Never shows a secret. */
export async function checkMachine(
  environment: Readonly<Record<string, string | undefined>>,
  overrides: ConfigOverrides,
): Promise<Finding[]> {
  const config = readConfig(environment, overrides);
  return [
    checkSystem(ownSystem),
    { name: "node", state: "ok", detail: process.versions.node, fix: null },
    await checkDataDir(config.dataDir),
    ...(await checkDatabase(config)),
    requireBash(await checkProgram("bash", ["--version"], "missing", bashFix)),
    await checkProgram(
      "git",
      ["--version"],
      "optional",
      "Install git; agents use it for changes and history.",
    ),
    checkBrowser(environment),
    await checkWall(environment, config),
    ...(await checkSandboxes(environment, config)),
    { name: "tools", state: "ok", detail: toolNames(environment), fix: null },
    checkModel(environment),
    {
      name: "key",
      state: "ok",
      detail:
        config.sessionApiKeys.length > 0
          ? `${config.sessionApiKeys.length} configured (hidden)`
          : "created at the first start and stored in the data folder",
      fix: null,
    },
    { name: "address", state: "ok", detail: `http://${config.host}:${config.port}`, fix: null },
    { name: "workspaces", state: "ok", detail: config.workspaceRoot, fix: null },
  ];
}

/** What agents run behind outside of sandboxes. */
async function checkWall(
  environment: Readonly<Record<string, string | undefined>>,
  { wall, sandbox }: ServerConfig,
): Promise<Finding> {
  const name = "wall";
  if (wall.kind === "off") {
    const detail = "off (CONVOKE_WALL): agents run commands as your user, who can read your keys";
    return { name, state: "optional", detail, fix: "Leave CONVOKE_WALL out." };
  }
  const { findWallLimits, findWhyNoContainers, findWhyNoWall, listHiddenSettings } =
    await import("@convoke/server/walls");
  const isContainer = wall.kind === "docker";
  const { engineSocket: socketPath, image } = sandbox;
  const why = isContainer
    ? await findWhyNoContainers({ socketPath, image })
    : await findWhyNoWall({ environment, user: sandbox.user });
  if (why === null) {
    const hidden = await listHiddenSettings(environment);
    const settings =
      hidden.length === 0 ? "" : `; your settings that agents do not get: ${hidden.join(", ")}`;
    const { kind, detail: reason } = isContainer
      ? { kind: "group", detail: "by the container engine" }
      : await findWallLimits(environment);
    const limits =
      kind === "group" ? `limits of a wall as a whole (${reason})` : `limits per process (${reason})`;
    const detail = `${isContainer ? `containers of ${image}` : "bubblewrap"}, ${describeNetwork(wall.network)}, ${limits}${settings}`;
    return { name, state: "ok", detail, fix: null };
  }
  return { name, state: "missing", detail: why.reason, fix: `${why.fix} Or set CONVOKE_WALL=off.` };
}

const sandboxFixes: Readonly<Record<string, string>> = {
  bubblewrap: "Install bubblewrap (and allow user namespaces) for sandboxes without a daemon.",
  docker: "Set CONVOKE_SANDBOX_IMAGE, and CONVOKE_SANDBOX_ENGINE_SOCKET if the engine is not Docker.",
};

/** Which kinds of sandboxes work here, and which one is used when nobody says. */
async function checkSandboxes(
  environment: Readonly<Record<string, string | undefined>>,
  { sandbox: config, dataDir }: ServerConfig,
): Promise<Finding[]> {
  const { findSandboxBackends, chooseTemplates } = await import("@convoke/server/sandboxes");
  const program = findToolHostProgram();
  const found = findSandboxBackends({ config, dataDir, environment, program });
  const choice = await found.catch((error: unknown) => {
    if (error instanceof ConfigError) return error.message;
    throw error;
  });
  if (typeof choice === "string") {
    return [{ name: "sandbox specs", state: "missing", detail: choice, fix: "Correct the file." }];
  }
  const wanted = config.use === "auto" ? [choice.preferred] : config.use;
  const findings = choice.findings.map(({ name, isUsable, detail }): Finding => {
    const isWanted = config.use !== "auto" && wanted.some((one) => one === name);
    return {
      name: `sandbox ${name}`,
      state: isUsable ? "ok" : isWanted ? "missing" : "optional",
      detail,
      fix: isUsable ? null : (sandboxFixes[name] ?? null),
    };
  });
  const summary = (): string => {
    if (config.use.length === 0) return "off (CONVOKE_SANDBOX)";
    const [first, ...others] = chooseTemplates(choice, config, null);
    const also = others.map(({ backend }) => `, also ${backend}`).join("");
    // A plain process always has the machine's network.
    const network = first.backend === "process" ? "the machine's network" : describeNetwork(config.network);
    return `${first.backend}, ${network}${also}`;
  };
  if (choice.specs !== null && config.use.length > 0) {
    const { checkSandboxSpecs } = await import("./check-sandbox-specs.ts");
    return [...findings, ...(await checkSandboxSpecs(choice.specs, choice, config))];
  }
  if (findings.some(({ state }) => state === "missing")) return findings;
  return [...findings, { name: "sandboxes", state: "ok", detail: summary(), fix: null }];
}

async function checkDataDir(dataDir: string): Promise<Finding> {
  const existing = nearestExisting(dataDir);
  try {
    if (!statSync(existing).isDirectory()) throw new Error(`${existing} is not a directory`);
    await access(existing, constants.R_OK | constants.W_OK);
    const detail = existing === dataDir ? dataDir : `${dataDir} (created at the first start)`;
    return { name: "data folder", state: "ok", detail, fix: null };
  } catch (error) {
    return {
      name: "data folder",
      state: "missing",
      detail: error instanceof Error ? error.message : String(error),
      fix: "Choose a folder that you can write to with --data-dir or CONVOKE_DATA_DIR.",
    };
  }
}

/** Where one is configured. Its password is not shown. */
async function checkDatabase({ database, masterSecret }: ServerConfig): Promise<Finding[]> {
  if (database === null) return [];
  const { describePlace, inspectPostgres } = await import("@convoke/server/postgres");
  const name = describePlace(database);
  const finding = (state: Finding["state"], detail: string, fix: string | null = null): Finding => ({
    name: "database",
    state,
    detail,
    fix,
  });
  const keys = finding(
    "missing",
    "CONVOKE_SECRET_KEY is not set",
    "Set the same value for all servers on this database.",
  );
  const secret = masterSecret === null ? [keys] : [];
  try {
    const { version, problems, warnings } = await inspectPostgres(database);
    if (problems.length === 0 && warnings.length === 0)
      return [finding("ok", `${name}, PostgreSQL ${version}`), ...secret];
    return [
      ...problems.map((problem) => finding("missing", problem)),
      ...warnings.map((warning) => finding("optional", warning)),
      ...secret,
    ];
  } catch (error) {
    if (!(error instanceof ConfigError)) throw error;
    return [
      finding("missing", error.message, "Check CONVOKE_DATABASE, and whether the database runs."),
      ...secret,
    ];
  }
}

function nearestExisting(path: string): string {
  return existsSync(path) || dirname(path) === path ? path : nearestExisting(dirname(path));
}

async function checkProgram(
  name: string,
  args: readonly string[],
  otherwise: "optional" | "missing",
  fix: string,
): Promise<Finding> {
  try {
    const { stdout } = await execute(name, args, { timeout: 5000 });
    return { name, state: "ok", detail: stdout.split("\n")[0] ?? "", fix: null };
  } catch {
    // That it does not run is the finding.
    return { name, state: otherwise, detail: "not found", fix };
  }
}

/** Optional: an agent with a browser tool works without it, with a warning. */
function checkBrowser(environment: Readonly<Record<string, string | undefined>>): Finding {
  const path = findChromium(environment);
  if (path !== null) return { name: "browser", state: "ok", detail: path, fix: null };
  return { name: "browser", state: "optional", detail: "no Chromium or Chrome found", fix: chromiumFix };
}

function toolNames(environment: Readonly<Record<string, string | undefined>>): string {
  const tools = defaultTools();
  return createInProcessHost({ tools, environment: allowedEnvironment(environment) }).catalogue.join(", ");
}

function checkModel(environment: Readonly<Record<string, string | undefined>>): Finding {
  const model = environment["LLM_MODEL"];
  if (!model) {
    return {
      name: "model",
      state: "optional",
      detail: "LLM_MODEL is not set",
      fix: "Set LLM_MODEL and LLM_API_KEY for convoke run; clients of the server bring their own.",
    };
  }
  const key = environment["LLM_API_KEY"] ? "with a key (hidden)" : "without a key";
  const address = environment["LLM_BASE_URL"] ? ` at ${environment["LLM_BASE_URL"]}` : "";
  return { name: "model", state: "ok", detail: `${model} ${key}${address}`, fix: null };
}
