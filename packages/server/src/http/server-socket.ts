import { WebSocket } from "ws";

/** The longest message that a client may send over a socket. */
export const socketPayloadBytes = 16 * 1024 * 1024;

const tooLarge = 1009;
const notUtf8 = 1007;

const reasons: Readonly<Record<number, string>> = {
  [tooLarge]: `Send at most ${socketPayloadBytes} bytes`,
  [notUtf8]: "Send text that is encoded in UTF-8",
};

/**
 * Sends a reason to a client with an invalid frame; the library closes without one, and drops further data for at most
 * 30 seconds.
 */
export class ServerSocket extends WebSocket {
  override close(code?: number, reason?: string | Buffer): void {
    super.close(code, reason ?? (code === undefined ? undefined : reasons[code]));
  }
}
