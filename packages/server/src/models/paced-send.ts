import { LoopPace } from "../lib/loop-pace.ts";
import type { Send } from "./provider-fetch.ts";

/** Where many answers come at once, they are read over several turns of the event loop. */
export function pacedSend(send: Send): Send {
  const pace = new LoopPace();
  return async (input, init) => {
    const response = await send(input, init);
    await pace.pass();
    return response;
  };
}
