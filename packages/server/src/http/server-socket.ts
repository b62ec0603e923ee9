import { WebSocket } from "ws";

/** The longest message that a client may send over a socket. */
export const socketPayloadBytes = 16 * 1024 * 1024;

const tooLarge = 1009;

/** Tells the limit to a client whose message is too long; the library closes without a reason. */
export class ServerSocket extends WebSocket {
  override close(code?: number, reason?: string | Buffer): void {
    super.close(code, reason ?? (code === tooLarge ? `Send at most ${socketPayloadBytes} bytes` : undefined));
  }
}
