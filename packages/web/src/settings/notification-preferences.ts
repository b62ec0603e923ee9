import { asRecord } from "@convoke/client/view";
import type { BrowserStorage } from "../lib/browser-storage.ts";

export const notificationKinds = ["asks", "done", "failed"] as const;

/** Which notifications this browser shows. */
export type NotificationPreferences = Readonly<Record<(typeof notificationKinds)[number], boolean>>;

const key = "notify";

/** All off by default. */
export function readNotificationPreferences(storage: BrowserStorage): NotificationPreferences {
  const stored = asRecord(storage.read(key));
  return {
    asks: stored?.["asks"] === true,
    done: stored?.["done"] === true,
    failed: stored?.["failed"] === true,
  };
}

export function writeNotificationPreferences(
  storage: BrowserStorage,
  preferences: NotificationPreferences,
): void {
  storage.write(key, preferences);
}
