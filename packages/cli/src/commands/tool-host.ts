import type { Command } from "commander";
import { runToolHost } from "../run-tool-host.ts";
import { parsePort } from "./parse-options.ts";

const notes = `
The host and what runs in it outlive the server that uses it, which finds
everything again when it comes back. SIGTERM ends the host with all its tools.
The key is read from --key-file, which is made with a new key when it does not
exist.`;

export function addToolHost(program: Command): void {
  program
    .command("tool-host")
    .description("Run tools for a server in another process, on this machine or in a sandbox")
    .option("--socket <path>", "listen on a unix socket that only this user can open")
    .option("--port <number>", "listen on a TCP port, 0 for any free one", parsePort)
    .option("--address <address>", "address of the TCP port", "127.0.0.1")
    .requiredOption("--key-file <file>", "file with the key that clients must have")
    .option(
      "--state-dir <directory>",
      "where executions are recorded, instead of where the server says; must outlive the sandbox",
    )
    .option("--root <directory>", "files and changes outside of this directory are not shown or written")
    .option("--json", 'print one line {"address": ..., "pid": ...} when ready, and nothing else')
    .option("--exit-with-parent", "end when standard input ends")
    .addHelpText("after", notes)
    .action(runToolHost);
}
