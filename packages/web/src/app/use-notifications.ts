import { useEffect, useRef } from "react";
import { useStore } from "../lib/store.ts";
import {
  toNotificationBaseline,
  findNotifications,
  type NotificationBaseline,
  type ConversationNotification,
} from "../overview/notifications.ts";
import { useServices } from "../services/services.ts";

/** Calls back for each new notification of any conversation while mounted. */
export function useNotifications(onNotification: (notifications: ConversationNotification) => void): void {
  const { overview, approvals } = useServices();
  const { summaries } = useStore(overview);
  const waiting = useStore(approvals);
  const baseline = useRef<NotificationBaseline | null>(null);
  const notify = useRef(onNotification);
  useEffect(() => {
    notify.current = onNotification;
  }, [onNotification]);
  useEffect(() => {
    const news = findNotifications(baseline.current, summaries, waiting);
    baseline.current = toNotificationBaseline(summaries, waiting);
    for (const item of news) notify.current(item);
  }, [summaries, waiting]);
}
