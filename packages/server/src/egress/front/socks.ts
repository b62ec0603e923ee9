import type { Socket } from "node:net";
import { isPort, type Target, toHost } from "../../lib/host-name.ts";
import { peek } from "../intercept/first-bytes.ts";

/** Codes of RFC 1928, section 6. */
export const socksReply = {
  done: 0,
  failed: 1,
  refused: 2,
  unreachable: 4,
  badCommand: 7,
  badAddress: 8,
} as const;

const version = 5;
const noLogin = 0;
const connect = 1;

/** Reads greeting and request of SOCKS 5; null when there is none that can be served, which the client was told. */
export async function readSocksRequest(socket: Socket, timeoutMs: number): Promise<Target | null> {
  const greeting = await take(socket, timeoutMs, (bytes) => (bytes.length < 2 ? 2 : 2 + bytes[1]!));
  if (greeting === null) return null;
  if (!greeting.subarray(2).includes(noLogin)) {
    socket.end(Buffer.from([version, 0xff]));
    return null;
  }
  socket.write(Buffer.from([version, noLogin]));
  const request = await take(socket, timeoutMs, requestLength);
  if (request === null) return null;
  if (request[0] !== version || request[1] !== connect) {
    endSocks(socket, socksReply.badCommand);
    return null;
  }
  const host = toHost(hostOf(request) ?? "");
  const port = request.readUInt16BE(request.length - 2);
  if (host !== null && isPort(port)) return { host, port };
  endSocks(socket, socksReply.badAddress);
  return null;
}

export function answerSocks(socket: Socket, code: number): void {
  socket.write(replyOf(code));
}

export function endSocks(socket: Socket, code: number): void {
  socket.end(replyOf(code));
}

/** The address that it was connected from is nobody's business: zeros. */
function replyOf(code: number): Buffer {
  return Buffer.from([version, code, 0, 1, 0, 0, 0, 0, 0, 0]);
}

function requestLength(bytes: Buffer): number {
  if (bytes.length < 5) return 5;
  switch (bytes[3]) {
    case 1:
      return 4 + 4 + 2;
    case 3:
      return 4 + 1 + bytes[4]! + 2;
    case 4:
      return 4 + 16 + 2;
    default:
      return 5;
  }
}

function hostOf(request: Buffer): string | null {
  const address = request.subarray(4, -2);
  switch (request[3]) {
    case 1:
      return address.join(".");
    case 3:
      return address.subarray(1).toString("latin1");
    case 4:
      return Array.from({ length: 8 }, (_, at) => address.readUInt16BE(2 * at).toString(16)).join(":");
    default:
      return null;
  }
}

/** Takes as many bytes as `lengthOf` says of those that are there. */
async function take(
  socket: Socket,
  timeoutMs: number,
  lengthOf: (bytes: Buffer) => number,
): Promise<Buffer | null> {
  const bytes = await peek(socket, timeoutMs, (bytes) => bytes.length >= lengthOf(bytes));
  if (bytes === null) return null;
  const all = socket.read() as Buffer;
  const length = lengthOf(all);
  if (all.length > length) socket.unshift(all.subarray(length));
  return all.subarray(0, length);
}
