import { STATUS_CODES } from "node:http";
import type { Socket } from "node:net";

/**
 * Answers data that is not HTTP, too slow, or has too large a head, in the form of every other refusal; there is no
 * request object yet.
 */
export function refuseUnreadable(error: Error & { readonly code?: string }, socket: Socket): void {
  if (error.code === "ECONNRESET" || socket.destroyed) return;
  const { status, body } = refusals[error.code ?? ""] ?? unreadable;
  const text = JSON.stringify(body);
  if (socket.writable) {
    socket.write(
      `HTTP/1.1 ${status} ${STATUS_CODES[status]}\r\nConnection: close\r\nX-Content-Type-Options: nosniff\r\n` +
        `Content-Type: application/json; charset=utf-8\r\nContent-Length: ${Buffer.byteLength(text)}\r\n\r\n${text}`,
    );
  }
  socket.destroySoon();
}

type Refusal = { readonly status: number; readonly body: { readonly detail: string; readonly code: string } };

const unreadable: Refusal = {
  status: 400,
  body: { detail: "This is not a request of HTTP/1.1.", code: "bad_request" },
};

const refusals: Readonly<Record<string, Refusal>> = {
  ERR_HTTP_REQUEST_TIMEOUT: {
    status: 408,
    body: { detail: "The request did not arrive in time. Send it again.", code: "request_timeout" },
  },
  HPE_HEADER_OVERFLOW: {
    status: 431,
    body: { detail: "The address and the headers are larger than 16 KiB together.", code: "head_too_large" },
  },
};
