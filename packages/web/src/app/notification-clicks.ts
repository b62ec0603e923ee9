import { navigate } from "wouter/use-browser-location";
import { asRecord, textAt } from "@convoke/client/view";

/**
 * Opens the conversation of a clicked push notification; see `public/push-worker.js`. Call it before the document is
 * parsed: browsers deliver queued messages to the listeners of that moment.
 */
export function followNotificationClicks(worker: EventTarget | undefined, prefix: string): void {
  worker?.addEventListener("message", (event) => {
    const id = textAt(asRecord((event as MessageEvent).data) ?? {}, "open");
    if (id !== "") navigate(`${prefix}/c/${encodeURIComponent(id)}`);
  });
}
