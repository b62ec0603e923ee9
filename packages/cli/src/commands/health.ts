import { InvalidArgumentError, type Command } from "commander";
import { exitCodes } from "../exit-codes.ts";
import { printJson } from "../print/json.ts";

type HealthOptions = { readonly server: string; readonly timeout: number; readonly json?: true };

/** What `--json` prints. */
type Health = {
  readonly url: string;
  /** `failing` answered with something else than 200, or not in time; `unreachable` takes no connection. */
  readonly status: "ok" | "failing" | "unreachable";
  /** Release of the server; null where it does not say. */
  readonly version: string | null;
};

const notes = `
Exit codes: 0 the server answers, 1 it answers with an error or not in time,
7 nobody takes the connection.`;

/** `convoke health`: for the health checks of containers and services. It imports neither the server nor the client, to be cheap. */
export function addHealth(program: Command): void {
  program
    .command("health")
    .description("Ask a server whether it is alive")
    .option("--server <url>", "address of the server", parseServer, defaultServer(process.env))
    .option("--timeout <seconds>", "how long to wait for the answer", parseSeconds, 5)
    .option("--json", 'print {"url": ..., "status": ..., "version": ...}')
    .addHelpText("after", notes)
    .action(health);
}

async function health(options: HealthOptions): Promise<void> {
  const { found, reason } = await askHealth(options.server, options.timeout);
  if (options.json === true) printJson("health", found);
  else if (found.status === "ok") console.log(`${found.url} is alive${release(found.version)}.`);
  else console.error(`${found.url} is ${found.status}: ${reason}.`);
  process.exitCode = { ok: exitCodes.ok, failing: exitCodes.failed, unreachable: exitCodes.unreachable }[
    found.status
  ];
}

/** The port of this machine that `serve` takes from the environment as well. */
function defaultServer({ CONVOKE_PORT: port }: NodeJS.ProcessEnv): string {
  return `http://127.0.0.1:${port === undefined || port === "" ? "8000" : port}`;
}

async function askHealth(
  url: string,
  seconds: number,
): Promise<{ readonly found: Health; readonly reason: string }> {
  const signal = AbortSignal.timeout(seconds * 1_000);
  try {
    const answer = await ask(`${url}/alive`, signal);
    if (answer.status !== 200) {
      return { found: { url, status: "failing", version: null }, reason: `it answered ${answer.status}` };
    }
    return { found: { url, status: "ok", version: await askVersion(url, signal) }, reason: "" };
  } catch (error) {
    const status = signal.aborted ? "failing" : "unreachable";
    const reason = signal.aborted ? `it did not answer within ${seconds} s` : reasonOf(error);
    return { found: { url, status, version: null }, reason };
  }
}

/** Not every program that is alive says its version; the answer to the question is known by then. */
async function askVersion(url: string, signal: AbortSignal): Promise<string | null> {
  try {
    const answer = await ask(`${url}/server_info`, signal);
    const { server_version: version } = JSON.parse(answer.text) as { readonly server_version?: unknown };
    return typeof version === "string" ? version : null;
  } catch {
    return null;
  }
}

async function ask(
  address: string,
  signal: AbortSignal,
): Promise<{ readonly status: number; readonly text: string }> {
  const answer = await fetch(address, { signal, redirect: "manual" });
  return { status: answer.status, text: await answer.text() };
}

/** The cause of a failed `fetch` has the system's word for it. */
function reasonOf(error: unknown): string {
  const { cause } = error as { readonly cause?: unknown };
  if (!(cause instanceof Error)) return String(error);
  return "code" in cause && typeof cause.code === "string" ? cause.code : cause.message;
}

function release(version: string | null): string {
  return version === null ? "" : `, release ${version}`;
}

function parseServer(text: string): string {
  const url = URL.parse(text);
  if (url === null || !["http:", "https:"].includes(url.protocol)) {
    throw new InvalidArgumentError("It must be an address such as http://127.0.0.1:8000.");
  }
  return text.replace(/\/+$/, "");
}

const maxSeconds = 600;

function parseSeconds(text: string): number {
  const seconds = Number(text);
  if (text.trim() === "" || !(seconds > 0 && seconds <= maxSeconds)) {
    throw new InvalidArgumentError(`It must be a number of seconds above 0, at most ${maxSeconds}.`);
  }
  return seconds;
}
