import { Suspense, useState } from "react";
import { useLocation, useSearch } from "wouter";
import { besideIn, conversationIn, idOf } from "../lib/beside.ts";
import { useServices } from "../services/services.ts";
import { readNotificationPreferences } from "../settings/notification-preferences.ts";
import { lazyPart } from "../lib/lazy-part.ts";
import { useWords } from "../words/words.ts";
import { useNotifications } from "./use-notifications.ts";

const PushRefresh = lazyPart(() => import("../settings/push-refresh.tsx"));

/**
 * Shows system notifications if enabled: approvals, ends and failures of runs. Nothing that is visible on the
 * screen; a newer one of a conversation replaces the older one.
 */
export default function Notifier() {
  const words = useWords();
  const { storage } = useServices();
  const [location, navigate] = useLocation();
  const search = useSearch();
  useNotifications(({ kind, conversationId, title, what }) => {
    if (
      !readNotificationPreferences(storage)[kind] ||
      !("Notification" in window) ||
      Notification.permission !== "granted"
    )
      return;
    const isSeen = document.visibilityState === "visible" && document.hasFocus();
    const shown = [conversationIn(location), ...besideIn(search, null).map(idOf)];
    const isShown = shown.includes(conversationId) || (kind === "asks" && location === "/inbox");
    if (isSeen && isShown) return;
    const body = {
      asks: words.announce.asks(what),
      done: words.status.finished,
      failed: words.status.error,
    }[kind];
    try {
      const notification = new Notification(title ?? words.rail.untitled, { body, tag: conversationId });
      notification.addEventListener("click", () => {
        window.focus();
        navigate(`/c/${conversationId}`);
        notification.close();
      });
    } catch (error) {
      // Some mobile browsers allow them only in service workers. The list and the tab title show the same.
      console.warn("A notification could not be shown.", error);
    }
  });
  const [isSubscribed] = useState(() => storage.read("push") !== undefined);
  return isSubscribed ? (
    <Suspense>
      <PushRefresh />
    </Suspense>
  ) : null;
}
