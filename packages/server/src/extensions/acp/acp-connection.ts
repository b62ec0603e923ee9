import type {
  ClientApp,
  ClientCapabilities,
  ClientContext,
  InitializeResponse,
  Stream,
} from "@agentclientprotocol/sdk";
import type { JSONRPCMessage } from "@modelcontextprotocol/client";
import type { PipedProcess } from "@convoke/tool-host";
import { describeError } from "../../lib/describe-error.ts";
import { orAborted } from "../../lib/or-aborted.ts";
import { StdioTransport, type Spoken } from "../mcp/stdio-transport.ts";
import { AcpFailure, toAcpFailure, agentFailure } from "./acp-failure.ts";

export type AcpConnectionDeps = {
  /** The command line, for messages to people. */
  readonly command: string;
  readonly start: () => PipedProcess;
  /** Called before anything is sent: registers what the agent may ask of us. */
  readonly serve: (app: ClientApp) => void;
  readonly capabilities: ClientCapabilities;
  readonly clientVersion: string;
  readonly startupTimeoutMs: number;
};

/** A program that has answered to its greeting. */
export type AcpConnection = {
  readonly agent: ClientContext;
  readonly info: InitializeResponse;
  /** Resolves with the reason once the connection is closed for good. */
  readonly lost: Promise<string>;
  /** Ends the program with everything that it started; idempotent, never rejects. */
  close(): Promise<void>;
};

/** Everything that an agent says is unasked for, and a session that is loaded is told at once. */
const acp: Spoken = { protocol: "ACP", unaskedFloodBytes: 64 * 1024 * 1024 };

/** Starts the program and greets it; rejects with an {@link AcpFailure}, and the program is ended then. */
export async function openAcpConnection(
  deps: AcpConnectionDeps,
  signal: AbortSignal,
): Promise<AcpConnection> {
  const { command, startupTimeoutMs } = deps;
  const library = await import("@agentclientprotocol/sdk");
  const transport = new StdioTransport(deps.start, acp);
  const lost = Promise.withResolvers<string>();
  const app = library.client({ name: "convoke" });
  deps.serve(app);
  const connection = app.connect(toStream(transport, lost));
  const close = async (): Promise<void> => {
    connection.close();
    await transport.close();
  };
  const late = AbortSignal.timeout(startupTimeoutMs);
  try {
    await transport.start();
    const greeting = connection.agent.request("initialize", {
      protocolVersion: library.PROTOCOL_VERSION,
      clientInfo: { name: "convoke", title: "Convoke", version: deps.clientVersion },
      clientCapabilities: deps.capabilities,
    });
    const ended = lost.promise.then((reason): never => {
      throw notStarted(command, reason);
    });
    const info = await orAborted(Promise.race([greeting, ended]), AbortSignal.any([signal, late]));
    if (info.protocolVersion !== library.PROTOCOL_VERSION)
      throw agentFailure(
        "ACPInitError",
        command,
        `speaks version ${info.protocolVersion} of the protocol, and this server ${library.PROTOCOL_VERSION}. ` +
          "Install a version of the agent that speaks it.",
      );
    return { agent: connection.agent, info, lost: lost.promise, close };
  } catch (error) {
    // The reason of the end is told a little later than the connection is closed.
    const { end } = transport;
    await close();
    if (late.aborted && !signal.aborted)
      throw agentFailure(
        "ACPInitError",
        command,
        `did not answer within ${startupTimeoutMs / 1000} s (acp_startup_timeout). Try the command in a terminal of the ` +
          "conversation: it has to speak ACP on its standard input and output.",
        error,
      );
    if (end !== null && !(error instanceof AcpFailure)) throw notStarted(command, end, error);
    throw signal.aborted ? error : toAcpFailure(error, "ACPInitError", { command, methods: [] });
  }
}

function notStarted(command: string, reason: string, cause?: unknown): AcpFailure {
  const what = `could not be used: ${reason} Install it where the tools of the conversation run, or correct acp_command; then send a message.`;
  return agentFailure("ACPSpawnError", command, what, cause);
}

/** Messages of the program as the library reads them. */
function toStream(transport: StdioTransport, lost: PromiseWithResolvers<string>): Stream {
  let isRead = true;
  const readable = new ReadableStream({
    start(controller) {
      Object.assign(transport, {
        onmessage: (message: JSONRPCMessage) => {
          if (isRead) controller.enqueue(message);
        },
        onclose: () => {
          lost.resolve(transport.end ?? "The connection was closed.");
          if (isRead) controller.close();
          isRead = false;
        },
      });
    },
    cancel: () => void (isRead = false),
  });
  const writable = new WritableStream({
    async write(message) {
      try {
        await transport.send(message as JSONRPCMessage);
      } catch (error) {
        lost.resolve(transport.end ?? describeError(error));
        throw error;
      }
    },
  });
  return { readable, writable };
}
