import type { Command } from "commander";
import { runToolHost } from "../run-tool-host.ts";
import { parsePort } from "./parse-options.ts";

const notes = `
The host and its tools outlive the server that uses it; the server reconnects to
them after a restart. SIGTERM ends the host and all its tools. The key is read
from --key-file; if the file does not exist, it is created with a new key.`;

export function addToolHost(program: Command): void {
  program
    .command("tool-host")
    .description("Run tools for a server in another process, on this machine or in a sandbox")
    .option("--socket <path>", "listen on a unix socket that only this user can open")
    .option("--port <number>", "listen on a TCP port, 0 for any free one", parsePort)
    .option("--address <address>", "address of the TCP port", "127.0.0.1")
    .requiredOption("--key-file <file>", "file with the key that clients must send")
    .option(
      "--state-dir <directory>",
      "where executions are recorded, in place of the server's choice; must outlive the sandbox",
    )
    .option("--root <directory>", "do not show or write files and changes outside of this directory")
    .option("--json", 'print one line {"address": ..., "pid": ...} when ready, and nothing else')
    .option("--egress <path>", "lead 127.0.0.1:3128 to the proxy that listens on this unix socket")
    .option("--exit-with-parent", "exit when standard input closes")
    .addHelpText("after", notes)
    .action(runToolHost);
}
