import { accessSync, constants, statSync } from "node:fs";
import { delimiter, isAbsolute, join } from "node:path";
import { userName } from "../../processes/user-name.ts";
import { ToolInputError } from "../../tool.ts";

/** The validated parameters of the tool. */
export type TerminalParams = {
  /** Absolute path of bash. */
  readonly program: string;
  readonly quietSeconds: number;
  /** The sandbox is stopped after this many idle seconds; null for never. */
  readonly idleTimeoutSeconds: number | null;
  readonly environment: Readonly<Record<string, string>>;
};

const defaultQuietSeconds = 30;

/** Parses the parameters of a tool spec; throws {@link ToolInputError} that names an invalid one. Unknown ones are ignored. */
export function parseTerminalParams(
  params: Readonly<Record<string, unknown>>,
  environment: Readonly<Record<string, string>>,
): TerminalParams {
  const { username, terminal_type: type } = params;
  if (!isAbsent(username) && username !== userName()) {
    throw new ToolInputError(
      "username: the terminal runs as the user of the tool host and cannot change to another.",
    );
  }
  if (!isAbsent(type) && type !== "tmux" && type !== "subprocess") {
    throw new ToolInputError("terminal_type: only a bash terminal (tmux, subprocess or null) is offered.");
  }
  return {
    program: toProgram(params["shell_path"], environment),
    quietSeconds: toSeconds(params, "no_change_timeout_seconds") ?? defaultQuietSeconds,
    idleTimeoutSeconds: toSeconds(params, "runtime_idle_timeout_seconds"),
    environment: { ...environment, ...shellVariables, ...toVariables(params["env"]) },
  };
}

/** Programs must not wait for a person: no pagers, no password prompts of git, no package questions. */
const shellVariables = {
  AI_AGENT: "convoke",
  TERM: "xterm-256color",
  PAGER: "cat",
  GIT_PAGER: "cat",
  MANPAGER: "cat",
  SYSTEMD_PAGER: "cat",
  GIT_TERMINAL_PROMPT: "0",
  DEBIAN_FRONTEND: "noninteractive",
};

function toSeconds(params: Readonly<Record<string, unknown>>, name: string): number | null {
  const value = params[name];
  if (isAbsent(value)) return null;
  if (typeof value !== "number" || !(value > 0))
    throw new ToolInputError(`${name}: must be a number above 0.`);
  return value;
}

function toVariables(value: unknown): Record<string, string> {
  if (isAbsent(value)) return {};
  if (typeof value !== "object" || value === null)
    throw new ToolInputError("env: must be an object of strings.");
  const variables: Record<string, string> = {};
  for (const [name, text] of Object.entries(value)) {
    if (!/^[a-zA-Z_]\w*$/.test(name))
      throw new ToolInputError(`env: "${name}" is not a valid variable name.`);
    if (typeof text !== "string") throw new ToolInputError(`env: the value of "${name}" must be a string.`);
    variables[name] = text;
  }
  return variables;
}

/** Path of bash by PATH, cached because every conversation looks it up when it starts. */
const bashOn = new Map<string, string>();

function toProgram(given: unknown, environment: Readonly<Record<string, string>>): string {
  if (isAbsent(given)) {
    const path = environment["PATH"] ?? "/usr/local/bin:/usr/bin:/bin";
    const known = bashOn.get(path);
    if (known !== undefined) return known;
    const found = path
      .split(delimiter)
      .map((folder) => join(folder, "bash"))
      .find((file) => isAbsolute(file) && isExecutable(file));
    if (found === undefined) throw new ToolInputError("The terminal needs bash, and the PATH has none.");
    bashOn.set(path, found);
    return found;
  }
  if (typeof given !== "string" || !isAbsolute(given))
    throw new ToolInputError("shell_path: must be an absolute path.");
  if (!isExecutable(given))
    throw new ToolInputError(`shell_path: ${given} does not exist or cannot be executed.`);
  return given;
}

function isExecutable(path: string): boolean {
  try {
    accessSync(path, constants.X_OK);
    return statSync(path).isFile();
  } catch {
    // Missing or not executable: both mean no.
    return false;
  }
}

function isAbsent(value: unknown): value is null | undefined {
  return value === null || value === undefined;
}
