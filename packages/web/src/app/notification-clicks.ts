import { navigate } from "wouter/use-browser-location";
import { asRecord, textAt } from "../lib/unknown-record.ts";

/**
 * Goes where a notification was clicked that came while no tab was looked at; `public/push-worker.js` says so. Has to be called before
 * the document is read to its end: what browsers keep for a page that loads they hand out then, to whoever listens.
 */
export function followNotificationClicks(worker: EventTarget | undefined, prefix: string): void {
  worker?.addEventListener("message", (event) => {
    const id = textAt(asRecord((event as MessageEvent).data) ?? {}, "open");
    if (id !== "") navigate(`${prefix}/c/${encodeURIComponent(id)}`);
  });
}
