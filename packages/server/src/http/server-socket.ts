import { WebSocket } from "ws";

/** The longest message that a client may send over a socket. */
export const socketPayloadBytes = 16 * 1024 * 1024;

const tooLarge = 1009;
const notUtf8 = 1007;

const reasons: Readonly<Record<number, string>> = {
  [tooLarge]: `Send at most ${socketPayloadBytes} bytes`,
  [notUtf8]: "Send text that is encoded in UTF-8",
};

/** Says what is wrong to a client whose frame cannot be taken; the library closes without a reason, and drops what still comes for at most 30 seconds. */
export class ServerSocket extends WebSocket {
  override close(code?: number, reason?: string | Buffer): void {
    super.close(code, reason ?? (code === undefined ? undefined : reasons[code]));
  }
}
