import type { Socket } from "node:net";
import { Channel } from "./channel.ts";
import { ClientConnection } from "./client-connection.ts";
import { ConnectionLostError, ToolHostRefusedError, ToolHostUnreachableError } from "./connection-errors.ts";
import { FrameError } from "./frames.ts";
import type { Frame } from "./frames.ts";
import { protocolNumber } from "./messages.ts";
import type { Welcome } from "./messages.ts";
import { createNonce, isSameProof, proveKey } from "./prove-key.ts";
import { readFields } from "./read-fields.ts";
import { release } from "./release.ts";

export type OpenConnectionOptions = {
  /** May resolve before the connection is established. */
  readonly connect: () => Promise<Socket>;
  readonly key: string;
  readonly maxFrameBytes: number;
  /** Timeout in milliseconds for connecting and authentication. */
  readonly greetingMs: number;
  readonly pingMs: number;
};

/** Connects and authenticates. Rejects with ToolHostRefusedError when a retry is useless, else with ToolHostUnreachableError. */
export async function openConnection(options: OpenConnectionOptions): Promise<ClientConnection> {
  const socket = await options.connect();
  const opening = Promise.withResolvers<ClientConnection>();
  const clientNonce = createNonce();
  let connection: ClientConnection | undefined;
  let isHostKnown = false;
  const channel = new Channel({
    socket,
    maxFrameBytes: options.maxFrameBytes,
    onFrame: (frame) => {
      if (connection !== undefined) return connection.receive(frame);
      const message = greetingMessage(frame);
      if (typeof message["refused"] === "string") {
        throw new ToolHostRefusedError(String(message["message"]).slice(0, 500));
      }
      if (isHostKnown) {
        connection = new ClientConnection(channel, readWelcome(message), options.pingMs);
        opening.resolve(connection);
        return;
      }
      const { serverNonce, proof } = readFields(message, { serverNonce: "string", proof: "string" });
      const greeting = { clientNonce, serverNonce };
      if (!isSameProof(proveKey(options.key, "host", greeting), proof)) {
        throw new ToolHostRefusedError("The process that answered is no tool host with our key.");
      }
      isHostKnown = true;
      channel.trust();
      channel.send({ proof: proveKey(options.key, "client", greeting) });
    },
    onClose: (reason) => {
      connection?.lose(
        new ConnectionLostError(`The connection to the tool host broke (${reason ?? "closed"}).`),
      );
      opening.reject(
        new ToolHostUnreachableError(`The tool host cannot be reached (${reason ?? "closed"}).`),
      );
    },
    onFault: (error) => opening.reject(error),
  });
  channel.send({ protocol: protocolNumber, version: release, clientNonce });
  const timer = setTimeout(() => channel.destroy("no answer in time"), options.greetingMs);
  try {
    return await opening.promise;
  } catch (error) {
    channel.destroy();
    throw error;
  } finally {
    clearTimeout(timer);
  }
}

function greetingMessage(frame: Frame): Readonly<Record<string, unknown>> {
  if (frame.type !== "message") throw new FrameError("The first frame is not a greeting.");
  return frame.message;
}

function readWelcome(message: Readonly<Record<string, unknown>>): Welcome {
  const { bootId, version, catalogue } = readFields(message, {
    bootId: "string",
    version: "string",
    catalogue: "array",
  });
  return { bootId, version, catalogue: catalogue as readonly string[] };
}
