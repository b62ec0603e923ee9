import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtempDisposable, readFile, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";

type Environment = Readonly<Record<string, string | undefined>>;

/** Shows a text in `$PAGER`, or in less; resolves when the person has left it. */
export async function showInPager(text: string, environment: Environment): Promise<void> {
  await using folder = await mkdtempDisposable(join(tmpdir(), "convoke-page-"));
  const file = join(folder.path, "output.txt");
  await writeFile(file, `${text}\n`, { mode: 0o600 });
  await runProgram(environment["PAGER"] || "less -R", file);
}

/** Lets a text be edited in `$VISUAL`, `$EDITOR` or vi; resolves with what the file has afterwards. */
export async function editText(text: string, environment: Environment): Promise<string> {
  await using folder = await mkdtempDisposable(join(tmpdir(), "convoke-edit-"));
  const file = join(folder.path, "message.md");
  await writeFile(file, text, { mode: 0o600 });
  await runProgram(environment["VISUAL"] || environment["EDITOR"] || "vi", file);
  return await readFile(file, "utf8");
}

/** The setting may have arguments, so a shell reads it; the file is an argument of its own. */
async function runProgram(program: string, file: string): Promise<void> {
  const child = spawn("sh", ["-c", `${program} "$1"`, "sh", file], { stdio: "inherit" });
  const [code] = (await once(child, "exit")) as [number | null];
  if (code === 127)
    throw new Error(`There is no program ${program}. Set PAGER or EDITOR to one that there is.`);
}
