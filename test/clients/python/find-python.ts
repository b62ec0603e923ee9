import { execFileSync } from "node:child_process";
import { readdirSync } from "node:fs";
import { homedir } from "node:os";
import { join } from "node:path";

export type Python = { readonly program: string; readonly version: string };

const wanted = [3, 12] as const;

/**
 * The first Python from 3.12 on that can create virtual environments: the one in `PYTHON`, one on the path, one of pyenv. Throws with the
 * checked programs and what each lacks.
 */
export function findPython(environment: NodeJS.ProcessEnv): Python {
  const given = environment["PYTHON"];
  const candidates =
    given === undefined ? ["python3.13", "python3.12", "python3", "python", ...pyenvPythons()] : [given];
  const lacks: string[] = [];
  for (const program of candidates) {
    const answer = ask(program);
    if (typeof answer === "string") lacks.push(`${program}: ${answer}`);
    else return { program, version: answer.version };
  }
  throw new Error(
    [`There is no Python ${wanted.join(".")} or newer with venv. Looked at:`, ...lacks].join("\n  ") +
      "\nInstall one, or name it: PYTHON=/path/to/python npm run test:python",
  );
}

function ask(program: string): { readonly version: string } | string {
  try {
    const version = execFileSync(
      program,
      ["-c", "import sys, venv, ensurepip; print('.'.join(map(str, sys.version_info[:3])))"],
      { encoding: "utf8", stdio: ["ignore", "pipe", "pipe"], timeout: 20_000 },
    ).trim();
    const [major = 0, minor = 0] = version.split(".").map(Number);
    const isEnough = major > wanted[0] || (major === wanted[0] && minor >= wanted[1]);
    return isEnough ? { version } : `is ${version}`;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "ENOENT") return "is not there";
    const { stderr = "" } = error as { readonly stderr?: string };
    return stderr.trim().split("\n").at(-1) || "does not start";
  }
}

/** Newest first. */
function pyenvPythons(): string[] {
  const folder = join(homedir(), ".pyenv", "versions");
  try {
    const names = readdirSync(folder).sort((a, b) => b.localeCompare(a, "en", { numeric: true }));
    return names.map((name) => join(folder, name, "bin", "python"));
  } catch {
    // There is no pyenv.
    return [];
  }
}
