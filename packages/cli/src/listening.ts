import type { ServerConfig } from "@convoke/server";
import { CommandError, exitCodes } from "./exit-codes.ts";

/** Says in a sentence why a server cannot listen where it should. */
export async function listening<Opened>(
  opening: Promise<Opened>,
  config: Pick<ServerConfig, "host" | "port">,
): Promise<Opened> {
  try {
    return await opening;
  } catch (error) {
    const { code, syscall } = error as NodeJS.ErrnoException;
    if (syscall !== "listen" && syscall !== "bind") throw error;
    if (code === "EADDRINUSE") {
      throw new CommandError(
        `Port ${config.port} on ${config.host} is in use. Choose another with --port, or --port 0 for any free one.`,
        exitCodes.usage,
      );
    }
    if (code === "EACCES" || code === "EADDRNOTAVAIL") {
      throw new CommandError(
        `The server cannot listen on ${config.host}:${config.port} (${code}).`,
        exitCodes.usage,
      );
    }
    throw error;
  }
}
