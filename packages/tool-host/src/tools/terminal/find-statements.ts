import { execFile } from "node:child_process";
import { promisify } from "node:util";
import { splitStatements } from "./split-statements.ts";

const run = promisify(execFile);
const checkMs = 2_000;

/** The statements of a command. Several are returned only if bash (`program`) accepts each as complete; otherwise the command is one. */
export async function findStatements(command: string, program: string): Promise<string[]> {
  const statements = splitStatements(command);
  if (statements.length <= 1) return statements;
  for (const statement of statements) {
    if (!(await isComplete(statement, program))) return [command];
  }
  return statements;
}

async function isComplete(statement: string, program: string): Promise<boolean> {
  try {
    const { stderr } = await run(program, ["--norc", "-n", "-c", statement], { timeout: checkMs, env: {} });
    // bash only warns about a heredoc without its end.
    return stderr === "";
  } catch {
    // A syntax error, or a timeout: no proof that the statement is complete.
    return false;
  }
}
